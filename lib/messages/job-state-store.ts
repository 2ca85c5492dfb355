import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../aws/conditional-write.ts';
import { batchGet, type Item } from '../aws/dynamodb-batch.ts';
import { type Pause, storePause } from '../aws/pause.ts';
import { omitUndefined } from '../keys/omit-undefined.ts';
import {
  isParkedSo,
  jobExpiresAtSeconds,
  jobKey,
  jobOfPartition,
  mayEndPause,
  mayGoOn,
  mayPark,
  mayStop,
} from './items.ts';
import { type JobParked, type JobState, JobStateSchema, type JobStates, type JobStop } from './job-state.ts';

export function jobStateStore(client: DynamoDBDocumentClient, table: string, pause: Pause = storePause): JobStates {
  const change = async (
    jobId: string,
    ...[UpdateExpression, ConditionExpression, ExpressionAttributeValues, ExpressionAttributeNames]: Change
  ) => {
    const how = {
      UpdateExpression,
      ConditionExpression,
      ...omitUndefined({ ExpressionAttributeValues, ExpressionAttributeNames }),
    };
    const update = { TableName: table, Key: jobKey(jobId), ...how };
    const command = new UpdateCommand({ ...update, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' });
    return await conditionalWrite(client.send(command));
  };
  const names = { '#stop': 'stop' };
  return {
    of: async (jobIds) => {
      const keys = [...new Set(jobIds)].map(jobKey);
      const items = await batchGet({ documentClient: client, tableName: table, pause }, keys, { consistent: true });
      return new Map(items.map((item) => [jobOfPartition(item['pk']), jobStateOf(item)]));
    },

    stop: async (job, stop) => {
      const write = await change(
        job.jobId,
        // Before the fan-out begins there is no item yet, and TTL must find one.
        'SET #stop = :stop, expiresAtSeconds = if_not_exists(expiresAtSeconds, :expiry) REMOVE parked, pausedFromMs',
        mayStop,
        { ':stop': stop, ':expiry': jobExpiresAtSeconds(job) },
        names,
      );
      return write.written || isSameStop(stop, stateIn(write.existing).stop);
    },

    park: async (jobId, parked) => {
      const write = await change(
        jobId,
        'SET parked = :parked, pausedFromMs = if_not_exists(pausedFromMs, :sinceMs)',
        mayPark,
        { ':parked': parked, ':sinceMs': parked.sinceMs },
        names,
      );
      return write.written || isSameParking(parked, stateIn(write.existing).parked);
    },

    goOn: async (jobId, sinceMs) => {
      await change(jobId, 'SET parked.goesOn = :true', mayGoOn, { ':sinceMs': sinceMs, ':true': true });
    },

    resume: async (jobId, { sinceMs, goesOn }) => {
      const update = goesOn ? 'REMOVE parked, pausedFromMs' : 'REMOVE parked';
      return (await change(jobId, update, isParkedSo, { ':sinceMs': sinceMs })).written;
    },

    endPause: async (jobId) => {
      const write = await change(jobId, 'REMOVE pausedFromMs', mayEndPause);
      return write.written || stateIn(write.existing).parked === undefined;
    },
  };
}

type Change = readonly [
  update: string,
  condition: string,
  values?: Record<string, unknown>,
  names?: Record<string, string>,
];

function stateIn(existing: unknown): JobState {
  return v.parse(JobStateSchema, existing ?? {});
}

export function jobStateOf(item: Item): JobState {
  const begun = item['head'] === undefined ? {} : { begun: true as const };
  return { ...v.parse(JobStateSchema, item), ...begun };
}

/** The SDK may repeat a write whose reply was lost, and then finds its own stop. */
function isSameStop(stop: JobStop, existing: JobStop | undefined): boolean {
  return existing !== undefined && existing.atMs === stop.atMs && existing.code === stop.code;
}

function isSameParking(parked: JobParked, existing: JobParked | undefined): boolean {
  return existing?.sinceMs === parked.sinceMs;
}

import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../aws/conditional-write.ts';
import { batchGet, type Item } from '../aws/dynamodb-batch.ts';
import { type Pause, storePause } from '../aws/pause.ts';
import { jobKey, jobMemorySeconds, jobOfPartition, mayEndPause, mayPark, mayResume, mayStop } from './items.ts';
import { type JobParked, type JobState, JobStateSchema, type JobStates, type JobStop } from './job-state.ts';

/** The states of jobs in their items of the messages table; items.ts says who may write which. */
export function jobStateStore(client: DynamoDBDocumentClient, table: string, pause: Pause = storePause): JobStates {
  const names = { '#stop': 'stop' };
  return {
    of: async (jobIds) => {
      const keys = [...new Set(jobIds)].map(jobKey);
      const items = await batchGet({ documentClient: client, tableName: table, pause }, keys, { consistent: true });
      return new Map(items.map((item) => [jobOfPartition(item['pk']), jobStateOf(item)]));
    },

    stop: async ({ jobId, acceptedAtMs }, stop) => {
      const write = await conditionalWrite(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: jobKey(jobId),
            // Where the fan-out has not begun there is no item yet, and TTL must find one.
            UpdateExpression:
              'SET #stop = :stop, expiresAtSeconds = if_not_exists(expiresAtSeconds, :expiry) REMOVE parked, pausedFromMs',
            ConditionExpression: mayStop,
            ExpressionAttributeNames: names,
            ExpressionAttributeValues: {
              ':stop': stop,
              ':expiry': Math.ceil(acceptedAtMs / 1_000) + jobMemorySeconds,
            },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        ),
      );
      return write.written || isSameStop(stop, v.parse(JobStateSchema, write.existing ?? {}).stop);
    },

    park: async (jobId, parked) => {
      const write = await conditionalWrite(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: jobKey(jobId),
            UpdateExpression: 'SET parked = :parked, pausedFromMs = if_not_exists(pausedFromMs, :sinceMs)',
            ConditionExpression: mayPark,
            ExpressionAttributeNames: names,
            ExpressionAttributeValues: { ':parked': parked, ':sinceMs': parked.sinceMs },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        ),
      );
      return write.written || isSameParking(parked, v.parse(JobStateSchema, write.existing ?? {}).parked);
    },

    resume: async (jobId, sinceMs) => {
      const { written } = await conditionalWrite(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: jobKey(jobId),
            UpdateExpression: 'REMOVE parked',
            ConditionExpression: mayResume,
            ExpressionAttributeValues: { ':sinceMs': sinceMs },
          }),
        ),
      );
      return written;
    },

    endPause: async (jobId) => {
      await conditionalWrite(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: jobKey(jobId),
            UpdateExpression: 'REMOVE pausedFromMs',
            ConditionExpression: mayEndPause,
          }),
        ),
      );
    },
  };
}

/** What the item of a job says of it. */
export function jobStateOf(item: Item): JobState {
  const begun = item['head'] === undefined ? {} : { begun: true as const };
  return { ...v.parse(JobStateSchema, item), ...begun };
}

/** The SDK repeats a write whose reply was lost, and then meets its own. */
function isSameStop(stop: JobStop, existing: JobStop | undefined): boolean {
  return existing !== undefined && existing.atMs === stop.atMs && existing.code === stop.code;
}

function isSameParking(parked: JobParked, existing: JobParked | undefined): boolean {
  return existing?.sinceMs === parked.sinceMs;
}

import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../aws/conditional-write.ts';
import { batchGet, type Item } from '../aws/dynamodb-batch.ts';
import { type Pause, storePause } from '../aws/pause.ts';
import {
  type DispatchItemState,
  DispatchItemStateSchema,
  type DispatchItemStates,
  type DispatchParked,
  type DispatchStop,
} from './dispatch-item-state.ts';
import {
  dispatchExpiresAtSeconds,
  dispatchKey,
  dispatchOfPartition,
  isParkedSo,
  mayEndPause,
  mayGoOn,
  mayPark,
  mayStop,
} from './items.ts';

export function dispatchStateStore(
  client: DynamoDBDocumentClient,
  table: string,
  pause: Pause = storePause,
): DispatchItemStates {
  const change = async (
    dispatchId: string,
    ...[UpdateExpression, ConditionExpression, ExpressionAttributeValues, ExpressionAttributeNames]: Change
  ) => {
    const how = {
      UpdateExpression,
      ConditionExpression,
      ExpressionAttributeValues,
      ExpressionAttributeNames,
    };
    const update = { TableName: table, Key: dispatchKey(dispatchId), ...how };
    const command = new UpdateCommand({ ...update, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' });
    return await conditionalWrite(client.send(command));
  };
  const names = { '#stop': 'stop' };
  return {
    of: async (dispatchIds) => {
      const keys = [...new Set(dispatchIds)].map(dispatchKey);
      const items = await batchGet({ documentClient: client, tableName: table, pause }, keys, { consistent: true });
      return new Map(items.map((item) => [dispatchOfPartition(item['pk']), itemStateOf(item)]));
    },

    stop: async (dispatch, stop) => {
      const write = await change(
        dispatch.dispatchId,
        // Before the fan-out begins there is no item yet, and TTL must find one.
        'SET #stop = :stop, expiresAtSeconds = if_not_exists(expiresAtSeconds, :expiry) REMOVE parked, pausedFromMs',
        mayStop,
        { ':stop': stop, ':expiry': dispatchExpiresAtSeconds(dispatch) },
        names,
      );
      return write.written || isSameStop(stop, stateIn(write.existing).stop);
    },

    park: async (dispatchId, parked) => {
      const write = await change(
        dispatchId,
        'SET parked = :parked, pausedFromMs = if_not_exists(pausedFromMs, :sinceMs)',
        mayPark,
        { ':parked': parked, ':sinceMs': parked.sinceMs },
        names,
      );
      return write.written || isSameParking(parked, stateIn(write.existing).parked);
    },

    goOn: async (dispatchId, sinceMs) => {
      await change(dispatchId, 'SET parked.goesOn = :true', mayGoOn, { ':sinceMs': sinceMs, ':true': true });
    },

    resume: async (dispatchId, { sinceMs, goesOn }) => {
      const update = goesOn ? 'REMOVE parked, pausedFromMs' : 'REMOVE parked';
      return (await change(dispatchId, update, isParkedSo, { ':sinceMs': sinceMs })).written;
    },

    endPause: async (dispatchId) => {
      const write = await change(dispatchId, 'REMOVE pausedFromMs', mayEndPause);
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

function stateIn(existing: unknown): DispatchItemState {
  return v.parse(DispatchItemStateSchema, existing ?? {});
}

export function itemStateOf(item: Item): DispatchItemState {
  const begun = item['head'] === undefined ? {} : { begun: true as const };
  return { ...v.parse(DispatchItemStateSchema, item), ...begun };
}

/** The SDK may repeat a write whose reply was lost, and then finds its own stop. */
function isSameStop(stop: DispatchStop, existing: DispatchStop | undefined): boolean {
  return existing !== undefined && existing.atMs === stop.atMs && existing.code === stop.code;
}

function isSameParking(parked: DispatchParked, existing: DispatchParked | undefined): boolean {
  return existing?.sinceMs === parked.sinceMs;
}

import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { batchGet, type TableAccess } from '../../aws/dynamodb-batch.ts';
import type { Table } from '../../aws/table.ts';
import { countKey, dispatchExpiresAtSeconds, dispatchOfPartition, spentKey } from '../dispatch/items.ts';
import type { CountReceiptsPorts } from './count-receipts.ts';
import type { CountMarks } from './later-counts.ts';
import { statementOf } from './statement.ts';

const MarkSchema = v.object({ dueMs: v.number() });

export function countMarksStore(table: Pick<Table, 'client' | 'name'>): CountMarks {
  const { client, name: TableName } = table;
  return {
    dueMs: async (dispatchId) => {
      const { Item } = await client.send(
        new GetCommand({ TableName, Key: countKey(dispatchId), ConsistentRead: true }),
      );
      return Item === undefined ? undefined : v.parse(MarkSchema, Item).dueMs;
    },

    mark: async (dispatch, dueMs) => {
      const Item = { ...countKey(dispatch.dispatchId), dueMs, expiresAtSeconds: dispatchExpiresAtSeconds(dispatch) };
      await client.send(new PutCommand({ TableName, Item }));
    },
  };
}

/** Reads statements of dispatches, a hundred per request. */
export function statedCosts(messages: TableAccess): CountReceiptsPorts['stated'] {
  return async (dispatchIds) => {
    const items = await batchGet(messages, dispatchIds.map(spentKey), { consistent: true });
    return new Map(items.map((item) => [dispatchOfPartition(item['pk']), statementOf(item)]));
  };
}

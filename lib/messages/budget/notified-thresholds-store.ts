import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Table } from '../../aws/table.ts';
import { moneyKeptUntilSeconds, notifiedThresholdsKey } from '../dispatch/items.ts';
import { monthOf } from './budgets.ts';
import type { NotifiedThresholds } from './notify-thresholds.ts';

const NotifiedSchema = v.object({ percents: v.optional(v.instance(Set<unknown>)) });

export function notifiedThresholdsStore(table: Pick<Table, 'client' | 'name'>): NotifiedThresholds {
  const { client } = table;
  return {
    of: async (clientId, atMs) => {
      const key = notifiedThresholdsKey(clientId, monthOf(atMs));
      const { Item } = await client.send(new GetCommand({ TableName: table.name, Key: key, ConsistentRead: true }));
      const { percents = new Set() } = v.parse(NotifiedSchema, Item ?? {});
      return new Set([...percents].map(Number));
    },

    note: async (clientId, atMs, percents) => {
      await client.send(
        new UpdateCommand({
          TableName: table.name,
          Key: notifiedThresholdsKey(clientId, monthOf(atMs)),
          UpdateExpression: 'SET expiresAtSeconds = :expiresAtSeconds ADD percents :percents',
          ExpressionAttributeValues: {
            ':percents': new Set<number>(percents),
            ':expiresAtSeconds': moneyKeptUntilSeconds(atMs),
          },
        }),
      );
    },
  };
}

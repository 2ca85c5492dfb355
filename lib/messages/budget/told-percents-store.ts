import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { moneyKeptUntilSeconds, toldBudgetKey } from '../items.ts';
import { monthOf } from './budgets.ts';
import type { ToldPercents } from './tell-reached.ts';

const ToldSchema = v.object({ percents: v.exactOptional(v.instance(Set<unknown>)) });

export function toldPercentsStore(client: DynamoDBDocumentClient, table: string): ToldPercents {
  return {
    of: async (clientId, atMs) => {
      const key = toldBudgetKey(clientId, monthOf(atMs));
      const { Item } = await client.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }));
      const { percents = new Set() } = v.parse(ToldSchema, Item ?? {});
      return new Set([...percents].map(Number));
    },

    note: async (clientId, atMs, percents) => {
      await client.send(
        new UpdateCommand({
          TableName: table,
          Key: toldBudgetKey(clientId, monthOf(atMs)),
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

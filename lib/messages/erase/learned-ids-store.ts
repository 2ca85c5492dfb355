import { DeleteCommand, type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { NameOf } from '../../opt-outs/person-name.ts';
import { dispatchMemorySeconds, erasingKey } from '../dispatch/items.ts';
import type { LearnedIds } from './erase-ports.ts';

interface StoreOptions {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly nameOf: NameOf;
  readonly nowMs: () => number;
}

const ItemSchema = v.object({ ids: v.set(v.string()) });

/** Keeps learned ids under the keyed digest of a given id, until the erasure ends. */
export function learnedIdsStore({ client, table, nameOf, nowMs }: StoreOptions): LearnedIds {
  return {
    of: async (id) => {
      const Key = erasingKey(nameOf(id));
      const { Item: item } = await client.send(new GetCommand({ TableName: table, Key, ConsistentRead: true }));
      return item === undefined ? [] : [...v.parse(ItemSchema, item).ids];
    },

    note: async (id, learned) => {
      await client.send(
        new UpdateCommand({
          TableName: table,
          Key: erasingKey(nameOf(id)),
          UpdateExpression: 'SET expiresAtSeconds = :expiry ADD ids :ids',
          ExpressionAttributeValues: {
            ':ids': new Set(learned),
            ':expiry': Math.ceil(nowMs() / 1_000) + dispatchMemorySeconds,
          },
        }),
      );
    },

    forget: async (id) => {
      await client.send(new DeleteCommand({ TableName: table, Key: erasingKey(nameOf(id)) }));
    },
  };
}

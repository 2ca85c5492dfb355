import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { batchGet, type TableAccess } from '../aws/dynamodb-batch.ts';
import { listedKey, listedPartition, listedPrefix, nameOfPerson, personKey } from './opt-out-items.ts';
import type { ListedPerson, OptOutList } from './opt-out-list.ts';
import { personOf } from './opt-out-store.ts';

const ListedItemSchema = v.object({ sk: v.string(), recipient: v.string(), listedAtMs: v.number() });

/** Reads the lists of clients in the messages table. They have people's names, so no key is needed. */
export function optOutListStore(messages: TableAccess): OptOutList {
  const { client, name } = messages;
  return {
    page: async (clientId, { after, limit }) => {
      const { Items = [] } = await client.send(
        new QueryCommand({
          TableName: name,
          KeyConditionExpression: 'pk = :partition AND begins_with(sk, :prefix)',
          ExpressionAttributeValues: { ':partition': listedPartition(clientId), ':prefix': listedPrefix },
          ConsistentRead: true,
          // One more shows whether there is a next page.
          Limit: limit + 1,
          ExclusiveStartKey: after === undefined ? undefined : listedKey(clientId, after),
        }),
      );
      const listed = Items.slice(0, limit).map(listedPersonOf);
      return { listed, next: Items.length > limit ? listed.at(-1)?.name : undefined };
    },

    people: async (names) => {
      const items = await batchGet(messages, names.map(personKey), { consistent: true });
      return new Map(items.map((item) => [nameOfPerson(item['pk']), personOf(item)]));
    },

    listed: async (clientId, names) => {
      const keys = names.map((name) => listedKey(clientId, name));
      return (await batchGet(messages, keys, { consistent: true })).map(listedPersonOf);
    },
  };
}

function listedPersonOf(item: unknown): ListedPerson {
  const { sk, recipient, listedAtMs } = v.parse(ListedItemSchema, item);
  return { name: sk.slice(listedPrefix.length), recipient, listedAtMs };
}

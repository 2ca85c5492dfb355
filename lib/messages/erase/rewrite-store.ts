import { DeleteCommand, type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import type { Item } from '../../aws/dynamodb-batch.ts';
import type { Pause } from '../../aws/pause.ts';
import type { Change } from './anonymized-items.ts';

/** Each write is a compare-and-set on the attributes it replaces. A dry run gives the same answers without writing. */
export interface Rewriter {
  readonly writes: boolean;
  /**
   * Changes an item by a rule, which runs again after a conflict. Returns true when it changed. `seen` is the key and
   * the attributes read.
   */
  rewrite(table: string, seen: Item, rule: (item: Item) => Change | undefined): Promise<boolean>;
  /** Removes an item if this attribute is unchanged. */
  remove(table: string, seen: Item, attribute: string): Promise<boolean>;
  /** Removes pairs from a number's pace: their plain digests could reveal people. */
  forgetPairs(table: string, seen: Item, hashes: readonly string[]): Promise<boolean>;
}

/** Workers and runs of receipts write an item less often than this in a row. */
const mostTries = 8;

export function rewriter({
  client,
  writes,
  pause,
}: {
  readonly client: DynamoDBDocumentClient;
  readonly writes: boolean;
  readonly pause: Pause;
}): Rewriter {
  return {
    writes,

    rewrite: async (table, seen, rule) => {
      const Key = keyOf(seen);
      let item = seen;
      for (let tries = 1; tries <= mostTries; tries += 1) {
        const change = rule(item);
        if (change === undefined) return false;
        if (!writes) return true;
        if (await changed(table, item, change)) return true;
        await pause(tries);
        const read = await client.send(new GetCommand({ TableName: table, Key, ConsistentRead: true }));
        if (read.Item === undefined) return false;
        item = read.Item;
      }
      throw new Error('an item has too many writers');
    },

    remove: async (table, seen, attribute) => {
      if (!writes) return true;
      const removal = new DeleteCommand({
        TableName: table,
        Key: keyOf(seen),
        ConditionExpression: '#attribute = :seen',
        ExpressionAttributeNames: { '#attribute': attribute },
        ExpressionAttributeValues: { ':seen': seen[attribute] },
      });
      return (await conditionalWrite(client.send(removal))).written;
    },

    forgetPairs: async (table, seen, hashes) => {
      if (!writes) return true;
      const names = Object.fromEntries(hashes.map((hash, at) => [`#pair${at}`, hash]));
      const update = new UpdateCommand({
        TableName: table,
        Key: keyOf(seen),
        // Counts as a write, so that a concurrent writer's optimistic lock fails and it reads again.
        UpdateExpression: `REMOVE ${hashes.map((_, at) => `pairs.#pair${at}`).join(', ')} ADD version :one`,
        ConditionExpression: 'attribute_exists(pairs)',
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: { ':one': 1 },
      });
      return (await conditionalWrite(client.send(update))).written;
    },
  };

  async function changed(table: string, item: Item, change: Change): Promise<boolean> {
    const attributes = Object.entries(change);
    const update = new UpdateCommand({
      TableName: table,
      Key: keyOf(item),
      UpdateExpression: `SET ${attributes.map((_, at) => `#name${at} = :next${at}`).join(', ')}`,
      ConditionExpression: attributes.map((_, at) => `#name${at} = :seen${at}`).join(' AND '),
      ExpressionAttributeNames: Object.fromEntries(attributes.map(([name], at) => [`#name${at}`, name])),
      ExpressionAttributeValues: {
        ...Object.fromEntries(attributes.map(([, value], at) => [`:next${at}`, value])),
        ...Object.fromEntries(attributes.map(([name], at) => [`:seen${at}`, item[name]])),
      },
    });
    return (await conditionalWrite(client.send(update))).written;
  }
}

function keyOf({ pk, sk }: Item): Item {
  return { pk, sk };
}

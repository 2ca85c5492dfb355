import { PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { forEachConcurrently } from '../../aws/concurrently.ts';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { batchGet, type TableAccess } from '../../aws/dynamodb-batch.ts';
import { replacedIdKey, userIdOfReplaced } from '../dispatch/items.ts';
import type { FindReplacements, NoteReplacedIds, Replacement } from './replaced-ids.ts';

/** The memory covers recipient lists that are used once a year. */
export const replacedIdMemorySeconds = 400 * 86_400;

/** The ids of the largest dispatch take a hundred requests, ten side by side. */
const readsAtOnce = 1_000;

const writesAtOnce = 20;

const ReplacedItemSchema = v.object({ pk: v.string(), by: v.string(), atMs: v.number() });

/**
 * Reads replaced user ids of a WABA, a hundred per request. The reads are eventually consistent: an update of a moment
 * ago may be missed.
 */
export function replacedIdReader(messages: TableAccess): FindReplacements {
  return async (wabaId, userIds) => {
    const found = new Map<string, Replacement>();
    for (let first = 0; first < userIds.length; first += readsAtOnce) {
      const keys = userIds.slice(first, first + readsAtOnce).map((userId) => replacedIdKey(wabaId, userId));
      for (const item of await batchGet(messages, keys, { consistent: false })) {
        const { pk, by, atMs } = v.parse(ReplacedItemSchema, item);
        found.set(userIdOfReplaced(pk), { by, atMs });
      }
    }
    return found;
  };
}

/** Stores replaced ids of a WABA unless a later update of the same id exists. Is idempotent. */
export function replacedIdWriter({ client, name }: Pick<TableAccess, 'client' | 'name'>): NoteReplacedIds {
  return async (wabaId, replaced) => {
    await forEachConcurrently(replaced, writesAtOnce, async ({ userId, by, atMs }) => {
      const expiresAtSeconds = Math.ceil(atMs / 1_000) + replacedIdMemorySeconds;
      await conditionalWrite(
        client.send(
          new PutCommand({
            TableName: name,
            Item: { ...replacedIdKey(wabaId, userId), by, atMs, expiresAtSeconds },
            ConditionExpression: 'attribute_not_exists(pk) OR atMs < :atMs',
            ExpressionAttributeValues: { ':atMs': atMs },
          }),
        ),
      );
    });
  };
}

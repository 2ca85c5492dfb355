import { randomUUID } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { type Item, queryPartition } from '../../aws/dynamodb-batch.ts';
import type { Table } from '../../aws/table.ts';
import { type BacklogEntry, backlogEntryIn, backlogKey } from '../dispatch/backlog.ts';
import { backlogStore } from '../fan-out/dispatch-backlog-store.ts';
import type { SenderBacklog } from './sender-ports.ts';

/** A number's parts, a cancellation and a look at most write an entry side by side. */
const mostTries = 10;

const StampSchema = v.object({ writer: v.optional(v.string()) });

/**
 * Keeps the entries of a number in the messages table. The look moves what is due later into the backlog
 * (dispatch/backlog.ts); a change leaves an entry where it is, however late it is due.
 */
export function senderBacklogStore(
  table: Pick<Table, 'client' | 'name' | 'pause'>,
  { newWriter = randomUUID }: { readonly newWriter?: () => string } = {},
): SenderBacklog {
  return {
    of: async (phoneNumberId) => {
      // No other number's entry begins so, because the key of the whole number ends in a separator.
      const { pk, sk: prefix } = backlogKey({ phoneNumberId, dispatchId: '' });
      return (await queryPartition(table, pk, { prefix })).map(backlogEntryIn);
    },

    change: async (entry, rule) => {
      let seen: BacklogEntry = entry;
      for (let tries = 1; tries <= mostTries; tries += 1) {
        const changed = rule(seen);
        if (changed === seen) return seen;
        const next = { ...changed, version: (seen.version ?? 0) + 1 };
        const writer = newWriter();
        const met = await replace(seen, { ...backlogKey(entry), ...next, writer });
        // The SDK repeats a write whose reply was lost.
        if (met === 'written' || (met !== undefined && v.parse(StampSchema, met).writer === writer)) return next;
        if (met === undefined) return undefined;
        seen = backlogEntryIn(met);
        if (tries > 1) await table.pause(tries - 1);
      }
      throw new Error(`the entry of ${entry.dispatchId} changed under ${mostTries} tries`);
    },

    remove: backlogStore(table).remove,
  };

  /** Returns the item that refused the write; undefined stands for none. */
  async function replace({ version }: BacklogEntry, next: Item): Promise<'written' | Item | undefined> {
    const isAsSeen =
      version === undefined
        ? { ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(version)' }
        : { ConditionExpression: 'version = :seen', ExpressionAttributeValues: { ':seen': version } };
    const put = await conditionalWrite(
      table.client.send(
        new PutCommand({
          TableName: table.name,
          Item: next,
          ...isAsSeen,
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
    );
    return put.written ? 'written' : put.existing;
  }
}

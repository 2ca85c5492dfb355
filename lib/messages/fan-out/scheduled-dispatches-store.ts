import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { batchGet, type Item, queryPages } from '../../aws/dynamodb-batch.ts';
import type { Table } from '../../aws/table.ts';
import { dispatchItemIn, headIn } from '../dispatch/item.ts';
import {
  dispatchKey,
  dispatchOfPartition,
  scheduledKey,
  scheduledPartition,
  scheduledShards,
} from '../dispatch/items.ts';
import type { LostRoundsPorts, ScheduledDispatch, UnreadableDispatch } from './lost-rounds.ts';

const EntrySchema = v.object({ sk: v.string() });

const pageItems = 100;

/** Reads scheduled dispatches in the messages table, strongly consistently. */
export function scheduledDispatchesStore(
  table: Pick<Table, 'client' | 'name' | 'pause'>,
): LostRoundsPorts['scheduled'] {
  const { client } = table;
  const access = table;
  return {
    all: async function* () {
      for (let shard = 0; shard < scheduledShards; shard += 1) {
        const pages = queryPages(access, scheduledPartition(shard), { sort: undefined, consistent: true, pageItems });
        for await (const page of pages) {
          const keys = page.map((entry) => dispatchKey(v.parse(EntrySchema, entry).sk));
          const items = await batchGet(access, keys, { consistent: true });
          yield items.flatMap(readDispatch);
        }
      }
    },

    leave: async (dispatchId) => {
      await client.send(new DeleteCommand({ TableName: table.name, Key: scheduledKey(dispatchId) }));
    },
  };
}

/** Empty for a dispatch that has not begun. Never throws: an unreadable item must not keep the look from others. */
function readDispatch(item: Item): (ScheduledDispatch | UnreadableDispatch)[] {
  try {
    const dispatch = dispatchItemIn(item);
    const head = headIn(dispatch);
    return head === undefined ? [] : [{ head, round: dispatch.round }];
  } catch (error) {
    return [{ dispatchId: dispatchOfPartition(item['pk']), error }];
  }
}

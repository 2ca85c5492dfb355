import { batchGet, queryPages } from '../../aws/dynamodb-batch.ts';
import type { Table } from '../../aws/table.ts';
import { type BacklogEntry, backlogEntryIn, backlogKey } from '../dispatch/backlog.ts';
import { dispatchItemIn } from '../dispatch/item.ts';
import { dispatchKey, dispatchOfPartition } from '../dispatch/items.ts';
import { type WaitingDispatches, waitingOf } from './waiting-dispatches.ts';

/** Further entries of a number are not seen: they are later ones, and an estimate of hours has said enough. */
const mostEntries = 1_000;
/** One batch reads the items of so many dispatches. */
const mostRead = 100;

/** Reads the first of a number's backlog in two requests, eventually consistent. */
export function waitingDispatchesStore(table: Pick<Table, 'client' | 'name' | 'pause'>): WaitingDispatches {
  return {
    of: async (phoneNumberId) => {
      // What is parked has no turns, so hundreds of them do not hide what has.
      const entries = (await firstEntries(phoneNumberId)).filter(({ parked }) => parked === undefined);
      const some = entries.slice(0, mostRead);
      const keys = some.map(({ dispatchId }) => dispatchKey(dispatchId));
      const items = await batchGet(table, keys, { consistent: false });
      const found = new Map(items.map((item) => [dispatchOfPartition(item['pk']), item]));
      const read = some.map((entry) => ({ entry, item: dispatchItemIn(found.get(entry.dispatchId) ?? {}) }));
      return waitingOf(read, entries.slice(mostRead));
    },
  };

  async function firstEntries(phoneNumberId: string): Promise<readonly BacklogEntry[]> {
    const { pk, sk: prefix } = backlogKey({ phoneNumberId, dispatchId: '' });
    const read = { sort: { prefix }, consistent: false, pageItems: mostEntries };
    for await (const page of queryPages(table, pk, read)) return page.map(backlogEntryIn);
    return [];
  }
}

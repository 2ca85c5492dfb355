import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { forEachConcurrently } from '../../aws/concurrently.ts';
import { batchGet, batchPut, queryPages } from '../../aws/dynamodb-batch.ts';
import type { ItemKey } from '../../aws/item-key.ts';
import type { Table } from '../../aws/table.ts';
import {
  type BacklogEntry,
  backlogEntryIn,
  backlogKey,
  backlogPartition,
  backlogShards,
  firstLaterHourKey,
  hourOf,
  laterKey,
  laterPartition,
  laterSortKey,
  laterThanMs,
} from '../dispatch/backlog.ts';
import { dispatchKey, dispatchOfPartition } from '../dispatch/items.ts';
import type { LookPorts } from './backlog-look.ts';

const pageItems = 100;
const deletesAtOnce = 10;

/** A new table has no first hour: no entry is older than a day then. */
const hoursOfNewTable = 24;

const FirstHourSchema = v.object({ hour: v.number() });

/** Reads the backlog in the messages table, strongly consistently, and moves there what is due within 15 minutes. */
export function backlogStore(table: Pick<Table, 'client' | 'name' | 'pause'>): LookPorts['backlog'] {
  const { client, name: TableName } = table;

  const remove = async (Key: ItemKey) => {
    await client.send(new DeleteCommand({ TableName, Key }));
  };

  return {
    due: async function* (atMs) {
      await moveLater(atMs);
      for (let shard = 0; shard < backlogShards; shard += 1) {
        const read = { sort: undefined, consistent: true, pageItems };
        for await (const page of queryPages(table, backlogPartition(shard), read)) {
          yield await looks(page.map(backlogEntryIn).filter(({ notBeforeMs }) => notBeforeMs <= atMs));
        }
      }
    },

    remove: (entry) => remove(backlogKey(entry)),
  };

  /** An entry is in both places for a moment, never in none. */
  async function moveLater(atMs: number): Promise<void> {
    const { Item: known } = await client.send(
      new GetCommand({ TableName, Key: firstLaterHourKey, ConsistentRead: true }),
    );
    const first = known === undefined ? hourOf(atMs) - hoursOfNewTable : v.parse(FirstHourSchema, known).hour;
    const untilMs = atMs + laterThanMs;
    for (let hour = first; hour <= hourOf(untilMs); hour += 1) {
      for (let shard = 0; shard < backlogShards; shard += 1) {
        const sort = { from: laterSortKey(0), to: laterSortKey(untilMs) };
        for await (const page of queryPages(table, laterPartition(hour, shard), {
          sort,
          consistent: true,
          pageItems,
        })) {
          const entries = page.map(backlogEntryIn);
          await batchPut(
            table,
            entries.map((entry) => ({ ...backlogKey(entry), ...entry })),
          );
          await forEachConcurrently(entries, deletesAtOnce, (entry) => remove(laterKey(entry)));
        }
      }
    }
    // Acceptance writes into an hour until a quarter of an hour before its end: the hour before the last is over.
    const next = hourOf(atMs) - 1;
    if (next > first) await client.send(new PutCommand({ TableName, Item: { ...firstLaterHourKey, hour: next } }));
  }

  async function looks(entries: readonly BacklogEntry[]) {
    const keys = entries.map(({ dispatchId }) => dispatchKey(dispatchId));
    const items = await batchGet(table, keys, { consistent: true });
    const byDispatch = new Map(items.map((item) => [dispatchOfPartition(item['pk']), item]));
    return entries.map((entry) => ({ entry, item: byDispatch.get(entry.dispatchId) }));
  }
}

import { randomUUID } from 'node:crypto';
import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { forEachConcurrently } from '../../aws/concurrently.ts';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { batchGet, type Item, queryPages, queryPartition } from '../../aws/dynamodb-batch.ts';
import type { ItemKey } from '../../aws/item-key.ts';
import { OutOfReach } from '../../aws/out-of-reach.ts';
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
  laterKeyOf,
  laterPartition,
  laterSortKey,
  laterThanMs,
} from '../dispatch/backlog.ts';
import { dispatchKey, dispatchOfPartition } from '../dispatch/items.ts';
import { dueMsOfEntry } from './entry-progress.ts';
import type { SenderBacklog } from './sender-ports.ts';
import type { NewsBacklog } from './stop-news.ts';
import type { SweepPorts } from './sweep.ts';

/** A number's parts, a cancellation and a sweep at most write an entry side by side. */
const mostTries = 10;

const pageItems = 100;
const writesAtOnce = 10;

/** A new table has no first hour: no entry is older than a day then. */
const hoursOfNewTable = 24;

const StampSchema = v.object({ writer: v.optional(v.string()) });
const FirstHourSchema = v.object({ hour: v.number() });

/**
 * Keeps the backlog in the messages table, strongly consistent. Sweeps and cancellations move what is due later into it
 * (dispatch/backlog.ts). A change leaves an entry where it is, however late it is due.
 */
export function backlogStore(
  table: Pick<Table, 'client' | 'name' | 'pause'>,
  { newWriter = randomUUID }: { readonly newWriter?: () => string } = {},
): SenderBacklog & NewsBacklog & SweepPorts['backlog'] {
  const { client, name: TableName } = table;

  const change: SenderBacklog['change'] = async (entry, rule) => {
    let seen: BacklogEntry = entry;
    for (let tries = 1; tries <= mostTries; tries += 1) {
      const changed = rule(seen);
      if (changed === seen) return seen;
      const next = { ...changed, version: (seen.version ?? 0) + 1 };
      const writer = newWriter();
      const met = await replace(seen, { ...next, ...backlogKey(entry), writer });
      // The SDK repeats a write whose reply was lost.
      if (met === 'written' || (met !== undefined && v.parse(StampSchema, met).writer === writer)) return next;
      if (met === undefined) return undefined;
      seen = backlogEntryIn(met);
      if (tries > 1) await table.pause(tries - 1);
    }
    throw new OutOfReach(`the entry of ${entry.dispatchId} changed under ${mostTries} tries`);
  };

  return {
    of: async (phoneNumberId) => {
      // No other number's entry begins so, because the key of the whole number ends in a separator.
      const { pk, sk: prefix } = backlogKey({ phoneNumberId, dispatchId: '' });
      // A sweep tells those of another form: they stop no other dispatch of the number.
      return (await queryPartition(table, pk, { prefix })).flatMap((item) => entryIn(item) ?? []);
    },

    change,
    remove: (entry) => remove(backlogKey(entry)),

    bring: async (dispatch, rule) => {
      const laterPlace = laterKeyOf(dispatch);
      const later = laterPlace && (await find(laterPlace));
      if (later !== undefined) await move(later);
      const entry = await find(backlogKey(dispatch));
      return entry && (await change(entry, rule));
    },

    due: async function* (atMs) {
      yield { entries: [], unreadable: await moveLater(atMs) };
      for (let shard = 0; shard < backlogShards; shard += 1) {
        const stored = await queryPartition(table, backlogPartition(shard));
        const read = stored.map((item) => ({ sk: String(item['sk']), entry: entryIn(item) }));
        const unreadable = read.flatMap(({ sk, entry }) => (entry === undefined ? [sk] : []));
        const entries = read.flatMap(({ entry }) => entry ?? []).filter((entry) => dueMsOfEntry(entry) <= atMs);
        yield { entries: await withItems(entries), unreadable };
      }
    },
  };

  async function find(Key: ItemKey): Promise<BacklogEntry | undefined> {
    const { Item: item } = await client.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
    return item === undefined ? undefined : backlogEntryIn(item);
  }

  async function remove(Key: ItemKey): Promise<void> {
    await client.send(new DeleteCommand({ TableName, Key }));
  }

  /**
   * Moves an entry from later: it is in both places for a moment, never in none. A repeated move finds what a sender has
   * written meanwhile, and leaves it.
   */
  async function move(entry: BacklogEntry): Promise<void> {
    const Item = { ...entry, ...backlogKey(entry) };
    await conditionalWrite(
      client.send(new PutCommand({ TableName, Item, ConditionExpression: 'attribute_not_exists(pk)' })),
    );
    await remove(laterKey(entry));
  }

  /** Returns the sort keys of what is of another form, which stays where it is. */
  async function moveLater(atMs: number): Promise<readonly string[]> {
    const unreadable: string[] = [];
    const { Item: known } = await client.send(
      new GetCommand({ TableName, Key: firstLaterHourKey, ConsistentRead: true }),
    );
    const first = known === undefined ? hourOf(atMs) - hoursOfNewTable : v.parse(FirstHourSchema, known).hour;
    const untilMs = atMs + laterThanMs;
    const sort = { from: laterSortKey(0), to: laterSortKey(untilMs) };
    for (let hour = first; hour <= hourOf(untilMs); hour += 1) {
      for (let shard = 0; shard < backlogShards; shard += 1) {
        const pages = queryPages(table, laterPartition(hour, shard), { sort, consistent: true, pageItems });
        for await (const page of pages) {
          const read = page.map((item) => ({ sk: String(item['sk']), entry: entryIn(item) }));
          unreadable.push(...read.flatMap(({ sk, entry }) => (entry === undefined ? [sk] : [])));
          await forEachConcurrently(
            read.flatMap(({ entry }) => entry ?? []),
            writesAtOnce,
            move,
          );
        }
      }
    }
    // Acceptance writes into an hour until a quarter of an hour before its end: the hour before the last is over.
    const next = hourOf(atMs) - 1;
    if (next > first) await client.send(new PutCommand({ TableName, Item: { ...firstLaterHourKey, hour: next } }));
    return unreadable;
  }

  async function withItems(entries: readonly BacklogEntry[]) {
    const keys = entries.map(({ dispatchId }) => dispatchKey(dispatchId));
    const items = await batchGet(table, keys, { consistent: true });
    const byDispatch = new Map(items.map((item) => [dispatchOfPartition(item['pk']), item]));
    return entries.map((entry) => ({ entry, item: byDispatch.get(entry.dispatchId) }));
  }

  /** Returns the item that refused the write; undefined stands for none. */
  async function replace({ version }: BacklogEntry, next: Item): Promise<'written' | Item | undefined> {
    const isAsSeen =
      version === undefined
        ? { ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(version)' }
        : { ConditionExpression: 'version = :seen', ExpressionAttributeValues: { ':seen': version } };
    const put = await conditionalWrite(
      client.send(
        new PutCommand({ TableName, Item: next, ...isAsSeen, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }),
      ),
    );
    return put.written ? 'written' : put.existing;
  }
}

/** Returns undefined for an item of another form. */
function entryIn(stored: Item): BacklogEntry | undefined {
  try {
    return backlogEntryIn(stored);
  } catch {
    return undefined;
  }
}

import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { type BacklogEntry, backlogKey, laterThanMs, newEntry } from '../../../../lib/messages/dispatch/backlog.ts';
import type { DispatchHead } from '../../../../lib/messages/dispatch/head.ts';
import { backlogStore } from '../../../../lib/messages/sender/backlog-store.ts';
import { partMoved, withNews } from '../../../../lib/messages/sender/entry-progress.ts';
import type { SenderBacklog } from '../../../../lib/messages/sender/sender-ports.ts';
import type { NewsBacklog } from '../../../../lib/messages/sender/stop-news.ts';
import { type Fault, injectFaults } from '../../../support/faults.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';
import { MemoryBacklog } from '../../../support/messages-table/memory-backlog.ts';
import type { Caller } from '../../../support/messages-table/memory-table.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

/** What a sender reads and writes of its number's backlog: the store and the model of the worlds alike (R14). */

const nowMs = 1_800_000_000_000;
const laterMs = nowMs + laterThanMs + 1;
const number = '300000000000001';

interface World {
  enter(head: Partial<DispatchHead>): Promise<void>;
  /** The look moves what is due within a quarter of an hour of then. */
  look(atMs: number): Promise<void>;
  /** Returns a run whose n-th attempts fail or lose their replies, as the plan says. */
  run(faults?: Readonly<Record<number, Fault['kind'] & ('fail_before' | 'lose_reply')>>): SenderBacklog & NewsBacklog;
}

let table: string;
beforeAll(async () => {
  table = await freshTable('messages');
});

async function storedWorld(): Promise<World> {
  table = await freshTable('messages');
  const client = localDocumentClient();
  return {
    enter: async (head) => {
      await client.send(new PutCommand({ TableName: table, Item: newEntry(makeDispatchHead(head)) }));
    },
    look: async (atMs) => {
      for await (const _ of backlogStore(tableOf(client, table)).due(atMs));
    },
    run: (faults = {}) => {
      const own = localDocumentClient();
      injectFaults(own, ({ number: at }) => (faults[at] === undefined ? undefined : { kind: faults[at] }));
      return backlogStore(tableOf(own, table, { pause: async () => undefined }));
    },
  };
}

async function modelledWorld(): Promise<World> {
  const backlog = new MemoryBacklog();
  return {
    enter: async (head) => backlog.enter(makeDispatchHead(head)),
    look: async (atMs) => backlog.moveLater(atMs + laterThanMs),
    run: (faults = {}) => {
      let attempts = 0;
      const call: Caller['call'] = async (_, effect) => {
        for (;;) {
          attempts += 1;
          const fault = faults[attempts];
          // The SDK repeats each of them.
          if (fault === 'fail_before') continue;
          const reply = await effect();
          if (fault !== 'lose_reply') return reply;
        }
      };
      return { ...backlog.ofSender({ call }), ...backlog.ofNews({ call }) };
    },
  };
}

const later = { dispatchId: 'LATER', acceptedAtMs: nowMs, when: { asked: {}, fromMs: laterMs } };
const alone = { part: 0, of: 1 };
const movedTo = (floor: number, part = alone) =>
  partMoved({ part, progress: { floor, dueMs: nowMs + floor }, seenNewsMs: undefined });

async function entryOf(world: World, dispatchId: string): Promise<BacklogEntry> {
  const found = (await world.run().of(number)).find((each) => each.dispatchId === dispatchId);
  if (found === undefined) throw new Error(`${dispatchId} is not in the backlog`);
  return found;
}
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const idsOf = (entries: readonly BacklogEntry[]) => entries.map(({ dispatchId }) => dispatchId).toSorted();

describe.each([
  { name: 'in the table', open: storedWorld },
  { name: 'in the model', open: modelledWorld },
])('$name', ({ open }) => {
  test('a number sees its own entries, as acceptance wrote them', async () => {
    const world = await open();
    const run = world.run();
    expect(await run.of(number)).toEqual([]);
    await world.enter({ dispatchId: 'J1', acceptedAtMs: nowMs, correlationId: 'c-1' });
    await world.enter({ dispatchId: 'J2', acceptedAtMs: nowMs, phoneNumberId: '2' });
    expect((await run.of(number)).map(plain)).toEqual([
      {
        ...{ phoneNumberId: number, dispatchId: 'J1', clientId: 1001, correlationId: 'c-1' },
        ...{ enteredAtMs: nowMs, notBeforeMs: nowMs, expiresAtSeconds: nowMs / 1_000 + 30 * 86_400, slices: 1 },
      },
    ]);
    expect(idsOf(await run.of('2'))).toEqual(['J2']);
  });

  test('what is due later is not seen before it is moved', async () => {
    const world = await open();
    const run = world.run();
    await world.enter(later);
    await world.enter({
      dispatchId: 'SOON',
      acceptedAtMs: nowMs,
      when: { asked: {}, fromMs: nowMs + laterThanMs },
    });
    await world.look(nowMs);
    expect(idsOf(await run.of(number))).toEqual(['SOON']);
    await world.look(laterMs - laterThanMs);
    expect(idsOf(await run.of(number))).toEqual(['SOON']);
    await world.look(laterMs - laterThanMs + 1);
    expect(idsOf(await run.of(number))).toEqual(['LATER', 'SOON']);
  });

  test('a change leaves an entry in the backlog, however late it is due then', async () => {
    const world = await open();
    const run = world.run();
    await world.enter({ dispatchId: 'J', acceptedAtMs: nowMs });
    const progress = { floor: 3, dueMs: nowMs + 10 * 86_400_000 };
    const rule = partMoved({ part: alone, progress, seenNewsMs: undefined });
    const changed = await run.change(await entryOf(world, 'J'), rule);
    expect(changed).toMatchObject({ notBeforeMs: nowMs, parts: [progress], version: 1 });
    expect((await run.of(number)).map(plain)).toEqual([plain(changed)]);
  });

  test('a change with an old entry is made to what is stored', async () => {
    const world = await open();
    await world.enter({ dispatchId: 'J', acceptedAtMs: nowMs });
    const old = await entryOf(world, 'J');
    const parts = [0, 1, 2].map((part) => ({ part, of: 3 }));
    await Promise.all(parts.map((part) => world.run().change(old, movedTo(5 + part.part, part))));
    const { parts: floors, version } = await entryOf(world, 'J');
    expect([floors?.map(({ floor }) => floor), version]).toEqual([[5, 6, 7], 3]);
    expect(await world.run().change(old, movedTo(4, parts[0]))).toMatchObject({ parts: [{ floor: 5 }, {}, {}] });
  });

  test('a rule that changes nothing writes nothing', async () => {
    const world = await open();
    await world.enter({ dispatchId: 'J', acceptedAtMs: nowMs });
    const entry = await entryOf(world, 'J');
    expect(await world.run().change(entry, (same) => same)).toBe(entry);
    expect((await entryOf(world, 'J')).version).toBeUndefined();
  });

  test.each(['fail_before', 'lose_reply'] as const)('a write that the SDK repeats (%s) counts once', async (kind) => {
    const world = await open();
    await world.enter({ dispatchId: 'J', acceptedAtMs: nowMs });
    const first = await world.run({ 1: kind }).change(await entryOf(world, 'J'), movedTo(2));
    expect(first).toMatchObject({ version: 1, parts: [{ floor: 2 }] });
    const second = await world.run({ 1: kind }).change(first as BacklogEntry, movedTo(3));
    expect(second).toMatchObject({ version: 2, parts: [{ floor: 3 }] });
    expect(plain(await entryOf(world, 'J'))).toEqual(plain(second));
  });

  test('a stop is seen in the entry at once, also in one that stands apart (D53)', async () => {
    const world = await open();
    await world.enter(later);
    await world.enter({ dispatchId: 'J', acceptedAtMs: nowMs });
    for (const head of [later, { dispatchId: 'J', acceptedAtMs: nowMs }]) {
      const brought = await world.run().bring(makeDispatchHead(head), withNews(nowMs + 5));
      expect(brought).toMatchObject({ dispatchId: head.dispatchId, newsMs: nowMs + 5, version: 1 });
    }
    const found = await world.run().of(number);
    expect(idsOf(found)).toEqual(['J', 'LATER']);
    expect(found.map(({ newsMs }) => newsMs)).toEqual([nowMs + 5, nowMs + 5]);
    expect(found.every(({ notBeforeMs }) => notBeforeMs <= nowMs + 5)).toBe(true);
    // A look that has read it apart before moves it now: what was written since stays.
    await world.enter(later);
    await world.look(laterMs);
    expect((await entryOf(world, 'LATER')).newsMs).toBe(nowMs + 5);
  });

  test('there is no news of a dispatch that has ended and is told', async () => {
    const world = await open();
    expect(await world.run().bring(makeDispatchHead(later), withNews(nowMs))).toBeUndefined();
    expect(await world.run().bring(makeDispatchHead({ acceptedAtMs: nowMs }), withNews(nowMs))).toBeUndefined();
    expect(await world.run().of(number)).toEqual([]);
  });

  test('an entry that is gone stays gone; removing it again is harmless', async () => {
    const world = await open();
    await world.enter({ dispatchId: 'J', acceptedAtMs: nowMs });
    await world.enter({ dispatchId: 'K', acceptedAtMs: nowMs });
    const fresh = await entryOf(world, 'J');
    const changed = (await world.run().change(fresh, movedTo(1))) as BacklogEntry;
    await world.run({ 1: 'lose_reply' }).remove(changed);
    await world.run().remove(changed);
    expect(await world.run().change(fresh, movedTo(2))).toBeUndefined();
    expect(await world.run().change(changed, movedTo(2))).toBeUndefined();
    expect(idsOf(await world.run().of(number))).toEqual(['K']);
  });
});

test('each request that brings an entry may be repeated by the SDK (D53)', async () => {
  for (const kind of ['fail_before', 'lose_reply'] as const) {
    for (const at of [1, 2, 3, 4, 5]) {
      const world = await storedWorld();
      await world.enter(later);
      await world.run({ [at]: kind }).bring(makeDispatchHead(later), withNews(nowMs));
      expect(plain(await world.run().of(number)), `${kind} of request ${at}`).toMatchObject([
        { newsMs: nowMs, version: 1 },
      ]);
      await world.look(laterMs);
      expect(plain(await world.run().of(number))).toMatchObject([{ newsMs: nowMs, version: 1 }]);
    }
  }
});

test('a number does not see the entries of one that it is the beginning of', async () => {
  const world = await storedWorld();
  const own = backlogKey({ phoneNumberId: '1', dispatchId: 'OWN' });
  const put = async (phoneNumberId: string, dispatchId: string) => {
    const entry = { ...newEntry(makeDispatchHead({ phoneNumberId, dispatchId })), ...own };
    const Item = { ...entry, sk: `${phoneNumberId}#${dispatchId}` };
    await localDocumentClient().send(new PutCommand({ TableName: table, Item }));
  };
  await put('1', 'OWN');
  // By chance they share a partition.
  await put('12', 'OTHER');
  expect(idsOf(await world.run().of('1'))).toEqual(['OWN']);
});

test('an entry of another form stops no other one of its number', async () => {
  const world = await storedWorld();
  await world.enter({ dispatchId: 'J1', acceptedAtMs: nowMs });
  const Item = { ...newEntry(makeDispatchHead({ phoneNumberId: number, dispatchId: 'J2' })), notBeforeMs: 'soon' };
  await localDocumentClient().send(new PutCommand({ TableName: table, Item }));
  expect(idsOf(await world.run().of(number))).toEqual(['J1']);
});

test('all pages of a number are read, each strongly', async () => {
  const world = await storedWorld();
  const long = 'x'.repeat(30_000);
  const ids = Array.from({ length: 50 }, (_, at) => `J${at}`);
  for (const dispatchId of ids) await world.enter({ dispatchId, acceptedAtMs: nowMs, correlationId: long });
  const client = localDocumentClient();
  const { attempts } = injectFaults(client, () => undefined);
  const reads: unknown[] = [];
  client.middlewareStack.add(
    (next) => (args) => {
      reads.push((args.input as { ConsistentRead?: boolean }).ConsistentRead);
      return next(args);
    },
    { step: 'initialize', name: 'reads' },
  );
  const found = await backlogStore(tableOf(client, table)).of(number);
  expect(idsOf(found)).toEqual(ids.toSorted());
  expect([attempts.length > 1, new Set(reads)]).toEqual([true, new Set([true])]);
});

test('an entry that a look has put again is found changed, and the change is made to it', async () => {
  const world = await storedWorld();
  await world.enter({ dispatchId: 'J', acceptedAtMs: nowMs });
  const changed = (await world.run().change(await entryOf(world, 'J'), movedTo(2))) as BacklogEntry;
  // A look died between its two writes, and the next one repeats both.
  await world.enter({ dispatchId: 'J', acceptedAtMs: nowMs });
  expect(await world.run().change(changed, movedTo(3))).toMatchObject({ version: 1, parts: [{ floor: 3 }] });
});

test('a change that always comes too late gives up, and leaves what is stored', async () => {
  const world = await storedWorld();
  await world.enter({ dispatchId: 'J', acceptedAtMs: nowMs });
  const client = localDocumentClient();
  const entry = await entryOf(world, 'J');
  let others = 0;
  const first = { part: 0, of: 2 };
  client.middlewareStack.add(
    (next) => async (args) => {
      others += 1;
      await world.run().change(await entryOf(world, 'J'), movedTo(others, { part: 1, of: 2 }));
      return await next(args);
    },
    { step: 'initialize', name: 'others' },
  );
  const pauses: number[] = [];
  const pause = async (tries: number) => void pauses.push(tries);
  const beaten = backlogStore(tableOf(client, table, { pause })).change(entry, movedTo(1, first));
  await expect(beaten).rejects.toThrow('changed under 10 tries');
  expect((await entryOf(world, 'J')).parts).toMatchObject([{ floor: 0 }, { floor: 10 }]);
  // The first repetition comes at once, with what it has met.
  expect(pauses).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('without faults a change is one write, and a removal one', async () => {
  const world = await storedWorld();
  await world.enter({ dispatchId: 'J', acceptedAtMs: nowMs });
  const entry = await entryOf(world, 'J');
  const client = localDocumentClient();
  const { attempts } = injectFaults(client, () => undefined);
  const backlog = backlogStore(tableOf(client, table));
  await backlog.change(entry, movedTo(1));
  await backlog.remove(entry);
  expect(attempts.map(({ command }) => command)).toEqual(['PutItemCommand', 'DeleteItemCommand']);
});

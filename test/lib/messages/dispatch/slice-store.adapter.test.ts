import { GetCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { dispatchMemorySeconds } from '../../../../lib/messages/dispatch/items.ts';
import {
  claimed,
  lost,
  type Outcome,
  type Outcomes,
  type Slice,
  type SliceClaim,
} from '../../../../lib/messages/dispatch/slice.ts';
import { sliceKeyOf } from '../../../../lib/messages/dispatch/slice-items.ts';
import { sliceStore } from '../../../../lib/messages/dispatch/slice-store.ts';
import { type FaultPlan, injectFaults } from '../../../support/faults.ts';
import { lagReads } from '../../../support/lagging-reads.ts';
import { sliceWrites } from '../../../support/messages-table/slice-item.ts';
import { writtenBy } from '../../../support/messages-table/written.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';
import { thorough } from '../../../support/thorough.ts';
import { dispatchId, startMs } from '../send/claims/slice-world.ts';

const [client, table] = [localDocumentClient(), await freshTable('messages')];
const slices = sliceStore(tableOf(client, table, { nowMs: () => startMs }));

const size = 3;
const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record({ state: fc.constant('sent' as const), platformMessageId: fc.string() }),
  fc.record({ state: fc.constant('sent' as const), platformMessageId: fc.string(), held: fc.string() }),
  fc.constant({ state: 'sent' as const, code: 'receipt' }),
  fc.record({ state: fc.constantFrom('failed' as const, 'expired' as const, 'unknown' as const), code: fc.string() }),
  fc.record({ state: fc.constant('failed' as const), code: fc.constant('131026'), reason: fc.string() }),
  fc.record({ state: fc.constant('again' as const), dueMs: fc.nat() }),
);
const outcomes: fc.Arbitrary<Outcomes> = fc
  .array(fc.tuple(fc.nat(size - 1), outcome), { maxLength: size })
  .map((entries) => new Map(entries));
const step = fc.record({
  name: fc.constantFrom('claim', 'end', 'endUncalled', 'endForTheDead', 'settle'),
  try: fc.nat(2),
  owner: fc.constantFrom('run-1', 'run-2'),
  outcomes,
  calls: fc.nat(3),
  /** The write's expected version is the one last read, or an older one. */
  fresh: fc.boolean(),
});

const writtenOf = (slice: Slice | undefined, name: string, args: readonly unknown[]) =>
  writtenBy(sliceWrites, name, slice, args);

let worlds = 0;

test('every write does what the exploration says of it, on whatever is there', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      worlds += 1;
      const key = { dispatchId: `${dispatchId.slice(0, 20)}${String(worlds).padStart(6, '0')}`, slice: worlds % 200 };
      let [seen, seenBefore]: (Slice | undefined)[] = [];
      for (const each of steps) {
        const there = (each.fresh ? seen : seenBefore) ?? seen;
        const claim: SliceClaim = { key, try: each.try, owner: each.owner, atMs: startMs + each.try, size };
        const args = argsOf(each.name, { ...each, claim, there });
        if (args === undefined) continue;
        // A worker never makes a later try of a missing slice.
        if (each.name === 'claim' && each.try > 0 && seen === undefined) continue;
        const { item: now, value } = writtenOf(seen, each.name, args);
        const written = (slices as unknown as Record<string, (...all: unknown[]) => Promise<unknown>>)[each.name];
        expect(await written?.(...args)).toEqual(value);
        expect(await slices.find(key)).toEqual(now);
        if (now !== seen) [seenBefore, seen] = [seen, now];
      }
    }),
    { numRuns: thorough ? 300 : 60 },
  );
});

function argsOf(
  name: string,
  {
    claim,
    there,
    outcomes: given,
    calls,
  }: { claim: SliceClaim; there: Slice | undefined; outcomes: Outcomes; calls: number },
): unknown[] | undefined {
  if (name === 'claim') return [claim];
  if (name === 'endUncalled') return [claim, given];
  if (there === undefined) return undefined;
  if (name === 'end') return there.state === 'claimed' ? [there, given, calls] : undefined;
  const settlements = new Map([...given].filter(([, { state }]) => state !== 'again'));
  if (name === 'settle') return [there, settlements, startMs + 5];
  const [outcome] = settlements.values();
  return [there, `${claim.owner} finder`, outcome];
}

test('a try that ends keeps what was settled of an earlier one meanwhile', async () => {
  const key = { dispatchId, slice: 4 };
  const unknown = { state: 'unknown', code: 'no_answer' } as const;
  const again = { state: 'again', dueMs: startMs } as const;
  const first = await slices.claim({ key, try: 0, owner: 'run-1', atMs: startMs, size: 2 });
  await slices.end(first.slice, new Map<number, Outcome>([[0, unknown], [1, again]])); // biome-ignore format: one row
  const second = await slices.claim({ key, try: 1, owner: 'run-2', atMs: startMs, size: 2 });
  const receipt = { state: 'sent', code: 'receipt' } as const;
  expect(await slices.settle(second.slice, new Map([[0, receipt]]), startMs + 7)).toBeDefined();
  const over = await slices.end(second.slice, new Map([[1, receipt]]));
  expect(over?.outcomes).toEqual([{ ...receipt, resolvedAtMs: startMs + 7 }, receipt]);
  expect(await slices.find(key)).toEqual(over);
});

describe('what has changed since it was read', () => {
  const claimOf = (slice: number, tried = 0) => {
    return { key: { dispatchId, slice }, try: tried, owner: 'run-1', atMs: startMs, size: 1 };
  };
  const again = new Map([[0, { state: 'again', dueMs: startMs }]] as const);

  test('is seen as it is, where reads are as late as they may be', async () => {
    const late = localDocumentClient();
    lagReads(late);
    const store = sliceStore(tableOf(late, table, { nowMs: () => startMs }));
    await slices.claim(claimOf(6));
    expect(await store.endUncalled(claimOf(6), again)).toMatchObject({ state: 'ended' });
  });

  test('is not written over by the run that gives its claim up: it looks again', async () => {
    const store = sliceStore(tableOf(claimedBefore(claimOf(7)), table, { nowMs: () => startMs }));
    await expect(store.endUncalled(claimOf(7), again)).rejects.toThrow('the slice has changed meanwhile');
    expect(await slices.find(claimOf(7).key)).toMatchObject({ state: 'claimed' });
    expect(await store.endUncalled(claimOf(7), again)).toMatchObject({ state: 'ended' });
  });

  test('also when it is gone (TTL): nothing is written, and a later try is refused', async () => {
    const gone = { ...claimed(undefined, claimOf(8)), version: 3 };
    const settled = new Map([[0, { state: 'sent', code: 'receipt' }]] as const);
    expect(await slices.end(gone, again)).toBeUndefined();
    expect(await slices.endForTheDead(gone, 'finder', lost)).toBeUndefined();
    expect(await slices.settle({ ...gone, outcomes: [lost] }, settled, startMs)).toBeUndefined();
    await expect(slices.claim(claimOf(8, 1))).rejects.toThrow('the slice of a later try is not there');
    expect(await slices.find(gone.key)).toBeUndefined();
  });
});

/** A late claim, which its run has given up, lands before the client's first put. */
function claimedBefore(claim: SliceClaim) {
  const late = localDocumentClient();
  const landing = { isDue: true };
  late.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName === 'PutItemCommand' && landing.isDue) {
          landing.isDue = false;
          await slices.claim(claim);
        }
        return await next(args);
      },
    { step: 'initialize', name: 'landClaim' },
  );
  return late;
}

test('of ten claimants at once exactly one has the slice, of a later try as well', async () => {
  const key = { dispatchId, slice: 5 };
  for (const tried of [0, 1]) {
    const claims = Array.from({ length: 10 }, (_, run) => {
      return slices.claim({ key, try: tried, owner: `run-${tried}-${run}`, atMs: startMs, size: 1 });
    });
    const taken = (await Promise.all(claims)).filter(({ kind }) => kind === 'claimed');
    expect(taken).toHaveLength(1);
    const again = new Map([[0, { state: 'again', dueMs: startMs }]] as const);
    for (const { slice } of taken) await slices.end(slice, again);
  }
});

test.each<[string, FaultPlan]>([
  ['whose reply is lost is the own one to the SDK’s retry (R16)', ({ number }) => everyOther(number, 'lose_reply')],
  ['that is throttled is written by the retry (R32)', ({ number }) => everyOther(number, 'throttle')],
])('each claim and each end %s', async (name, plan) => {
  const faulty = localDocumentClient();
  const { attempts } = injectFaults(faulty, plan);
  const store = sliceStore(tableOf(faulty, table, { nowMs: () => startMs }));
  const key = { dispatchId: name.slice(0, 10), slice: 0 };
  const again = { state: 'again', dueMs: startMs } as const;
  for (const [tried, outcome] of [again, { state: 'sent', platformMessageId: 'w' } as const].entries()) {
    const { kind, slice } = await store.claim({ key, try: tried, owner: `run-${tried}`, atMs: startMs, size: 1 });
    const over = await store.end(slice, new Map([[0, outcome]]));
    expect([kind, over?.state, over?.outcomes]).toEqual(['claimed', 'ended', [outcome]]);
  }
  expect(attempts).toHaveLength(8);
});

function everyOther(number: number, kind: 'lose_reply' | 'throttle') {
  return number % 2 === 1 ? { kind } : undefined;
}

test('a slice of a send with a time of its own is kept as long as its dispatch, by every writer (D56)', async () => {
  const key = { dispatchId, slice: 10 };
  const keptUntilMs = startMs + 90 * 86_400_000;
  const kept = async () =>
    (await client.send(new GetCommand({ TableName: table, Key: sliceKeyOf(key) }))).Item?.['expiresAtSeconds'];
  const claim = { key, try: 0, owner: 'run-1', atMs: startMs, size: 1, keptUntilMs };
  const { slice } = await slices.claim(claim);
  expect([slice.keptUntilMs, await kept()]).toEqual([keptUntilMs, keptUntilMs / 1_000]);
  await slices.end(slice, new Map([[0, { state: 'again', dueMs: startMs }]]));
  const { slice: second } = await slices.claim({ ...claim, try: 1 });
  await slices.end(second, new Map([[0, { state: 'unknown', code: 'no_answer' }]]));
  const seen = await slices.find(key);
  await slices.settle(seen as Slice, new Map([[0, { state: 'sent' }]]), startMs);
  expect(await kept()).toBe(keptUntilMs / 1_000);
});

test('a slice is kept for 30 days from its last write, in seconds (R23)', async () => {
  const key = { dispatchId, slice: 9 };
  const kept = async () =>
    (await client.send(new GetCommand({ TableName: table, Key: sliceKeyOf(key) }))).Item?.['expiresAtSeconds'];
  const { slice } = await slices.claim({ key, try: 0, owner: 'run-1', atMs: startMs, size: 1 });
  expect(await kept()).toBe(startMs / 1_000 + dispatchMemorySeconds);
  const later = sliceStore(tableOf(client, table, { nowMs: () => startMs + 500 }));
  await later.end(slice, new Map([[0, { state: 'expired', code: 'expired' }]]));
  expect(await kept()).toBe(startMs / 1_000 + 1 + dispatchMemorySeconds);
});

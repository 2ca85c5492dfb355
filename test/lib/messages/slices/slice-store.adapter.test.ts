import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { Outcome, Outcomes, Slice, SliceClaim } from '../../../../lib/messages/slices/slice.ts';
import { sliceItemOf, sliceKeyOf, sliceOfItem } from '../../../../lib/messages/slices/slice-items.ts';
import { sliceStore } from '../../../../lib/messages/slices/slice-store.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';
import { thorough } from '../../../support/thorough.ts';
import { applied, emptyStore, jobId, type Store, startMs } from './slice-world.ts';

let slices: ReturnType<typeof sliceStore>;
beforeAll(async () => {
  slices = sliceStore({ client: localDocumentClient(), table: await freshTable('messages'), nowMs: () => startMs });
});

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
  /** Whether it is written as it was seen last, or as it was seen before that. */
  fresh: fc.boolean(),
});

let worlds = 0;

test('every write does what the exploration says of it, on whatever is there', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      worlds += 1;
      const key = { jobId: `${jobId.slice(0, 20)}${String(worlds).padStart(6, '0')}`, slice: worlds % 200 };
      let model: Store = emptyStore;
      let [seen, seenBefore]: (Slice | undefined)[] = [];
      for (const each of steps) {
        const there = (each.fresh ? seen : seenBefore) ?? seen;
        const claim: SliceClaim = { key, try: each.try, owner: each.owner, atMs: startMs + each.try, size };
        const args = argsOf(each.name, { claim, there, outcomes: each.outcomes });
        if (args === undefined) continue;
        const { store, value } = applied(model, { name: each.name, args });
        // A later try of what is not there is no call that a worker makes.
        if (each.name === 'claim' && each.try > 0 && model.slices[String(key.slice)] === undefined) continue;
        const written = (slices as unknown as Record<string, (...all: unknown[]) => Promise<unknown>>)[each.name];
        expect(await written?.(...args)).toEqual(value);
        model = store;
        const now = model.slices[String(key.slice)];
        expect(await slices.find(key)).toEqual(now);
        if (now !== seen) [seenBefore, seen] = [seen, now];
      }
    }),
    { numRuns: thorough ? 300 : 60 },
  );
});

function argsOf(
  name: string,
  { claim, there, outcomes: given }: { claim: SliceClaim; there: Slice | undefined; outcomes: Outcomes },
): unknown[] | undefined {
  if (name === 'claim') return [claim];
  if (name === 'endUncalled') return [claim, given];
  if (there === undefined) return undefined;
  // Its claimant ends it, however late.
  if (name === 'end') return there.state === 'claimed' ? [there, given] : undefined;
  const settlements = new Map([...given].filter(([, { state }]) => state !== 'again'));
  if (name === 'settle') return [there, settlements, startMs + 5];
  const [outcome] = settlements.values();
  return [there, `${claim.owner} finder`, outcome];
}

test('a repeated claim is its own, and so is a repeated end', async () => {
  const key = { jobId, slice: 3 };
  const claim = { key, try: 0, owner: 'run-1', atMs: startMs, size };
  const { kind, slice } = await slices.claim(claim);
  expect([kind, (await slices.claim(claim)).kind]).toEqual(['claimed', 'claimed']);
  const all = new Map(
    [0, 1, 2].map((place) => [place, { state: 'sent', platformMessageId: `wamid.${place}` }] as const),
  );
  const over = await slices.end(slice, all);
  expect(await slices.end(slice, all)).toEqual(over);
});

test('a try that ends keeps what was settled of an earlier one meanwhile', async () => {
  const key = { jobId, slice: 4 };
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

test('its key is stored for 30 days: letter for letter', () => {
  expect(sliceKeyOf({ jobId, slice: 234 })).toEqual({ pk: `JOB#${jobId}#2`, sk: 'SLICE#0234' });
});

test('what is packed is unpacked as it was, with all that may be known', () => {
  const key = { jobId, slice: 1 };
  const outcomes = [
    { state: 'failed', code: '131026', reason: 'Not on WhatsApp', resolvedAtMs: 5 },
    { state: 'expired', code: 'expired', resolvedAtMs: 6 },
    { state: 'sent', platformMessageId: 'wamid.1', held: 'paused', code: 'receipt', resolvedAtMs: 7 },
    undefined,
  ] as const;
  const slice: Slice = { key, version: 3, try: 2, owner: 'run-1', atMs: startMs, state: 'ended', outcomes };
  expect(sliceOfItem(key, sliceItemOf(slice))).toEqual(slice);
});

test('ten sent messages are one write unit, with the platform’s ids of 80 characters', () => {
  const sent = Array.from({ length: 10 }, (_, place): Outcome => {
    const noise = Array.from({ length: 60 }, (_, at) => ((place * 7_919 + at * 104_729) % 36).toString(36)).join('');
    return { state: 'sent', platformMessageId: `wamid.HBgNNTQ5MTE1${noise}` };
  });
  const slice: Slice = {
    key: { jobId, slice: 999 },
    ...{
      version: 2,
      try: 0,
      owner: `${'0'.repeat(36)} ${'1'.repeat(36)}`,
      atMs: startMs,
      state: 'ended',
      outcomes: sent,
    },
  };
  const { outcomes: bytes, ...rest } = sliceItemOf(slice);
  expect(bytes.byteLength + JSON.stringify(rest).length + 80).toBeLessThan(1_024);
});

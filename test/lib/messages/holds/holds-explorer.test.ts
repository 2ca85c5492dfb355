import { expect, test } from 'vitest';
import { type Hold, noHolds } from '../../../../lib/messages/holds/hold.ts';
import { explore } from '../../../support/exploration.ts';
import { begunItem } from '../../../support/messages-table/dispatch-item.ts';
import { thorough } from '../../../support/thorough.ts';
import { keyOf } from './holds-key.ts';
import { checkPromises } from './holds-promises.ts';
import { successorsOf, type World } from './holds-space.ts';

/**
 * Explores every order of two dispatches' workers on one WABA's holds, with refusals, repairs, late words, cancels and
 * faults. The real rules; each write is one compare-and-set. From every idle world a repaired platform must let all
 * messages leave.
 */
const startMs = 1_800_000_000_000;

const none = { runs: 0, faults: 0, stalls: 0, breaks: 0, repairs: 0, words: 0, cancels: 0 };
const message = (id: string) => ({ id, dueMs: startMs, taken: 0 });

function worldOf(
  ids: readonly string[],
  breakable: World['broken'],
  left: Partial<World['left']>,
  changes: Partial<World> = {},
): World {
  return {
    ...{ nowMs: startMs, holds: noHolds, broken: breakable, breakable, expiresAtMs: {}, receipts: 0 },
    ...{ dispatches: { A: begunItem, B: begunItem }, messages: ids.map(message) },
    ...{ wrong: null, runs: [], words: [], begun: 0 },
    left: { ...none, ...left },
    ...changes,
  };
}

const due: Hold = { sinceMs: startMs - 60_000, code: '131042', nextAskMs: startMs, asks: 2 };
const dueHolds = { holds: { ...noHolds, holds: { waba: due } } };

const scenarios: readonly { readonly name: string; readonly first: World; readonly sees: readonly string[] }[] = [
  {
    name: 'a WABA that cannot pay, found by two dispatches at once',
    first: worldOf(['A0', 'B0'], { waba: 131042 }, { runs: thorough ? 5 : 4, faults: thorough ? 2 : 1, repairs: 1 }),
    sees: ['held waba', 'asked', 'sent', 'free'],
  },
  {
    name: 'a hold that is due, asked by two, one of them slow or dead',
    first: worldOf(
      ['A0', 'B0'],
      { waba: 131042 },
      { runs: 3, faults: thorough ? 1 : 0, stalls: thorough ? 2 : 1, repairs: 1 },
      dueHolds,
    ),
    sees: ['asked', 'sent', 'free'],
  },
  {
    name: "the platform's word while a question is under way, and the hold comes back",
    first: worldOf(
      ['A0', 'B0'],
      { waba: 131042 },
      { runs: thorough ? 4 : 3, repairs: 1, breaks: 1, words: thorough ? 2 : 1 },
      dueHolds,
    ),
    sees: ['asked', 'sent', 'free', 'word'],
  },
  {
    name: 'cancelled and expired while held',
    first: worldOf(
      ['A0', 'B0'],
      { waba: 131042 },
      { runs: 5, faults: thorough ? 1 : 0, repairs: 1, cancels: 1 },
      {
        expiresAtMs: { B: startMs + 12_000 },
      },
    ),
    sees: ['held waba', 'failed', 'expired'],
  },
  {
    name: 'a number that gives no answer, and its WABA',
    first: worldOf(
      ['A0', 'B0'],
      { 'number:1': 'silent' },
      { runs: 4, repairs: 1, breaks: 1, faults: thorough ? 1 : 0 },
      {
        holds: { silences: {}, holds: { 'number:1': { ...due, code: 'no_answer' } } },
        breakable: { waba: 131042 },
      },
    ),
    sees: ['held number:1', 'held waba', 'asked', 'sent', 'free', 'unknown'],
  },
  {
    name: 'the third run of a number without an answer',
    first: worldOf(
      ['A0', 'A1'],
      { 'number:1': 'silent' },
      { runs: 4, repairs: 1, faults: thorough ? 1 : 0 },
      {
        holds: { holds: {}, silences: { 1: { runs: 2, atMs: startMs - 1_000 } } },
      },
    ),
    sees: ['held number:1', 'asked', 'sent', 'free', 'unknown'],
  },
  {
    name: 'a WABA whose messages are taken and refused afterwards',
    first: worldOf(
      ['A0', 'B0'],
      { waba: 'late' },
      { runs: thorough ? 5 : 4, repairs: 1, faults: thorough ? 1 : 0 },
      { holds: { ...noHolds, holds: { waba: { ...due, afterTaken: true } } } },
    ),
    sees: ['held waba', 'asked', 'taken once', 'sent', 'free'],
  },
  {
    name: 'utility alone, and a template, with a hold on the other dispatch',
    first: worldOf(
      ['A0', 'B0'],
      { utility: 131064, 'template:b/es': 132015 },
      { runs: 5, repairs: 2, faults: thorough ? 1 : 0 },
    ),
    sees: ['held utility', 'held template:b/es', 'asked', 'sent', 'free'],
  },
];

function eventsIn({ holds, runs, messages, words }: World, before: World): string[] {
  const was = Object.keys(before.holds.holds);
  return [
    ...Object.keys(holds.holds).map((scope) => `held ${scope}`),
    ...(was.length > 0 && Object.keys(holds.holds).length === 0 ? ['free'] : []),
    ...(runs.some(({ question }) => question !== undefined) ? ['asked'] : []),
    ...messages.flatMap(({ outcome }) => outcome ?? []),
    ...(words.length > 0 ? ['word'] : []),
    ...(holds.holds.waba?.takenMs === undefined ? [] : ['taken once']),
  ];
}

test.each(scenarios)(
  '$name: one question at a time, no other call, and after the repair all is sent (D46, R13, R14)',
  async ({ first, sees }) => {
    const met = new Set<string>();
    const mended = { keys: new Set<string>() };
    const states = await explore<World>(first, {
      successorsOf: async (world) => successorsOf(world),
      keyOf,
      check: (world, before) => {
        checkPromises(world, before, mended);
        for (const event of eventsIn(world, before)) met.add(event);
      },
    });
    expect(sees.filter((event) => !met.has(event))).toEqual([]);
    expect(states).toBeGreaterThan(200);
  },
  300_000,
);

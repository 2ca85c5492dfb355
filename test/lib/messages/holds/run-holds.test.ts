import { describe, expect, test } from 'vitest';
import { type CallFacts, callFactsOf } from '../../../../lib/messages/dispatch/call-facts.ts';
import { reasonOf } from '../../../../lib/messages/holds/held-dispatch.ts';
import { noHolds } from '../../../../lib/messages/holds/hold.ts';
import { type RunHoldsPorts, runHolds } from '../../../../lib/messages/holds/run-holds.ts';
import type { HoldScope } from '../../../../lib/messages/holds/scope.ts';
import { countedBy } from '../../../support/counted.ts';
import { MemoryHolds } from '../../../support/memory-holds.ts';
import { scenarioHead } from '../../../support/scenario-dispatch.ts';

const nowMs = 1_800_000_000_000;
const callFacts = callFactsOf(scenarioHead, { limitPerSecond: 80 });
const { wabaId } = callFacts;

function statesNoting(calls: unknown[][]): RunHoldsPorts['states'] {
  return { stop: async ({ dispatchId }, stop) => calls.push(['stop', dispatchId, stop]) > 0 };
}

/** Keeps one run's holds in memory; it records the calls, the log lines and the number of writes. */
function world(changes: Partial<RunHoldsPorts['states']> = {}) {
  const calls: unknown[][] = [];
  const logged: unknown[][] = [];
  const wabas = new MemoryHolds(() => nowMs);
  let writes = 0;
  const ports: RunHoldsPorts = {
    states: { ...statesNoting(calls), ...changes },
    wabas: {
      takeProbe: (...asked) => wabas.takeProbe(...asked),
      change: (...changed) => {
        writes += 1;
        return wabas.change(...changed);
      },
    },
    nowMs: () => nowMs,
    log: (event, facts) => void logged.push([event, facts.code]),
  };
  return { calls, logged, wabas, ports, holds: runHolds(ports), writes: () => writes };
}

const waits = { kind: 'wait', delaySeconds: 15 };

describe('a refusal that concerns more than its message (D46)', () => {
  test('opens a hold, once for a run; the message waits, and the sender of its number tells it', async () => {
    const { calls, logged, holds, wabas, writes } = world();
    const refused = Array.from({ length: 10 }, () => holds.byRefusal(callFacts, { code: 132015, reason: 'paused' }));
    expect(await Promise.all(refused)).toEqual(Array(10).fill(waits));
    expect(calls).toEqual([]);
    expect(wabas.of(wabaId).holds).toMatchObject({ 'template:order_update/en_US': { code: '132015', sinceMs: nowMs } });
    expect([logged, writes()]).toEqual([[['hold.opened', '132015']], 1]);
  });

  test.each<[number, Partial<CallFacts>, string, string]>([
    [131042, {}, 'waba', 'waba'],
    [131064, { category: 'UTILITY' }, 'utility', 'waba'],
    [131037, {}, 'number:300000000000001', 'number'],
    [131048, {}, 'marketing:300000000000001', 'number'],
  ])('%i of %j holds %s, and is told as that of a %s', async (code, changes, held, scope) => {
    const { holds, wabas } = world();
    const counted = await countedBy(async () => {
      expect(await holds.byRefusal({ ...callFacts, ...changes }, { code })).toEqual(waits);
    });
    expect(Object.keys(wabas.of(wabaId).holds)).toEqual([held]);
    expect(reasonOf(held as HoldScope, String(code))).toEqual({ code: String(code), scope });
    const standing = /^(?:waba|number:.+)$/.test(held) ? 'HoldsStanding' : 'CategoryHoldsStanding';
    expect(counted).toMatchObject([{ HoldsOpened: 1, [standing]: 1 }]);
  });

  test('of one that is open already no operator is told again', async () => {
    const { ports, logged } = world();
    await runHolds({ ...ports, nowMs: () => nowMs - 1 }).byRefusal(callFacts, { code: 131042 });
    const counted = await countedBy(async () => {
      await runHolds(ports).byRefusal({ ...callFacts, dispatchId: 'K' }, { code: 131042 });
    });
    expect(logged.filter(([event]) => event === 'hold.opened')).toHaveLength(1);
    expect(counted).toEqual([]);
  });

  test.each<[number | undefined, Partial<CallFacts>]>([
    [undefined, {}],
    [131064, { category: 'MARKETING' }],
  ])('%s of %j concerns the message alone', async (code, changes) => {
    const { calls, holds, writes } = world();
    expect(await holds.byRefusal({ ...callFacts, ...changes }, { code })).toBeUndefined();
    expect([calls, writes()]).toEqual([[], 0]);
  });

  test('a template that is not there is probably in review: it is held until a reading, and refused again only after one (D46)', async () => {
    const { holds, wabas } = world();
    expect(await holds.byRefusal(callFacts, { code: 132001 })).toMatchObject({ kind: 'wait' });
    const [[scope, hold] = []] = Object.entries(wabas.of(wabaId).holds);
    expect([scope, hold]).toMatchObject([
      `template:${callFacts.about.template.name}/${callFacts.about.template.language}`,
      { code: 'template_in_review', byReading: true },
    ]);
    // A message that an earlier reading has let go waits with the others of a new hold, and fails without one.
    expect(await holds.byRefusal(callFacts, { code: 132001, again: true })).toMatchObject({ kind: 'wait' });
    expect(await world().holds.byRefusal(callFacts, { code: 132001, again: true })).toBeUndefined();
  });

  test('dispatches of one run are under one hold', async () => {
    const { holds, writes } = world();
    for (const dispatchId of ['J', 'K', 'J']) await holds.byRefusal({ ...callFacts, dispatchId }, { code: 132015 });
    expect(writes()).toBe(1);
  });

  test('132016 stops the dispatch: this message and the rest fail with the code and the text of the platform', async () => {
    const { calls, holds } = world();
    const settlement = { state: 'failed', code: '132016', reason: 'Template is Disabled' };
    const refused = [1, 2].map(() => holds.byRefusal(callFacts, { code: 132016, reason: 'Template is Disabled' }));
    expect(await Promise.all(refused)).toEqual(Array(2).fill({ kind: 'settle', settlement }));
    expect(calls).toEqual([['stop', 'J', { ...settlement, atMs: nowMs }]]);
  });

  test('a message past its time does not wait', async () => {
    const settlement = { state: 'expired', code: 'template_paused' };
    const late = { ...callFacts, expiresAtMs: nowMs };
    expect(await world().holds.byRefusal(late, { code: 132015 })).toEqual({ kind: 'settle', settlement });
  });
});

test('a message that was taken proves the ends before its call, by one write, and only where there are any (D46)', async () => {
  const { holds, wabas, writes } = world();
  const ends = { waba: { atMs: nowMs - 1, asks: 0 }, 'number:300000000000001': { atMs: nowMs, asks: 3 } } as const;
  wabas.stored.set(wabaId, { ...noHolds, unproven: ends });
  await holds.taken(callFacts, nowMs);
  expect(writes()).toBe(0);
  holds.saw(wabaId, wabas.of(wabaId));
  for (const _ of [1, 2]) await holds.taken(callFacts, nowMs);
  const { waba: _proven, ...left } = ends;
  expect([writes(), wabas.of(wabaId).unproven]).toEqual([1, left]);
});

test('the third run without an answer holds the number, and an answer between them breaks the row', async () => {
  const { holds, wabas, logged, writes } = world();
  expect([await holds.afterSilence(callFacts, 'no_answer'), await holds.afterSilence(callFacts, 'no_answer')]).toEqual([
    false,
    false,
  ]);
  await holds.afterAnswers(callFacts);
  expect(wabas.of(wabaId)).toEqual(noHolds);
  // A number that answers needs no write.
  const before = writes();
  await holds.afterAnswers(callFacts);
  expect(writes()).toBe(before);
  const runs = [];
  for (const code of ['no_answer', 'no_answer', '131000']) runs.push(await holds.afterSilence(callFacts, code));
  expect([runs, logged]).toEqual([[false, false, true], [['hold.opened', '131000']]]);
  expect(wabas.of(wabaId).holds['number:300000000000001']?.code).toBe('131000');
});

test('an answer that ends a hold is logged, one that does not is none', async () => {
  const { ports, logged, wabas } = world();
  await runHolds({ ...ports, nowMs: () => nowMs - 30_000 }).byRefusal(callFacts, { code: 131042 });
  const holds = runHolds(ports);
  const question = await holds.takeProbes(callFacts);
  expect(question?.of).toMatchObject([{ scope: 'waba', ask: 1 }]);
  expect(await holds.takeProbes(callFacts)).toBeUndefined();
  if (question === undefined) throw new Error('no worker may ask');
  await holds.answered(callFacts, question, 'refused');
  expect(logged.at(-1)?.[0]).not.toBe('hold.ended');
  wabas.stored.set(wabaId, { ...noHolds, holds: { waba: { sinceMs: 1, code: '131042', nextAskMs: 1, asks: 0 } } });
  const next = await holds.takeProbes(callFacts);
  if (next === undefined) throw new Error('no worker may ask');
  await holds.answered(callFacts, next, 'taken');
  expect([logged.at(-1)?.[0], wabas.of(wabaId)]).toEqual(['hold.ended', noHolds]);
});

test('what cannot be written now is found out again: nothing throws, and the message does as it would', async () => {
  const fails = async () => Promise.reject(new Error('unavailable'));
  const { logged, ports } = world({ stop: fails });
  const away = { ...ports, wabas: { takeProbe: fails, change: fails } };
  expect(await runHolds(away).byRefusal(callFacts, { code: 132015 })).toEqual(waits);
  expect(await runHolds(away).byRefusal(callFacts, { code: 132016 })).toMatchObject({ kind: 'settle' });
  const holds = runHolds(away);
  expect([await holds.takeProbes(callFacts), await holds.afterSilence(callFacts, 'no_answer')]).toEqual([
    undefined,
    false,
  ]);
  await holds.answered(callFacts, { untilMs: nowMs, of: [] }, 'taken');
  holds.saw(wabaId, { ...noHolds, unproven: { waba: { atMs: 1, asks: 0 } } });
  await holds.taken(callFacts, nowMs);
  expect(logged.map(([event]) => event)).toEqual([
    ...['hold.not_changed', 'dispatch.not_held', 'hold.not_changed', 'hold.not_changed', 'hold.not_changed'],
    'hold.not_changed',
  ]);
});

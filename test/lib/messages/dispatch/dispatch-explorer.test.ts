import { expect, test } from 'vitest';
import { dispatchIdOf } from '../../../../lib/messages/job.ts';
import { isSlow } from '../../../faults/actions.ts';
import { explore } from '../../../faults/explorer.ts';
import { outcomeIn, reportedIn } from '../../../faults/outcome-in.ts';
import { checkCompleted, checkPromises } from '../../../faults/promises.ts';
import type { Scenario } from '../../../faults/scenario.ts';
import { dispatchMessage, startMs } from '../../../faults/scenario-job.ts';
import { receiptScenarios, scenarios } from '../../../faults/scenarios.ts';
import type { State } from '../../../faults/states.ts';
import { firstUnlessThorough, thorough } from '../../../support/thorough.ts';

async function exploreChecked(scenario: Scenario) {
  const indexes = new Set(scenario.messages.map(({ index }) => index));
  return await explore(scenario, (state, before) => {
    for (const index of indexes) checkPromises(state, before, index);
    if (scenario.messages.some(({ alone }) => alone)) checkCompleted(state);
  });
}

const some = firstUnlessThorough(scenarios);
test.each(some)('never sent twice, never lost: $name (R13, R14)', { timeout: 120_000 }, async (scenario) => {
  const { states, ends } = await exploreChecked(scenario);
  // Guards against an exploration that sees nothing: the faults must have led to every kind of end.
  expect(states).toBeGreaterThan(5_000);
  const outcomes = new Set(ends.map(({ state }) => outcomeIn(state, 0).state));
  expect(ends.some(({ state }) => Object.keys(state.store.told).length > 0)).toBe(true);
  expect(outcomes).toContain('sent');
  expect(outcomes).toContain('failed');
  expect(outcomes).toContain('unknown');
});

test.runIf(thorough)(
  'without faults every message ends sent, however its copies are delivered',
  { timeout: 120_000 },
  async () => {
    const messages = [dispatchMessage(0), dispatchMessage(0), dispatchMessage(1)];
    const { ends } = await exploreChecked({ messages, startMs, deliveries: 5, faults: 0, batchSize: 2 });
    const delivered = ends.filter(({ state }) => state.queue.length === 0);
    const [slow, inTime] = [true, false].map((is) => delivered.filter(({ path }) => isSlow(path) === is));
    expect([slow?.length, inTime?.length]).not.toContain(0);
    for (const { state } of inTime ?? []) {
      expect([0, 1].map((index) => outcomeIn(state, index).state)).toEqual(['sent', 'sent']);
    }
    // A run that outlives its claim is as good as dead. What it has not posted by then it does not post: its slot has passed.
    for (const { state } of slow ?? []) {
      for (const [index, id] of [dispatchIdOf(dispatchMessage(0)), dispatchIdOf(dispatchMessage(1))].entries()) {
        const posted = state.store.calls.some(({ dispatchId }) => dispatchId === id);
        expect(outcomeIn(state, index).state).toBe(posted ? 'sent' : 'unknown');
      }
    }
  },
);

/** Of each worker that posts now: when it learned its slot, which is of that moment, when it had its claim, and for what. */
function postsIn({ workers }: State) {
  return workers.flatMap((worker) => {
    if (!worker?.open.some(({ name }) => name === 'send')) return [];
    const [placed, claimed] = worker.answered.slice(-2).map(({ nowMs }) => nowMs);
    return [{ placed, claimed, afterMissing: worker.bodies.some((body) => body.includes('"missedSlots":1')) }];
  });
}

test('a slot that passes while its message is claimed is no licence, and loses nothing (D43, R13, R14)', async () => {
  const scenario = { messages: [dispatchMessage(0)], startMs, deliveries: 4, faults: 2, batchSize: 1 } as const;
  const seen = new Set<boolean>();
  await explore({ ...scenario, paces: true, platform: ['accepted', 'lost_after'] }, (state, before) => {
    checkPromises(state, before, 0);
    for (const { placed, claimed, afterMissing } of postsIn(state)) {
      expect(claimed).toBe(placed);
      seen.add(afterMissing);
    }
  });
  // Guards against an exploration that sees nothing: messages left in their first slot, and in another one.
  expect(seen).toEqual(new Set([false, true]));
});

test.each(firstUnlessThorough(receiptScenarios))(
  'with receipts, never sent again and not left unknown: $name (D39)',
  { timeout: 120_000 },
  async (scenario) => {
    const { states, ends } = await exploreChecked(scenario);
    expect(states).toBeGreaterThan(1_000);
    const reported = new Set(ends.map(({ state }) => reportedIn(state, 0)));
    for (const expected of scenario.ends) expect(reported).toContain(expected);
    const told = new Set(ends.flatMap(({ state }) => Object.values(state.store.told).map(({ type }) => type)));
    for (const expected of scenario.tells) expect(told).toContain(expected);
    // Proof came first, and decided.
    const codes = new Set(
      ends.map(({ state }) => state.store.claims['J-0']).map((claim) => `${claim?.state} ${claim?.code}`),
    );
    expect(codes).toContain('sent receipt');
  },
);

import { expect, test } from 'vitest';
import { explore, type Scenario } from '../../../faults/explorer.ts';
import { checkCompleted, checkPromises, outcomeIn, reportedIn } from '../../../faults/promises.ts';
import { dispatchMessage, startMs } from '../../../faults/scenario-job.ts';
import { receiptScenarios, scenarios } from '../../../faults/scenarios.ts';

async function exploreChecked(scenario: Scenario) {
  const indexes = new Set(scenario.messages.map(({ index }) => index));
  return await explore(scenario, (state, before) => {
    for (const index of indexes) checkPromises(state, before, index);
    if (scenario.messages.some(({ alone }) => alone)) checkCompleted(state);
  });
}

test.each(scenarios)('never sent twice, never lost: $name (R13, R14)', { timeout: 120_000 }, async (scenario) => {
  const { states, ends } = await exploreChecked(scenario);
  // Guards against an exploration that sees nothing: the faults must have led to every kind of end.
  expect(states).toBeGreaterThan(10_000);
  const outcomes = new Set(ends.map(({ state }) => outcomeIn(state, 0).state));
  expect(ends.some(({ state }) => Object.keys(state.store.told).length > 0)).toBe(true);
  expect(outcomes).toContain('sent');
  expect(outcomes).toContain('failed');
  expect(outcomes).toContain('unknown');
});

test('without faults every message ends sent, however its copies are delivered', { timeout: 120_000 }, async () => {
  const messages = [dispatchMessage(0), dispatchMessage(0), dispatchMessage(1)];
  const { ends } = await exploreChecked({ messages, startMs, deliveries: 6, faults: 0, batchSize: 2 });
  const delivered = ends.filter(({ state }) => state.queue.length === 0);
  expect(delivered.length).toBeGreaterThan(0);
  for (const { state } of delivered)
    expect([0, 1].map((index) => outcomeIn(state, index).state)).toEqual(['sent', 'sent']);
});

test.each(receiptScenarios)(
  'with receipts, never sent again and not left unknown: $name (D39)',
  { timeout: 240_000 },
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

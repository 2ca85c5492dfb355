import * as v from 'valibot';
import { expect, test } from 'vitest';
import { claimLifeMs, invocationOf } from '../../../../lib/messages/dispatch/claim.ts';
import { DispatchMessageSchema, dispatchIdOf } from '../../../../lib/messages/job.ts';
import { type OutcomeState, outcomeOf } from '../../../../lib/messages/outcomes/outcome.ts';
import { explore, type Scenario, type State } from '../../../faults/explorer.ts';
import { dispatchMessage, scenarioJobId, scenarios, startMs } from '../../../faults/scenarios.ts';

/** What an operator would read once nobody can be running any more. */
function outcomeIn(state: State, index: number): OutcomeState {
  const key = { jobId: scenarioJobId, index };
  const claim = state.store.claims[dispatchIdOf(key)];
  const batch = claim === undefined ? undefined : state.store.batches[invocationOf(claim.at)];
  return outcomeOf(key, { claim, batch }, state.nowMs + claimLifeMs).state;
}

const finalAnswers = new Set(['accepted', 'refused', 'lost_before', 'lost_after']);

/** R13 in every state, R14 in every state in which nobody is at work. */
function check(state: State, index: number): void {
  const id = dispatchIdOf({ jobId: scenarioJobId, index });
  const calls = state.store.calls.filter((call) => call.dispatchId === id);
  const final = calls.findIndex(({ effect }) => finalAnswers.has(effect));
  if (final !== -1 && final !== calls.length - 1) throw new Error(`R13: ${id} was sent again`);
  if (state.workers.some((worker) => worker !== null)) return;

  const outcome = outcomeIn(state, index);
  const queued = state.queue.some(({ body }) => v.parse(DispatchMessageSchema, JSON.parse(body)).index === index);
  if (outcome === 'pending' && !queued) throw new Error(`R14: ${id} has vanished`);
  const accepted = calls.filter(({ accepts }) => accepts).length;
  if (outcome === 'sent' && accepted !== 1)
    throw new Error(`R14: ${id} counts as sent and was taken ${accepted} times`);
  if ((outcome === 'failed' || outcome === 'expired') && accepted !== 0) {
    throw new Error(`R14: ${id} counts as ${outcome} and was taken`);
  }
  if (!queued) checkTold(state, id, outcome);
}

/**
 * Whoever ended other than sent has been told so, and nothing is told that no claim says (D34). A batch record that came
 * late overrules `unknown`: then the event may have been queued, or not.
 */
function checkTold({ store }: State, id: string, outcome: OutcomeState): void {
  const told = Object.values(store.told)
    .filter(({ data }) => 'message_id' in data && data.message_id === id)
    .map(({ type }) => type.slice('message.'.length));
  if (outcome !== 'sent' && !told.includes(outcome)) throw new Error(`D34: ${id} ended ${outcome} and nobody was told`);
  const state = store.claims[id]?.state;
  if (told.some((type) => type !== state))
    throw new Error(`D34: ${told} was told of ${id}, and its claim says ${state}`);
}

async function exploreChecked(scenario: Scenario) {
  const indexes = new Set(scenario.messages.map(({ index }) => index));
  return await explore(scenario, (state) => {
    for (const index of indexes) check(state, index);
  });
}

test.each(scenarios)('never sent twice, never lost: $name (R13, R14)', { timeout: 120_000 }, async (scenario) => {
  const { states, ends } = await exploreChecked(scenario);
  // Guards against an exploration that sees nothing: the faults must have led to every kind of end.
  expect(states).toBeGreaterThan(10_000);
  const outcomes = new Set(ends.map(({ state }) => outcomeIn(state, 0)));
  expect(ends.some(({ state }) => Object.keys(state.store.told).length > 0)).toBe(true);
  expect(outcomes).toContain('sent');
  expect(outcomes).toContain('failed');
  expect(outcomes).toContain('unknown');
});

test('without faults every message ends sent, however its copies are delivered', async () => {
  const messages = [dispatchMessage(0), dispatchMessage(0), dispatchMessage(1)];
  const { ends } = await exploreChecked({ messages, startMs, deliveries: 6, faults: 0, batchSize: 2 });
  const delivered = ends.filter(({ state }) => state.queue.length === 0);
  expect(delivered.length).toBeGreaterThan(0);
  for (const { state } of delivered) expect([outcomeIn(state, 0), outcomeIn(state, 1)]).toEqual(['sent', 'sent']);
});

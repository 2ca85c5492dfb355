import * as v from 'valibot';
import { expect, test } from 'vitest';
import { claimLifeMs, invocationOf } from '../../lib/messages/claim.ts';
import { type DispatchMessage, DispatchMessageSchema, dispatchIdOf } from '../../lib/messages/job.ts';
import { type Outcome, outcomeOf } from '../../lib/messages/outcome.ts';
import { explore, type State } from './explorer.ts';

const startMs = 1_800_000_000_000;

function message(index: number, changes: Partial<DispatchMessage> = {}): DispatchMessage {
  return {
    jobId: 'J',
    index,
    clientId: 1001,
    phoneNumberId: '3',
    credential: 'main',
    path: 'messages',
    acceptedAtMs: startMs,
    attempt: 0,
    request: { to: '5491100000000' },
    ...changes,
  };
}

function outcomeIn(state: State, index: number): Outcome {
  const key = { jobId: 'J', index };
  const claim = state.store.claims[dispatchIdOf(key)];
  const batch = claim === undefined ? undefined : state.store.batches[invocationOf(claim.at)];
  return outcomeOf(key, { claim, batch }, state.nowMs + claimLifeMs);
}

/** R13 and R14, in every state. */
function neverTwiceNeverLost(indexes: readonly number[]) {
  return (state: State) => {
    for (const index of indexes) {
      const id = dispatchIdOf({ jobId: 'J', index });
      const calls = state.store.calls.filter((call) => call.dispatchId === id);
      const final = calls.findIndex(({ effect }) =>
        ['accepted', 'refused', 'lost_before', 'lost_after'].includes(effect),
      );
      if (final !== -1 && final !== calls.length - 1) throw new Error(`R13: ${id} was sent again`);
      if (state.workers.some((worker) => worker !== null)) continue;

      const { state: outcome } = outcomeIn(state, index);
      const queued = state.queue.some(({ body }) => v.parse(DispatchMessageSchema, JSON.parse(body)).index === index);
      if (outcome === 'pending' && !queued) throw new Error(`R14: ${id} has vanished`);
      const accepted = calls.filter(({ accepts }) => accepts).length;
      if (outcome === 'sent' && accepted !== 1) throw new Error(`R14: ${id} counts as sent and was not`);
      const unaccepted = outcome === 'failed' || outcome === 'expired';
      if (unaccepted && accepted !== 0) throw new Error(`R14: ${id} counts as ${outcome} and was sent`);
    }
  };
}

function outcomesOf(ends: readonly { readonly state: State }[], index: number): Set<string> {
  return new Set(ends.map(({ state }) => outcomeIn(state, index).state));
}

const scenarios = [
  {
    name: 'one message, two workers, three faults',
    messages: [message(0)],
    deliveries: 3,
    faults: Number(process.env['F'] ?? 2),
    batchSize: 1,
  },
  {
    name: 'two copies, also in one batch',
    messages: [message(0), message(0)],
    deliveries: 3,
    faults: Number(process.env['F2'] ?? 1),
    batchSize: 2,
  },
  {
    name: 'two messages in one batch',
    messages: [message(0), message(1)],
    deliveries: 3,
    faults: Number(process.env['F2'] ?? 1),
    batchSize: 2,
  },
  {
    name: 'a message that expires meanwhile',
    messages: [message(0, { expiresAtMs: startMs + 1 })],
    deliveries: 3,
    faults: 2,
    batchSize: 1,
  },
];

test.each(scenarios)('$name: never twice, never lost (R13, R14)', { timeout: 120_000 }, async (scenario) => {
  const indexes = [...new Set(scenario.messages.map(({ index }) => index))];
  const t0 = performance.now();
  const explored = await explore({ ...scenario, startMs }, neverTwiceNeverLost(indexes));
  console.log(
    scenario.name,
    explored.states,
    explored.transitions,
    explored.ends.length,
    Math.round(performance.now() - t0),
    [...outcomesOf(explored.ends, 0)],
  );
  expect(explored.states).toBeGreaterThan(1_000);
});

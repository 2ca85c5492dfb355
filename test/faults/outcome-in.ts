import { claimLifeMs, invocationOf } from '../../lib/messages/dispatch/claim.ts';
import { dispatchIdOf } from '../../lib/messages/job.ts';
import { type Outcome, outcomeOf } from '../../lib/messages/outcomes/outcome.ts';
import { fold } from '../../lib/messages/receipts/fold.ts';
import { type ReportedState, reportedOutcome } from '../../lib/messages/receipts/reported-state.ts';
import { scenarioJobId } from './scenario-job.ts';
import type { State } from './states.ts';

/** What our own records say of a message; by default once nobody can be running any more, whatever clocks say. */
export function outcomeIn(state: State, index: number, nowMs = state.nowMs + 2 * claimLifeMs): Outcome {
  const key = { jobId: scenarioJobId, index };
  const claim = state.store.claims[dispatchIdOf(key)];
  const batch = claim === undefined ? undefined : state.store.batches[invocationOf(claim.at)];
  return outcomeOf(key, { claim, batch }, nowMs);
}

/** What a client would read then. */
export function reportedIn(state: State, index: number, nowMs?: number): ReportedState {
  const receipts = state.store.receipts[dispatchIdOf({ jobId: scenarioJobId, index })] ?? [];
  return reportedOutcome(outcomeIn(state, index, nowMs), fold(receipts)).state;
}

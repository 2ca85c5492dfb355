import { type Claim, invocationOf, resolvedByOperator } from '../../lib/messages/dispatch/claim.ts';
import { dispatchIdOf } from '../../lib/messages/job.ts';
import { outcomeIn, reportedIn } from './outcome-in.ts';
import { scenarioJobId } from './scenario-job.ts';
import { idsIn, messageIn, type State } from './states.ts';

const finalAnswers = new Set(['accepted', 'held', 'refused', 'lost_before', 'lost_after']);

/** R13, D27 and D39 in every state, R14 and D34 in every state in which nobody is at work. */
export function checkPromises(state: State, before: State, index: number): void {
  const id = dispatchIdOf({ jobId: scenarioJobId, index });
  checkClaim(before.store.claims[id], state.store.claims[id]);
  const calls = state.store.calls.filter((call) => call.dispatchId === id);
  const final = calls.findIndex(({ effect }) => finalAnswers.has(effect));
  if (final !== -1 && final !== calls.length - 1) throw new Error(`R13: ${id} was sent again`);
  if (state.wrongs.length > 0) throw new Error(state.wrongs.join('; '));
  if (state.proven.includes(id)) checkProven(state, id);
  if (state.workers.some((worker) => worker !== null)) return;

  const { state: outcome } = outcomeIn(state, index);
  const queued = state.queue.some(({ role, body }) => role === 'dispatch' && messageIn(body).index === index);
  const toCount = state.queue.some(({ role, body }) => role === 'receipts' && idsIn(body).includes(id));
  if (outcome === 'pending' && !queued && !toCount) throw new Error(`R14: ${id} has vanished`);
  const taken = calls.filter(({ accepts }) => accepts);
  const reported = reportedIn(state, index);
  // A platform that takes what it says it does not may take it once more, until a receipt tells.
  const expected = taken.some(({ effect }) => effect === 'throttled_yet_taken') ? taken.length : 1;
  if (['sent', 'held', 'delivered'].includes(reported) && (taken.length !== expected || taken.length === 0)) {
    throw new Error(`R14: ${id} counts as ${reported} and was taken ${taken.length} times`);
  }
  const wronglyRefused = taken.every(({ effect }) => effect === 'throttled_yet_taken');
  const toldSo = state.store.receipts[id] !== undefined;
  if ((reported === 'failed' || reported === 'expired') && !wronglyRefused && !toldSo) {
    throw new Error(`R14: ${id} counts as ${reported} and was taken`);
  }
  if (!queued && !toCount) checkTold(state, id, outcome);
}

/** A claim moves forward, and is given back only while nothing is known of it. Its last word is a receipt's, or an operator's. */
function checkClaim(before: Claim | undefined, after: Claim | undefined): void {
  if (before?.code === resolvedByOperator && after?.code !== resolvedByOperator) {
    throw new Error(`D29: an operator settled a claim as ${before.state}, and now it says ${after?.code ?? 'nothing'}`);
  }
  if (before === undefined || before.state === after?.state || before.state === 'claimed') return;
  if (before.state === 'unknown' && (after?.state === 'sent' || after?.code === resolvedByOperator)) return;
  throw new Error(`D39: a claim moved back from ${before.state} to ${after?.state ?? 'nothing'}`);
}

/** Once a run of receipts has ended well, nothing about their messages is unknown, and nobody is left to think so. */
function checkProven(state: State, id: string): void {
  const claim = state.store.claims[id];
  const batch = claim === undefined ? undefined : state.store.batches[invocationOf(claim.at)];
  if (claim?.state === 'unknown' && batch?.[id] === undefined)
    throw new Error(`D39: ${id} has a receipt and stays unknown`);
  const told = toldOf(state, id);
  // What an operator was first to settle is no event.
  const byHand = claim?.code === resolvedByOperator;
  if (told.includes('unknown') && !told.includes('resolved') && !byHand)
    throw new Error(`D39: ${id} is not told as resolved`);
  if (told.filter((type) => type === 'resolved').length > 1) throw new Error(`D39: ${id} is resolved under two ids`);
  if (claim?.resolvedAtMs === undefined && told.includes('resolved')) throw new Error(`D39: ${id} was never unknown`);
}

function toldOf({ store }: State, id: string): string[] {
  return Object.values(store.told)
    .filter(({ data }) => 'message_id' in data && data.message_id === id)
    .map(({ type }) => type.slice('message.'.length));
}

/**
 * Whoever ended other than sent has been told so, and nothing is told that no claim says (D34). A batch record that came
 * late overrules `unknown`: then the event may have been queued, or not. An operator's word is no event.
 */
function checkTold(state: State, id: string, outcome: string): void {
  const told = toldOf(state, id);
  const claim = state.store.claims[id];
  const late = outcome === 'held' && claim?.state === 'unknown';
  const byHand = claim?.code === resolvedByOperator;
  if (outcome !== 'sent' && !late && !byHand && !told.includes(outcome)) {
    throw new Error(`D34: ${id} ended ${outcome} and nobody was told`);
  }
  const resolved = claim?.resolvedAtMs === undefined || byHand ? [] : ['unknown', 'resolved'];
  const held = state.store.calls.some(({ dispatchId, effect }) => dispatchId === id && effect === 'held');
  const failed = state.store.receipts[id]?.some(({ status }) => status === 'failed');
  const sayable = [
    byHand ? 'unknown' : claim?.state,
    ...(held ? ['held'] : []),
    ...(failed ? ['failed'] : []),
    ...resolved,
  ];
  const baseless = told.filter((type) => !sayable.includes(type));
  if (baseless.length > 0) throw new Error(`D34: ${baseless} was told of ${id}, and its claim says ${claim?.state}`);
}

/**
 * The end of a job of one message is told when the message has ended, never before and under one id (D41): nobody is left
 * to tell it once the message is off the queue.
 */
export function checkCompleted(state: State): void {
  const told = Object.values(state.store.told).filter(({ type }) => type === 'dispatch.completed');
  if (told.length > 1) throw new Error('D41: the end of the job is told under two ids');
  const [completed] = told;
  const { state: outcome } = outcomeIn(state, 0);
  if (completed !== undefined && outcome === 'pending') throw new Error('D41: the end of the job is told too early');
  if (completed !== undefined && 'total' in completed.data && completed.data.total !== 1) {
    throw new Error('D41: the end of a job of one message counts others');
  }
  const atWork = state.workers.some((worker) => worker !== null) || state.queue.length > 0;
  if (!atWork && completed === undefined) throw new Error('D41: the job has ended and nobody was told');
}

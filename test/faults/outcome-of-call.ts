import { type DispatchMessage, dispatchIdOf } from '../../lib/messages/job.ts';
import { type Effect, type PlatformEffect, platformEffects } from './effects.ts';
import { applyOp } from './model-store.ts';
import type { Scenario } from './scenario.ts';
import { receiptBody } from './scenario-job.ts';
import { queuedAs, type State } from './states.ts';
import type { Op, Reply } from './stepped-run.ts';

interface Call {
  readonly op: Op;
  readonly effect: Effect;
  readonly scenario: Scenario;
}

const unavailable: Reply = { error: 'unavailable' };

/** What one call does to the world, and what its caller is told. */
export function outcomeOfCall(
  state: State,
  { op, effect, scenario }: Call,
): { readonly state: State; readonly reply: Reply } {
  if (op.name === 'send') return posted(state, op, effect as PlatformEffect, scenario);
  if (effect === 'fails') return { state, reply: unavailable };
  if (effect === 'lands_late') return { state: onItsWay(state, op), reply: unavailable };
  const { state: reached, value } = reach(state, op);
  if (effect === 'reply_lost') return { state: reached, reply: unavailable };
  if (effect === 'again_late') return { state: onItsWay(reached, op), reply: { value } };
  if (effect !== 'repeated') return { state: reached, reply: { value } };
  const repeated = reach(reached, op);
  return { state: repeated.state, reply: { value: repeated.value } };
}

function onItsWay(state: State, op: Op): State {
  return { ...state, inFlight: [...state.inFlight, { op, sinceMs: state.nowMs }] };
}

function posted(state: State, { args }: Op, effect: PlatformEffect, { receipts }: Scenario) {
  const { accepts, reply } = platformEffects[effect];
  const key = args[0] as DispatchMessage;
  const call = { dispatchId: dispatchIdOf(key), effect, accepts };
  const told = accepts ? (receipts?.statuses ?? []) : [];
  const queue = told.map((status, at) => queuedAs('receipts', state.nextId + at, receiptBody(key.index, status)));
  const after = { ...state, queue: [...state.queue, ...queue], nextId: state.nextId + queue.length };
  return { state: { ...after, store: { ...state.store, calls: [...state.store.calls, call] } }, reply };
}

/** A call that reaches the store or the queue, whenever that is. */
export function reach(state: State, op: Op): { readonly state: State; readonly value: unknown } {
  if (op.name === 'postpone' || op.name === 'reserve') return { state, value: undefined };
  if (op.name === 'sendLater') {
    // Delays are left out: a copy may come at once, which is harsher than SQS.
    const copy = queuedAs('dispatch', state.nextId, JSON.stringify(op.args[0]));
    return { state: { ...state, queue: [...state.queue, copy], nextId: state.nextId + 1 }, value: undefined };
  }
  const { store, value } = applyOp(state.store, op);
  return { state: { ...state, store }, value };
}

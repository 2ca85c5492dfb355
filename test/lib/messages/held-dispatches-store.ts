import type { QueueEntry } from '../../../lib/aws/sqs-batch.ts';
import { type DispatchItem, type DispatchItemState, stateOf } from '../../../lib/messages/dispatch/item.ts';
import type { Slice } from '../../../lib/messages/dispatch/slice.ts';
import { type HoldRule, type Holds, holdsOn, noHolds } from '../../../lib/messages/holds/hold.ts';
import type { HoldableMessage } from '../../../lib/messages/holds/scope.ts';
import { asking } from '../../support/memory-holds.ts';
import { begunItem, writtenByName } from '../../support/messages-table/dispatch-item.ts';
import { sliceWrites } from '../../support/messages-table/slice-item.ts';
import { writtenBy } from '../../support/messages-table/written.ts';
import { scenarioHead } from '../../support/scenario-dispatch.ts';
import { makeTemplate } from '../../support/templates.ts';
import { refusals } from './held-dispatches-model.ts';

/** One dispatch of one slice is stored, with its queues and the template's state at the platform. */
export interface Store {
  readonly dispatch: DispatchItem;
  readonly slice: Slice | null;
  /** The dispatch had this state at the last claim of the slice. */
  readonly claimedIn: DispatchItemState;
  readonly holds: Holds;
  /** These holds were open at the last claim of the slice; `questions` are the probes that were called. */
  readonly heldAtClaim: readonly string[];
  readonly questions: readonly string[];
  readonly template: 'APPROVED' | keyof typeof refusals;
  /** The platform took these messages, by index, in order. */
  readonly taken: readonly number[];
  /** Each entry holds an event's id and type. */
  readonly told: readonly string[];
  /** This call broke a rule. */
  readonly wrong: string | null;
  /** The order of a queue's messages does not matter. */
  readonly dispatches: readonly string[];
  readonly chunks: readonly string[];
  readonly watches: readonly string[];
}

export const firstStore: Store = {
  ...{ dispatch: begunItem, slice: null, claimedIn: {}, template: 'APPROVED' },
  ...{ holds: noHolds, heldAtClaim: [], questions: [] },
  ...{ taken: [], told: [], wrong: null, dispatches: [], chunks: [], watches: [] },
};

interface Effect {
  readonly changes: Partial<Store>;
  readonly value?: unknown;
}

/** Applies a call, with the conditions of item-writes.ts, dispatch-rounds.ts and slice.ts. */
export function effectOf(store: Store, name: string, args: readonly unknown[]): Effect {
  const { dispatch } = store;
  switch (name) {
    case 'sendBatch': {
      const bodies = (args[0] as readonly QueueEntry[]).map(({ body }) => body);
      return { changes: { chunks: [...store.chunks, ...bodies].sort() }, value: [] };
    }
    case 'sendAgain':
      return { changes: { dispatches: [...store.dispatches, JSON.stringify(args[0])].sort() } };
    case 'sendLater':
      return { changes: { chunks: [...store.chunks, JSON.stringify(args[0])].sort() } };
    case 'watch':
      return { changes: { watches: [...store.watches, JSON.stringify(args[0])].sort() } };
    case 'tell':
      return { changes: { told: [...new Set([...store.told, ...(args[0] as readonly string[])])].sort() } };
    case 'send':
      return sent(store, Number(String(args[0]).split('-').at(-1)));
    case 'template':
      return { changes: {}, value: makeTemplate({ status: store.template }) };
    case 'look':
      return { changes: {}, value: { state: stateOf(dispatch), holds: store.holds } };
    case 'of':
      return { changes: {}, value: stateOf(dispatch) };
    case 'holds':
      return { changes: {}, value: store.holds };
    case 'changeHolds': {
      const holds = (args[0] as HoldRule)(store.holds);
      // A hold that is over is not probed again.
      const open = namesOf(holds);
      const questions = store.questions.filter((question) => open.some((name) => question.startsWith(name)));
      const heldAtClaim = store.heldAtClaim.filter((name) => open.includes(name));
      return { changes: { holds, questions, heldAtClaim }, value: holds };
    }
    case 'askHolds': {
      const { item: holds = noHolds, value } = asking(store.holds, ...(args as [HoldableMessage, number]));
      return { changes: { holds }, value };
    }
    case 'claim':
    case 'end':
    case 'endUncalled':
    case 'endForTheDead':
      return ofSlice(store, name, args);
    case 'list':
      return { changes: {} };
    default: {
      const { item = dispatch, value } = writtenByName(name, dispatch, args);
      return { changes: { dispatch: item }, value };
    }
  }
}

/** Returns the platform's answer for a message, and whether the call was allowed. */
function sent(store: Store, index: number): Effect {
  const { claimedIn, template, taken, holds, heldAtClaim } = store;
  const on = holdsOn(holds, scenarioHead);
  const questions = on.map(({ scope, hold: { sinceMs, asks } }) => `${scope} since ${sinceMs} asked ${asks}`);
  const isAsked = on.every(({ hold: { askedUntilMs } }) => askedUntilMs !== undefined);
  const wrongs = [
    ...(taken.includes(index) ? ['R13: a message was sent twice'] : []),
    ...(claimedIn.stop === undefined ? [] : ['D53: called although it was claimed after the stop']),
    ...(!isAsked && namesOf(holds).some((name) => heldAtClaim.includes(name))
      ? ['D46: called although it was claimed while it was held']
      : []),
    ...(isAsked && questions.some((question) => store.questions.includes(question))
      ? ['D46: two messages are called for one question']
      : []),
  ];
  const wrong = wrongs[0] ?? store.wrong;
  const known = { wrong, questions: isAsked ? [...store.questions, ...questions].sort() : store.questions };
  if (template !== 'APPROVED') return { changes: known, value: refusals[template] };
  return { changes: { ...known, taken: [...taken, index].sort() }, value: null };
}

function ofSlice(store: Store, name: string, args: readonly unknown[]): Effect {
  const { item: slice = null, value } = writtenBy(sliceWrites, name, store.slice ?? undefined, args);
  const isClaim = name === 'claim' && slice !== store.slice;
  const atClaim = { claimedIn: stateOf(store.dispatch), heldAtClaim: namesOf(store.holds) };
  return { changes: { slice, ...(isClaim ? atClaim : {}) }, value };
}

/** Names each open hold by its scope and start. */
function namesOf(holds: Holds): string[] {
  return holdsOn(holds, scenarioHead).map(({ scope, hold: { sinceMs } }) => `${scope} since ${sinceMs}`);
}

import type { DispatchItem } from '../../../../lib/messages/dispatch/item.ts';
import {
  afterAnsweredRun,
  afterSilentRun,
  type Hold,
  type Holds,
  holdsOn,
  noAnswerCode,
  opened,
} from '../../../../lib/messages/holds/hold.ts';
import {
  askMsOf,
  isProbeDue,
  mayStillAsk,
  type Probe,
  type ProbeResult,
  probeEnded,
} from '../../../../lib/messages/holds/questions.ts';
import {
  type HoldableMessage,
  type HoldScope,
  scopeOfRefusal,
  scopesOf,
} from '../../../../lib/messages/holds/scope.ts';
import { asking } from '../../../support/memory-holds.ts';
import type { Written } from '../../../support/messages-table/written.ts';

/**
 * Two dispatches on two numbers of one WABA have stored and queued state; a worker of one message goes step by step.
 */
export type DispatchId = 'A' | 'B';

export const kinds: Readonly<Record<DispatchId, HoldableMessage>> = {
  A: { category: 'UTILITY', path: 'messages', phoneNumberId: '1', templateName: 'a', templateLanguage: 'es' },
  B: { category: 'MARKETING', path: 'messages', phoneNumberId: '2', templateName: 'b', templateLanguage: 'es' },
};

export interface Message {
  readonly id: string;
  readonly dueMs: number;
  readonly taken: number;
  /** With `unknown` the worker died, or the platform gave no answer. */
  readonly outcome?: 'sent' | 'unknown' | 'failed' | 'expired';
}

export type Phase = 'look' | 'ask' | 'call' | 'calling' | 'answer' | 'end';

export interface Run {
  readonly number: number;
  readonly startedMs: number;
  readonly message: string;
  readonly phase: Phase;
  /** These holds were open at the worker's look. */
  readonly saw: readonly string[];
  readonly question?: Probe;
  readonly calledAtMs?: number;
  readonly result?: ProbeResult | 'silent';
  readonly code?: number;
}

export interface Store {
  readonly nowMs: number;
  readonly holds: Holds;
  /**
   * The platform refuses these scopes, by code. With `silent` it gives no answer; with `late` it takes the message and
   * refuses by receipt.
   */
  readonly broken: Readonly<Partial<Record<HoldScope, number | 'silent' | 'late'>>>;
  /** The platform took this many messages and will refuse them by receipt. */
  readonly receipts: number;
  readonly dispatches: Readonly<Record<DispatchId, DispatchItem>>;
  readonly expiresAtMs: Readonly<Partial<Record<DispatchId, number>>>;
  readonly messages: readonly Message[];
  readonly wrong: string | null;
}

export const dispatchOf = (message: string) => message.charAt(0) as DispatchId;
export const nameOf = (scope: string, sinceMs: number) => `${scope} since ${sinceMs}`;

export function openIn({ holds }: Holds): (readonly [HoldScope, Hold])[] {
  return Object.entries(holds).flatMap(([scope, hold]) =>
    hold === undefined ? [] : [[scope as HoldScope, hold] as const],
  );
}

export interface Next {
  readonly store: Store;
  /** The run is undefined after its end. */
  readonly run: Run | undefined;
}

/** Returns a waiting message's next look: when a probe is due or a lease is over. */
function nextLookMs({ holds, nowMs }: Store, id: DispatchId): number {
  const dues = holdsOn(holds, kinds[id]).map(({ hold }) => askMsOf(hold));
  return Math.max(nowMs + 15_000, ...dues);
}

export function withMessage<S extends Store>(store: S, id: string, changes: Partial<Message>): S {
  const messages = store.messages.map((message) => (message.id === id ? { ...message, ...changes } : message));
  return { ...store, messages };
}

export function withDispatch<S extends Store>(
  store: S,
  id: DispatchId,
  { item = {} }: Written<DispatchItem, unknown>,
): S {
  return { ...store, dispatches: { ...store.dispatches, [id]: item } };
}

function ended(store: Store, run: Run, outcome: NonNullable<Message['outcome']>): Next {
  return { store: withMessage(store, run.message, { outcome }), run: undefined };
}

function back(store: Store, { message }: Run): Next {
  const dueMs = nextLookMs(store, dispatchOf(message));
  return { store: withMessage(store, message, { dueMs }), run: undefined };
}

/** Takes a worker's step without faults. */
export function done(store: Store, run: Run): Next {
  const { nowMs } = store;
  const id = dispatchOf(run.message);
  const [dispatch, kind] = [store.dispatches[id], kinds[id]];
  const to = (phase: Phase, changes: Partial<Run> = {}): Run => ({ ...run, ...changes, phase });
  switch (run.phase) {
    case 'look': {
      if (dispatch.stop !== undefined) return ended(store, run, dispatch.stop.state);
      if (nowMs >= (store.expiresAtMs[id] ?? Number.POSITIVE_INFINITY)) return ended(store, run, 'expired');
      const on = holdsOn(store.holds, kind);
      const saw = scopesOf(kind).flatMap((scope) => {
        const hold = store.holds.holds[scope];
        return hold === undefined ? [] : [nameOf(scope, hold.sinceMs)];
      });
      if (on.length === 0) return { store, run: to('call', { saw }) };
      return on.every(({ hold }) => isProbeDue(hold, nowMs)) ? { store, run: to('ask', { saw }) } : back(store, run);
    }
    case 'ask': {
      const { item: holds, value: question } = asking(store.holds, kind, nowMs);
      return question === undefined ? back(store, run) : { store: { ...store, holds }, run: to('call', { question }) };
    }
    case 'call': {
      if (run.question !== undefined && !mayStillAsk(run.question, nowMs)) return back(store, run);
      const wrong = wrongOfCall(store, run) ?? store.wrong;
      return { store: { ...store, wrong }, run: to('calling', { calledAtMs: nowMs }) };
    }
    case 'calling': {
      const [broken] = scopesOf(kind).flatMap((scope) => store.broken[scope] ?? []);
      if (broken === 'silent') return { store, run: to('answer', { result: 'silent' }) };
      if (broken !== undefined && broken !== 'late')
        return { store, run: to('answer', { result: 'refused', code: broken }) };
      const receipts = store.receipts + (broken === 'late' ? 1 : 0);
      const taken = (store.messages.find(({ id: each }) => each === run.message)?.taken ?? 0) + 1;
      return {
        store: { ...withMessage(store, run.message, { taken }), receipts },
        run: to('answer', { result: 'taken' }),
      };
    }
    case 'answer': {
      const holds = learned(store.holds, run, nowMs);
      const wrong = wrongOfAnswer(store, holds, run) ?? store.wrong;
      // A hold is named by its moment, so each write has a millisecond of its own.
      const after = { ...store, holds, wrong, nowMs: nowMs + 1 };
      return { store: after, run: to('end') };
    }
    case 'end':
      return end(store, run);
  }
}

function end(store: Store, run: Run): Next {
  if (run.result === 'silent') return ended(store, run, 'unknown');
  return run.result === 'taken' ? ended(store, run, 'sent') : back(store, run);
}

/** Returns the holds after a worker's single write of what its call revealed. */
function learned(holds: Holds, { question, result = 'unclear', code, message }: Run, nowMs: number): Holds {
  const kind = kinds[dispatchOf(message)];
  const known = result === 'silent' ? 'unclear' : result;
  const heard = question === undefined ? holds : probeEnded(question, known, nowMs)(holds);
  const silent = { code: noAnswerCode, nowMs };
  if (result === 'silent') return question === undefined ? afterSilentRun(kind, silent)(heard) : heard;
  const answeredRun = afterAnsweredRun(kind)(heard);
  const scope = code === undefined ? undefined : scopeOfRefusal(code, kind);
  if (scope === undefined || question?.of.some((each) => each.scope === scope)) return answeredRun;
  return opened(scope, { code: String(code), nowMs })(answeredRun);
}

/** Takes a worker's step whose write fails or whose reply is lost. */
export function failed(store: Store, run: Run): Next {
  switch (run.phase) {
    // The outcome is recorded even if the write of the hold fails.
    case 'answer':
      return { store, run: { ...run, phase: 'end' } };
    default:
      return back(store, run);
  }
}

/** While a hold is open, only its probe is called, or a message whose worker looked before the hold opened. */
function wrongOfCall({ holds, messages }: Store, { message, saw, question }: Run): string | undefined {
  if ((messages.find(({ id }) => id === message)?.taken ?? 0) > 0) return 'R13: a message is called twice';
  const open = scopesOf(kinds[dispatchOf(message)]).flatMap((scope) => {
    const hold = holds.holds[scope];
    return hold === undefined ? [] : [nameOf(scope, hold.sinceMs)];
  });
  const questions = question?.of.map(({ scope, sinceMs }) => nameOf(scope, sinceMs)) ?? [];
  if (open.some((name) => saw.includes(name) && !questions.includes(name))) return 'D46: called while it was held';
  return undefined;
}

/** An answer ends only the probed hold, and no other worker's probe. */
function wrongOfAnswer({ holds }: Store, after: Holds, { question, result, code }: Run): string | undefined {
  for (const [scope, hold] of openIn(holds)) {
    const next = after.holds[scope];
    if (next === hold) continue;
    const own = question?.of.find((each) => each.scope === scope);
    if (own?.sinceMs !== hold.sinceMs) return 'D46: an old answer changes a later hold';
    if (own.ask !== hold.asks) return 'D46: an old answer changes what another worker asks';
    const mayEnd = result === 'taken' || (hold.code === noAnswerCode && code !== undefined);
    if (next === undefined && !mayEnd) return 'D46: a hold ends by an answer that proves nothing';
  }
  return undefined;
}

import { Refusal } from '../../../../lib/http/refusal.ts';
import type { HandOverPorts } from '../../../../lib/messages/accept/hand-over.ts';
import {
  acceptOnce,
  type IdempotencyPorts,
  type IdempotencyRecord,
} from '../../../../lib/messages/accept/idempotency.ts';
import { undecidedMs } from '../../../../lib/messages/dispatch/backlog.ts';
import { type DispatchItem, standingIn } from '../../../../lib/messages/dispatch/item.ts';
import { isWithdrawn, type Slice } from '../../../../lib/messages/dispatch/slice.ts';
import { acceptUnderNextKey } from '../../../../lib/messages/retry/retry-keys.ts';
import { errorName } from '../../../../lib/observe/error-name.ts';
import { acceptDispatch } from '../../../support/begun-dispatches.ts';
import { makeDispatch, makeRecipients } from '../../../support/made-dispatches.ts';
import { begun, withdrawnDispatch } from '../../../support/messages-table/dispatch-item.ts';
import { keyWrites } from '../../../support/messages-table/key-item.ts';
import { sliceWrites } from '../../../support/messages-table/slice-item.ts';
import { writtenBy } from '../../../support/messages-table/written.ts';
import { type Call, type Outside, type Reply, standingAfter } from '../../../support/replayed-run.ts';

/**
 * Requests store a dispatch, queue it and may take it back: stored state is plain data, and the real policies run call
 * by call.
 */

export type CallName =
  | 'find'
  | 'claim'
  | 'takeOver'
  | 'complete'
  | 'remove'
  | 'check'
  | 'readSource'
  | 'store'
  | 'begin'
  | 'withdraw'
  | 'send'
  | 'wake'
  | 'list';
/** The kind says how a request's dispatch is sent; it is also the request's body. */
export type Kind = 'straight' | 'large' | 'retry';

export interface Dispatch {
  /** Parameters, addresses and record are stored. */
  readonly stored: boolean;
  /** The backlog has its entry. */
  readonly entered: boolean;
  /** A straight dispatch is queued. */
  readonly queued: boolean;
  readonly listed: boolean;
  /** Its sender sends it. */
  readonly released: boolean;
  readonly item: DispatchItem;
  /** A worker or the withdrawal has claimed this first slice. */
  readonly slice: Slice | null;
  /** The answer is stored under the key. */
  readonly completed: boolean;
  /** A retry that has begun has these recipients of the retried dispatch, by index. */
  readonly retries: readonly number[];
}

export interface Answer {
  readonly code: string;
  /** Only an accepted answer names a dispatch. */
  readonly dispatchId?: string;
}

export interface Request {
  readonly kind: Kind;
  readonly keyed: boolean;
  /** The request has asked the platform for its template, which may be paused. */
  readonly checked?: true;
  /** A retry asks for these recipients of the dispatch, by index. */
  readonly wanted?: readonly number[];
  /** The time is absent until the request comes. */
  readonly startedAtMs?: number;
  readonly replies: readonly Reply[];
  /** This many calls of the request have been answered. */
  readonly told: number;
  /** The process has ended or died. */
  readonly isOver: boolean;
  readonly answer?: Answer;
  readonly dispatch: Dispatch;
}

/** A request's place names its dispatch. */
export interface Store {
  /** Records stand under the client's key, and under those of the retries of one dispatch. */
  readonly records: Readonly<Record<string, IdempotencyRecord | undefined>>;
  readonly requests: readonly Request[];
}

const noDispatch: Dispatch = {
  ...{ stored: false, entered: false, queued: false, listed: false, released: false },
  ...{ item: {}, slice: null, completed: false, retries: [] },
};

export type Asked = Pick<Request, 'kind' | 'keyed' | 'checked' | 'wanted'>;

export function requestToCome(asked: Asked): Request {
  return { ...asked, replies: [], told: 0, isOver: false, dispatch: noDispatch };
}

export function kindOf({ bodyHash }: IdempotencyRecord): Kind {
  return bodyHash as Kind;
}

export const dispatchIdOf = (place: number) => `dispatch-${place}`;
const placeOf = (dispatchId: string) => Number(dispatchId.slice('dispatch-'.length));

const lifeMs = 29_000;
const nothing = async () => undefined;
const recipients = { straight: makeRecipients(2), large: makeRecipients(11) };
const client = { clientId: 1001, did: '5491100000001' };
export const clientKey = 'k';
const source = { dispatchId: 'the dispatch', forgottenAtMs: Number.MAX_SAFE_INTEGER };

function portsOf(
  { startedAtMs = 0 }: Request,
  place: number,
  { call, nowMs }: Outside<CallName>,
): HandOverPorts & IdempotencyPorts {
  return {
    records: {
      ...{ find: call('find'), claim: call('claim'), takeOver: call('takeOver') },
      ...{ complete: call('complete'), remove: call('remove') },
    },
    budgets: { release: async () => undefined },
    acceptance: {
      store: call('store'),
      list: call('list'),
      begin: call('begin'),
      beginStraight: call('list'),
      withdraw: call('withdraw'),
    },
    wake: call('wake'),
    urgentQueue: { send: call('send') },
    limitOf: async () => 80,
    remainingMs: () => Math.max(0, startedAtMs + lifeMs - nowMs()),
    nowMs,
    newDispatchId: () => dispatchIdOf(place),
  };
}

type CallTo = Outside<CallName>['call'];

async function accepting(request: Request, place: number, outside: Outside<CallName>): Promise<Answer> {
  const ports = portsOf(request, place, outside);
  const act = (request.kind === 'retry' ? retrying : sending)(request, ports, outside.call);
  try {
    const { dispatchId } = await (request.keyed
      ? acceptOnce({ ...client, key: clientKey }, { bodyHash: request.kind }, ports, act)
      : act(dispatchIdOf(place)));
    return { code: '200', dispatchId };
  } catch (error) {
    return { code: error instanceof Error && 'code' in error ? String(error.code) : errorName(error) };
  }
}

function sending({ kind, checked }: Request, ports: HandOverPorts, call: CallTo) {
  const check: () => Promise<'paused' | undefined> = call('check');
  return async (dispatchId: string) => {
    if (checked && (await check()) === 'paused') throw new Refusal('template_not_sendable', 'paused');
    await acceptDispatch(makeDispatch(recipients[kind === 'straight' ? kind : 'large'], { dispatchId }), ports);
    return { dispatchId };
  };
}

function retrying({ wanted = [], checked }: Request, ports: HandOverPorts & IdempotencyPorts, call: CallTo) {
  const check: () => Promise<'paused' | undefined> = call('check');
  const begunNow: () => Promise<readonly string[]> = call('readSource');
  return async (dispatchId: string) => {
    const retriedBy = new Set(await begunNow());
    const retry = { ...client, dispatchId, source: { ...source, retriedBy }, wanted };
    return await acceptUnderNextKey(retry, ports, async (chosen) => {
      if (checked && (await check()) === 'paused') throw new Refusal('template_not_sendable', 'paused');
      // The steps around the one that decides are explored with sends.
      const begin = () => call('begin')(chosen);
      const acceptance = { ...ports.acceptance, begin, store: nothing, list: nothing };
      const dispatch = makeDispatch(makeRecipients(chosen.size), { dispatchId, retryOf: source.dispatchId });
      await acceptDispatch(dispatch, { ...ports, acceptance, wake: nothing });
      return { dispatchId };
    });
  };
}

const standings = new Map<string, ReturnType<typeof standingAfter<Answer, CallName>>>();

/** Returns the one open call of a request, or its answer: its calls come one after the other. */
export async function standingOf(request: Request, place: number): Promise<Call<CallName> | Answer> {
  const { kind, keyed, checked, wanted, startedAtMs = 0, replies } = request;
  const key = JSON.stringify([kind, keyed, checked, wanted, place, startedAtMs, replies]);
  const known =
    standings.get(key) ?? standingAfter((outside) => accepting(request, place, outside), startedAtMs, replies);
  standings.set(key, known);
  const { open, end } = await known;
  if (end !== undefined) return end;
  const [call] = open;
  if (call === undefined || open.length > 1) throw new Error('the request does two things at once');
  // Small states need short calls: the request's place stands for all that is written about its own dispatch.
  return aboutOwnDispatch.has(call.name) ? { ...call, args: whoIsIn(call) } : call;
}

/** Returns the recipients that a retry begins with, by their place in the retried dispatch. */
function whoIsIn({ name, args: [chosen] }: Call<CallName>): readonly number[] {
  return name === 'begin' && chosen instanceof Set ? [...chosen] : [];
}

const aboutOwnDispatch: ReadonlySet<CallName> = new Set(['store', 'begin', 'send', 'wake', 'list']);

/** Returns the effect and the answer of a call, with the stores' conditions, which adapter tests prove. */
export function effectOf(
  store: Store,
  place: number,
  { name, args }: Pick<Call<CallName>, 'name' | 'args'>,
): { readonly store: Store; readonly value?: unknown } {
  switch (name) {
    case 'find':
    case 'claim':
    case 'takeOver':
    case 'complete':
    case 'remove': {
      const [{ key }] = args as [{ readonly key: string }];
      const record = store.records[key];
      const { item: kept, value } = writtenBy(keyWrites, name, record, args);
      const after = { ...store, records: { ...store.records, [key]: kept } };
      const isCompleted = key === clientKey && name === 'complete' && kept !== record;
      return {
        store: isCompleted && kept !== undefined ? withDispatch(after, kept.dispatchId, { completed: true }) : after,
        value,
      };
    }
    case 'withdraw': {
      const [dispatchId] = args as [string];
      const { item, slice } = dispatchIn(store, dispatchId);
      const {
        dispatch = item,
        slice: first = null,
        value,
      } = withdrawnDispatch({ dispatch: item, slice: slice ?? undefined }, dispatchId, 0);
      return { store: withDispatch(store, dispatchId, { item: dispatch, slice: first }), value };
    }
    case 'begin': {
      const dispatchId = dispatchIdOf(place);
      const { item = {}, value } = begun(dispatchIn(store, dispatchId).item);
      const isRetry = value === 'begun' && store.requests[place]?.kind === 'retry';
      const retry = isRetry ? { stored: true, entered: true, retries: args as readonly number[] } : {};
      return { store: withDispatch(store, dispatchId, { item, ...retry }), value };
    }
    case 'check':
    case 'wake':
      return { store };
    case 'readSource': {
      const begunOnes = store.requests.flatMap(({ dispatch }, at) =>
        standingIn(dispatch.item) === 'begun' ? [dispatchIdOf(at)] : [],
      );
      return { store, value: begunOnes };
    }
    case 'store':
      return { store: withDispatch(store, dispatchIdOf(place), { stored: true, entered: true }) };
    case 'list': {
      const dispatchId = dispatchIdOf(place);
      if (store.requests[place]?.kind !== 'straight')
        return { store: withDispatch(store, dispatchId, { listed: true }) };
      // A straight dispatch is listed, then begun.
      const { item = {}, value } = begun(dispatchIn(store, dispatchId).item);
      return { store: withDispatch(store, dispatchId, { item, listed: true }), value };
    }
    default:
      return { store: withDispatch(store, dispatchIdOf(place), { queued: true }) };
  }
}

export function dispatchIn({ requests }: Store, dispatchId: string): Dispatch {
  return requests[placeOf(dispatchId)]?.dispatch ?? noDispatch;
}

export function withDispatch<S extends Store>(store: S, dispatchId: string, changes: Partial<Dispatch>): S {
  const requests = store.requests.map((request, place) =>
    place === placeOf(dispatchId) ? { ...request, dispatch: { ...request.dispatch, ...changes } } : request,
  );
  return { ...store, requests };
}

/**
 * Returns the next step of a sender, a worker or a sweep; a message may come again, and its consumer
 * may die.
 */
export function consumed(
  { kind, dispatch, startedAtMs = 0 }: Request,
  nowMs: number,
): { readonly does: string; readonly changes: Partial<Dispatch> } | undefined {
  const { entered, queued, listed, released, item, slice } = dispatch;
  const standing = standingIn(item);
  if (kind !== 'straight') {
    // Whatever wake is lost, a sweep wakes the sender (sender/sweep.ts, sender/dispatch-taking.ts).
    if (!entered || (standing === 'open' && nowMs - startedAtMs < undecidedMs)) return undefined;
    if (standing === 'withdrawn' || released)
      return { does: 'the sender removes the entry of', changes: { entered: false } };
    if (standing === 'begun') {
      return listed
        ? { does: 'the sender sends', changes: { released: true } }
        : { does: 'the sender lists', changes: { listed: true } };
    }
    const { dispatch: withdrawn = item } = withdrawnDispatch({ dispatch: item, slice: undefined }, '', 0);
    return { does: 'the sender withdraws', changes: { item: withdrawn } };
  }
  if (!queued || standing === 'begun') return undefined;
  // The withdrawal or a worker has slice 0 for good; the worker then begins the dispatch before it sends.
  if (hasWorker(dispatch))
    return { does: 'a worker begins', changes: { item: begun(item).item ?? item, listed: true } };
  if (slice !== null) return undefined;
  const { item: claimed = null } = sliceWrites.claim(undefined, firstClaim);
  return { does: 'a worker claims', changes: { slice: claimed } };
}

const firstClaim = { key: { dispatchId: '', slice: 0 }, try: 0, owner: 'worker', atMs: 0, size: 2 };

export function hasWorker({ slice }: Pick<Dispatch, 'slice'>): boolean {
  return slice !== null && !isWithdrawn(slice);
}

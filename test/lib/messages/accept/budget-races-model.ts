import { acceptChecked } from '../../../../lib/messages/accept/accept.ts';
import type { CostLimitPorts } from '../../../../lib/messages/accept/cost-reservation.ts';
import type { HandOverPorts } from '../../../../lib/messages/accept/hand-over.ts';
import {
  acceptOnce,
  type IdempotencyPorts,
  type IdempotencyRecord,
} from '../../../../lib/messages/accept/idempotency.ts';
import type { Reservation } from '../../../../lib/messages/budget/budgets.ts';
import { newEntry, undecidedMs } from '../../../../lib/messages/dispatch/backlog.ts';
import { type DispatchItem, standingIn } from '../../../../lib/messages/dispatch/item.ts';
import { takeDispatch } from '../../../../lib/messages/sender/dispatch-taking.ts';
import type { SenderPorts } from '../../../../lib/messages/sender/sender-ports.ts';
import { errorName } from '../../../../lib/observe/error-name.ts';
import { shippedRates } from '../../../../lib/pricing/rates.ts';
import type { Step } from '../../../support/exploration.ts';
import { makeDispatch, makeRecipients } from '../../../support/made-dispatches.ts';
import { begun, withdrawnDispatch } from '../../../support/messages-table/dispatch-item.ts';
import { keyWrites } from '../../../support/messages-table/key-item.ts';
import { writtenBy } from '../../../support/messages-table/written.ts';
import { type Call, type Outside, type Reply, standingAfter } from '../../../support/replayed-run.ts';

/**
 * Sends of one client with a budget run concurrently: stored state is plain data, and the real acceptance runs call by
 * call.
 */

export type CallName =
  | 'claim'
  | 'takeOver'
  | 'complete'
  | 'remove'
  | 'reserve'
  | 'release'
  | 'store'
  | 'begin'
  | 'withdraw'
  | 'find'
  | 'removeEntry';

export interface Asked {
  readonly keyed: boolean;
  /** The client's budget refuses sends. */
  readonly stop: boolean;
}

export interface Request extends Asked {
  readonly startedAtMs?: number;
  readonly replies: readonly Reply[];
  readonly isOver: boolean;
  /**
   * A reservation without an entry may remain when the run was cut off, which the key's next request finds, or when the
   * release failed.
   */
  readonly mayLeave?: 'cut off' | 'not given back';
  /** The entry is in the backlog once the dispatch is stored: then a sender looks at it. */
  readonly entry?: 'there' | 'removed';
  /** The sender's look has these replies so far. */
  readonly look?: readonly Reply[];
  readonly answer?: string;
  readonly dispatch: DispatchItem;
  readonly open?: number;
}

export interface World {
  readonly record: IdempotencyRecord | null;
  readonly requests: readonly Request[];
  readonly nowMs: number;
  readonly faultsLeft: number;
  readonly waitsMs: readonly number[];
}

const startMs = 1_800_000_000_000;
const lifeMs = 29_000;
export const runOverMs = 35_000;
const recipients = makeRecipients(11);
const rate = shippedRates.markets.find(({ country }) => country === 'AR')?.marketing ?? 0;
/** The budget fits one send and not two. */
export const sendUnits = Math.round(11 * rate * 100_000_000);
const amount = (sendUnits * 1.5) / 100_000_000;
export const limitUnits = Math.round(amount * 100_000_000);

export function firstWorld(asked: readonly Asked[], faultsLeft: number, waitsMs: readonly number[]): World {
  const requests = asked.map((each): Request => ({ ...each, replies: [], isOver: false, dispatch: {} }));
  return { record: null, requests, nowMs: startMs, faultsLeft, waitsMs };
}

const dispatchIdOf = (place: number) => `dispatch-${place}`;
const placeOf = (dispatchId: string) => Number(dispatchId.slice('dispatch-'.length));

type Ports = HandOverPorts & CostLimitPorts & IdempotencyPorts;

function portsOf({ startedAtMs = 0 }: Request, place: number, { call, nowMs }: Outside<CallName>): Ports {
  const nothing = async () => undefined;
  return {
    records: {
      ...{ find: nothing, claim: call('claim'), takeOver: call('takeOver') },
      ...{ complete: call('complete'), remove: call('remove') },
    },
    acceptance: {
      ...{ store: call('store'), begin: call('begin'), withdraw: call('withdraw'), list: nothing },
      beginStraight: async () => 'begun',
    },
    wake: nothing,
    urgentQueue: { send: nothing },
    limitOf: async () => 80,
    budgets: { reserve: call('reserve'), release: call('release') },
    notified: { of: async () => new Set([80, 100]), note: nothing },
    events: { send: nothing },
    rates: async () => shippedRates,
    optOuts: { anyFor: async () => false, stoppedAmong: async () => new Map() },
    remainingMs: () => Math.max(0, startedAtMs + lifeMs - nowMs()),
    nowMs,
    newDispatchId: () => dispatchIdOf(place),
  };
}

/** Accepts a request, and returns the code of its answer. */
async function accepting(request: Request, place: number, outside: Outside<CallName>): Promise<string> {
  const budget = { clientId: 1001, amount, stop: request.stop };
  const ports = portsOf(request, place, outside);
  const accept = async (dispatchId: string) => {
    await acceptChecked(makeDispatch(recipients, { dispatchId, acceptedAtMs: outside.nowMs() }), { budget }, ports);
    return { dispatchId };
  };
  const scope = { clientId: 1001, did: '5491100000001', key: 'k' };
  try {
    await (request.keyed ? acceptOnce(scope, { bodyHash: 'body' }, ports, accept) : accept(dispatchIdOf(place)));
    return '200';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : errorName(error);
  }
}

/** Returns the waiting call of a request, or the code of its answer. */
async function standingOf(request: Request, place: number): Promise<Call<CallName> | string> {
  const start = (outside: Outside<CallName>) => accepting(request, place, outside);
  const { open, end } = await standingAfter<string, CallName>(start, request.startedAtMs ?? 0, request.replies);
  if (end !== undefined) return end;
  const [call] = open;
  if (call === undefined || open.length > 1) throw new Error('the request does two things at once');
  return call;
}

export function committedUnits({ requests }: Pick<World, 'requests'>): number {
  return requests.reduce((sum, { open = 0 }) => sum + open, 0);
}

function withRequest(world: World, place: number, changes: Partial<Request>): World {
  const request = { ...(world.requests[place] as Request), ...changes };
  return { ...world, requests: world.requests.with(place, request) };
}

/** Returns the effect and the answer of a call; `Budgets` does what its port promises. */
function effectOf(world: World, place: number, { name, args }: Call<CallName>): { world: World; value?: unknown } {
  switch (name) {
    case 'reserve': {
      const { dispatchId, units, limitUnits: limit } = args[0] as Reservation;
      const before = committedUnits(world);
      const { open } = world.requests[placeOf(dispatchId)] as Request;
      if (open !== undefined) return { world, value: { kind: 'reserved', afterUnits: before } };
      if (limit !== undefined && before + units > limit)
        return { world, value: { kind: 'over', committedUnits: before } };
      const value = { kind: 'reserved', afterUnits: before + units };
      return { world: withRequest(world, placeOf(dispatchId), { open: units }), value };
    }
    case 'release': {
      const at = placeOf((args[0] as Reservation).dispatchId);
      const { open: _, ...rest } = world.requests[at] as Request;
      return { world: { ...world, requests: world.requests.with(at, rest) } };
    }
    case 'store':
      return { world: withRequest(world, place, { entry: 'there' }) };
    case 'find': {
      const { dispatch = {} } = world.requests[place] ?? {};
      return { world, value: { standing: standingIn(dispatch), state: {}, dispatch: undefined } };
    }
    case 'removeEntry':
      return { world: withRequest(world, place, { entry: 'removed' }) };
    case 'begin': {
      const { item: dispatch = {}, value } = begun(world.requests[place]?.dispatch);
      return { world: withRequest(world, place, { dispatch }), value };
    }
    case 'withdraw': {
      const at = placeOf(args[0] as string);
      const { dispatch = {}, value } = withdrawnDispatch(
        { dispatch: world.requests[at]?.dispatch, slice: undefined },
        dispatchIdOf(at),
        0,
      );
      return { world: withRequest(world, at, { dispatch }), value };
    }
    default: {
      const { item = null, value } = writtenBy(keyWrites, name, world.record ?? undefined, args);
      return { world: { ...world, record: item }, value };
    }
  }
}

const isLive = ({ startedAtMs, isOver }: Request) => startedAtMs !== undefined && !isOver;

export async function successorsOf(world: World): Promise<Step<World>[]> {
  const steps: Step<World>[] = [];
  for (const [place, request] of world.requests.entries()) {
    const isNext = world.requests.findIndex(({ startedAtMs }) => startedAtMs === undefined) === place;
    if (isNext)
      steps.push({ does: `request ${place} comes`, state: withRequest(world, place, { startedAtMs: world.nowMs }) });
    const isDead = request.isOver && world.nowMs - (request.startedAtMs ?? 0) >= undecidedMs;
    if (isDead && isLookedAt(request)) steps.push(...(await looksOf(world, place)));
    if (isLive(request)) steps.push(...(await stepsOf(world, place)));
  }
  const [waitMs, ...waitsMs] = world.waitsMs;
  if (waitMs !== undefined) {
    const requests = world.requests.map((each) => (isLive(each) ? ended(each, 'none') : each));
    steps.push({ does: `${waitMs} ms pass`, state: { ...world, requests, nowMs: world.nowMs + waitMs, waitsMs } });
  }
  return steps;
}

function ended({ replies: _, ...request }: Request, answer: string): Request {
  const isCut = answer === 'none' || answer === 'dispatch_undecided';
  return {
    ...request,
    replies: [],
    isOver: true,
    answer,
    ...(isCut ? { mayLeave: request.mayLeave ?? 'cut off' } : {}),
  };
}

const isLookedAt = ({ entry, dispatch }: Request) => entry === 'there' && standingIn(dispatch) !== 'begun';

/** A sender withdraws what is undecided, and removes the entry of what is withdrawn. */
async function looking({ startedAtMs = 0 }: Request, place: number, { call }: Outside<CallName>): Promise<'over'> {
  const { head } = makeDispatch(recipients, { dispatchId: dispatchIdOf(place), acceptedAtMs: startedAtMs });
  const ports = {
    dispatches: { find: call('find'), withdraw: call('withdraw') },
    budgets: { release: call('release') },
    process: { nowMs: () => startedAtMs + undecidedMs, log: () => undefined },
  } as unknown as SenderPorts;
  if ((await takeDispatch(newEntry(head), { part: 0, of: 1 }, ports)) === 'over') await call('removeEntry')();
  return 'over';
}

/** The waiting call of a look is done, or its sender dies: another one looks from the beginning. */
async function looksOf(world: World, place: number): Promise<Step<World>[]> {
  const { look = [], ...request } = world.requests[place] as Request;
  const start = (outside: Outside<CallName>) => looking(request, place, outside);
  const { open } = await standingAfter<string, CallName>(start, 0, look);
  const [call] = open;
  if (call === undefined) return [];
  const { world: done, value } = effectOf(world, place, call);
  const replies = [...look, { call: call.number, value, atMs: 0 }];
  const isLast = call.name === 'removeEntry';
  const goesOn = withRequest(done, place, { look: isLast ? undefined : replies });
  const steps = [{ does: `the look at ${place}: ${call.name}`, state: goesOn }];
  if (world.faultsLeft === 0) return steps;
  const dead = (base: World) => ({
    ...withRequest(base, place, { look: undefined }),
    faultsLeft: world.faultsLeft - 1,
  });
  return [
    ...steps,
    { does: `the look at ${place} dies before ${call.name}`, state: dead(world) },
    { does: `the look at ${place} dies after ${call.name}`, state: dead(done) },
  ];
}

/** The waiting call is done, fails, is done without a reply, or its process dies. */
async function stepsOf(world: World, place: number): Promise<Step<World>[]> {
  const request = world.requests[place] as Request;
  const call = await standingOf(request, place);
  if (typeof call === 'string') return [{ does: `${place} answers ${call}`, state: answered(world, place, call) }];
  const goOn = async (base: World, reply: { readonly value?: unknown; readonly fails?: true }) => {
    const current = base.requests[place] as Request;
    const replies = [...current.replies, { call: call.number, ...reply, atMs: world.nowMs }];
    const next = await standingOf({ ...current, replies }, place);
    return typeof next === 'string' ? answered(base, place, next) : withRequest(base, place, { replies });
  };
  const { world: done, value } = effectOf(world, place, call);
  const of = `${call.name} of request ${place}`;
  const steps = [{ does: of, state: await goOn(done, { value }) }];
  if (world.faultsLeft === 0) return steps;
  const faulty = (base: World) => {
    const less = { ...base, faultsLeft: world.faultsLeft - 1 };
    return call.name === 'release' ? leftBehind(less, placeOf((call.args[0] as Reservation).dispatchId)) : less;
  };
  const dead = (base: World) => answered(faulty(base), place, 'none');
  steps.push(
    { does: `${of} fails`, state: await goOn(faulty(world), { fails: true }) },
    { does: `${of}, its reply lost`, state: await goOn(faulty(done), { fails: true }) },
    { does: `request ${place} dies at ${call.name}`, state: dead(world) },
    { does: `request ${place} dies after ${call.name}`, state: dead(done) },
  );
  return steps;
}

function leftBehind(world: World, place: number): World {
  return withRequest(world, place, { mayLeave: 'not given back' });
}

function answered(world: World, place: number, answer: string): World {
  return { ...world, requests: world.requests.with(place, ended(world.requests[place] as Request, answer)) };
}

/** Faults end: the keyed request comes once more, and the sender reads every message. */
export async function afterOneMore(world: World): Promise<World> {
  const place = world.requests.length;
  const nowMs = world.nowMs + runOverMs;
  const first = world.requests[0] as Request;
  const { keyed, stop } = first;
  const last: Request = { keyed, stop, startedAtMs: nowMs, replies: [], isOver: false, dispatch: {} };
  let next: World = { ...world, nowMs, faultsLeft: 0, requests: keyed ? [...world.requests, last] : world.requests };
  while (keyed && isLive(next.requests[place] as Request)) {
    const [step] = await stepsOf(next, place);
    if (step === undefined) throw new Error('a request waits for ever');
    next = step.state;
  }
  for (const at of next.requests.keys()) {
    while (isLookedAt(next.requests[at] as Request)) {
      const [step] = await looksOf(next, at);
      if (step === undefined) throw new Error('a look waits for ever');
      next = step.state;
    }
  }
  return next;
}

export function isSettled(world: World): boolean {
  return !world.requests.some(isLive);
}

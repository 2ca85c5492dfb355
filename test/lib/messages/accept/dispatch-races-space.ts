import { undecidedMs } from '../../../../lib/messages/dispatch/backlog.ts';
import type { Slice } from '../../../../lib/messages/dispatch/slice.ts';
import type { Step } from '../../../support/exploration.ts';
import type { Call } from '../../../support/replayed-run.ts';
import {
  type Asked,
  type CallName,
  clientKey,
  consumed,
  dispatchIdOf,
  effectOf,
  kindOf,
  type Request,
  requestToCome,
  type Store,
  standingOf,
  withDispatch,
} from './dispatch-races-model.ts';

/**
 * A write that its run has given up, or that the SDK has repeated, lands later. No request takes longer than 18 s, so
 * after a run's end only its last call may still land.
 */
interface LateWrite extends Call<CallName> {
  readonly place: number;
  readonly hasWaited: boolean;
}

export interface World extends Store {
  readonly nowMs: number;
  readonly late: readonly LateWrite[];
  /** This many calls may still fail, land late or repeat, or processes die. */
  readonly faultsLeft: number;
  /** The template may still turn out to be paused this often. */
  readonly refusalsLeft: number;
  /** Nothing happens during these pauses, which come in order. */
  readonly waitsMs: readonly number[];
}

export type Bounds = Pick<World, 'faultsLeft' | 'refusalsLeft' | 'waitsMs'>;

export const startMs = 1_800_000_000_000;

/** A run has ended after this time. */
export const runOverMs = 35_000;

export function firstWorld(requests: readonly Asked[], bounds: Bounds): World {
  return { records: {}, requests: requests.map(requestToCome), nowMs: startMs, late: [], ...bounds };
}

/** No signal ends these calls within seconds: the edge's timeout answers instead. */
const unbounded: ReadonlySet<CallName> = new Set(['readSource', 'find', 'claim', 'takeOver', 'check']);
/** Repeating a read changes nothing. */
const readsOnly: ReadonlySet<CallName> = new Set(['check', 'readSource', 'find']);
const edgeAnswer = { code: 'platform_unreachable' };

/** The process was frozen, and the client got no answer. */
export const noAnswer = { code: 'none' };

export const isLive = ({ startedAtMs, isOver }: Request) => startedAtMs !== undefined && !isOver;

export async function successorsOf(world: World): Promise<Step<World>[]> {
  const steps: Step<World>[] = [];
  const { requests, late, nowMs, waitsMs } = world;
  for (const [place, request] of requests.entries()) {
    const isFirst = requests.findIndex((other) => other.startedAtMs === undefined && isAlike(other, request)) === place;
    if (isFirst) {
      const come = { ...request, startedAtMs: nowMs };
      steps.push({ does: `request ${place} comes, ${request.kind}`, state: withRequest(world, place, come) });
    }
    const next = consumed(request, nowMs);
    if (next !== undefined) {
      steps.push({
        does: `${next.does} ${dispatchIdOf(place)}`,
        state: withDispatch(world, dispatchIdOf(place), next.changes),
      });
    }
    if (isLive(request)) steps.push(...(await stepsOf(world, place)));
  }
  for (const [at, write] of late.entries()) {
    const { store } = effectOf(world, write.place, write);
    const landed = { ...world, ...store, late: late.toSpliced(at, 1) };
    steps.push({ does: `${write.name} of request ${write.place} lands late`, state: landed });
  }
  const [waitMs, ...waitsLeft] = waitsMs;
  if (waitMs !== undefined && mayWait(world)) {
    const answered = await Promise.all(requests.map(answeredForIt));
    const waiting = late.map((write) => ({ ...write, hasWaited: true }));
    const waited = { requests: answered, late: waiting, nowMs: nowMs + waitMs, waitsMs: waitsLeft };
    steps.push({ does: `${waitMs / 1_000} s pass`, state: { ...world, ...waited } });
  }
  return steps;
}

/** The edge answers in time; the run goes on when its process gets the processor again, and its answer is dropped. */
async function answeredForIt(request: Request, place: number): Promise<Request> {
  if (!isLive(request) || request.answer !== undefined) return request;
  const standing = await standingOf(request, place);
  return { ...request, answer: 'name' in standing && unbounded.has(standing.name) ? edgeAnswer : noAnswer };
}

function mayWait({ requests, late }: World): boolean {
  return late.every(({ place, number, hasWaited }) => !hasWaited && number >= (requests[place]?.told ?? 0) - 1);
}

/** Their order makes no difference. */
function isAlike(one: Request, other: Request): boolean {
  return one.kind === other.kind && one.keyed === other.keyed && one.wanted === other.wanted;
}

/** Returns the possible results of a request's open call. */
async function stepsOf(world: World, place: number): Promise<Step<World>[]> {
  const request = world.requests[place] as Request;
  const call = await standingOf(request, place);
  if (!('name' in call)) throw new Error('a request that was answered is over');
  const of = `${call.name} of request ${place}`;
  const goOn = async (base: World, reply: { readonly value?: unknown; readonly fails?: true }) => {
    const current = base.requests[place] as Request;
    const replies = [...request.replies, { call: call.number, ...reply, atMs: world.nowMs }];
    const told = { ...current, replies, told: call.number + 1 };
    const next = await standingOf(told, place);
    return withRequest(base, place, 'name' in next ? told : { answer: next, ...over(told) });
  };
  const { store, value } = effectOf(world, place, call);
  const steps = [{ does: of, state: await goOn({ ...world, ...store }, { value }) }];
  if (call.name === 'check' && world.refusalsLeft > 0) {
    const refused = { ...world, refusalsLeft: world.refusalsLeft - 1 };
    steps.push({ does: `${of}: paused`, state: await goOn(refused, { value: 'paused' }) });
  }
  if (world.faultsLeft === 0) return steps;
  const faultsLeft = world.faultsLeft - 1;
  const faulty = { ...world, faultsLeft };
  const done = { ...world, ...store, faultsLeft };
  const again = effectOf(done, place, call);
  const dead = (base: World) => withRequest(base, place, over(base.requests[place] as Request));
  const later = (base: World): World => ({ ...base, late: [...base.late, { ...call, place, hasWaited: false }] });
  if (call.name === 'store') {
    const parts = [{ stored: true }, { entered: true }];
    for (const part of parts) {
      const partly = withDispatch(faulty, dispatchIdOf(place), part);
      steps.push({ does: `${of}, in part: ${Object.keys(part)}`, state: await goOn(partly, { fails: true }) });
    }
  }
  steps.push(
    { does: `${of} fails`, state: await goOn(faulty, { fails: true }) },
    { does: `request ${place} dies at ${call.name}`, state: dead(faulty) },
  );
  if (readsOnly.has(call.name)) return steps;
  steps.push(
    { does: `${of}, its reply lost`, state: await goOn(done, { fails: true }) },
    { does: `request ${place} dies after ${call.name}`, state: dead(done) },
    { does: `${of}, given up, will land late`, state: await goOn(later(faulty), { fails: true }) },
    { does: `${of}, repeated by the SDK`, state: await goOn({ ...done, ...again.store }, { value: again.value }) },
    { does: `${of}, will land once more`, state: await goOn(later(done), { value }) },
    { does: `request ${place} dies, ${call.name} will land late`, state: dead(later(faulty)) },
  );
  return steps;
}

/** How a run came to its end changes no future. */
function over(request: Request): Request {
  return { ...request, replies: [], isOver: true };
}

function withRequest(world: World, place: number, request: Request): World {
  return { ...world, requests: world.requests.with(place, request) };
}

export function keyOf({ late, records, ...world }: World): string {
  // Only the owner of a slice matters.
  const named = (name: string, part: unknown) => (name === 'slice' ? ((part as Slice | null)?.owner ?? null) : part);
  const byKey = Object.entries(records).toSorted();
  return JSON.stringify([world, byKey, late.map((write) => JSON.stringify(write)).toSorted()], named);
}

/**
 * Faults end: the key's remembered request, or the first one, is repeated after all runs, and the consumers read every
 * message. Returns the world after it.
 */
export async function afterOneMore(world: World): Promise<World> {
  const { records, requests } = world;
  const record = records[clientKey];
  const place = requests.length;
  const nowMs = world.nowMs + runOverMs;
  const [first] = requests;
  const kind = record === undefined ? (first?.kind ?? 'straight') : kindOf(record);
  const { wanted } = requests.find((request) => request.kind === kind) ?? {};
  const asked = { kind, keyed: first?.keyed ?? true, wanted };
  const last = { ...requestToCome(asked), startedAtMs: nowMs };
  let next: World = { ...world, nowMs, requests: [...requests, last], faultsLeft: 0, refusalsLeft: 0 };
  while (isLive(next.requests[place] as Request)) {
    const [step] = await stepsOf(next, place);
    if (step === undefined) throw new Error('a request waits for ever');
    next = step.state;
  }
  next = { ...next, nowMs: next.nowMs + undecidedMs };
  for (const at of next.requests.keys()) {
    const step = () => consumed(next.requests[at] as Request, next.nowMs);
    for (let one = step(); one; one = step()) {
      next = withDispatch(next, dispatchIdOf(at), one.changes);
    }
  }
  return next;
}

import { present } from '../../../../lib/keys/present.ts';
import type { Slice } from '../../../../lib/messages/dispatch/claims/slice.ts';
import { noMarks } from '../../../../lib/messages/retry/marks.ts';
import type { Step } from '../../../support/exploration.ts';
import type { Call } from '../../../support/replayed-run.ts';
import {
  type Asked,
  type CallName,
  consumed,
  effectOf,
  jobIdOf,
  kindOf,
  type Request,
  requestToCome,
  type Store,
  standingOf,
  withJob,
} from './job-races-model.ts';

/**
 * A write that its run has given up, or that the SDK has sent twice: it lands once more, at any later moment. No request is on
 * its way for longer than 18 s: only that of a run's last call may land when the run must be over.
 */
interface LateWrite extends Call<CallName> {
  readonly place: number;
  readonly hasWaited: boolean;
}

export interface World extends Store {
  readonly nowMs: number;
  readonly late: readonly LateWrite[];
  /** Calls that fail, are late or come twice, and processes that die, on one way, at most. */
  readonly faultsLeft: number;
  /** Times that the template may turn out to be paused. */
  readonly refusalsLeft: number;
  /** How long nothing happens, one after the other. */
  readonly waitsMs: readonly number[];
}

export type Bounds = Pick<World, 'faultsLeft' | 'refusalsLeft' | 'waitsMs'>;

export const startMs = 1_800_000_000_000;

/** After this long, a run is over. */
export const runOverMs = 35_000;

export function firstWorld(requests: readonly Asked[], bounds: Bounds): World {
  return { record: null, marks: noMarks, requests: requests.map(requestToCome), nowMs: startMs, late: [], ...bounds };
}

/** What is not ended by a signal within seconds: the edge answers for it. */
const unbounded: ReadonlySet<CallName> = new Set(['claim', 'takeOver', 'check', 'findMarks', 'standings', 'mark']);
/** That they are repeated changes nothing. */
const readsOnly: ReadonlySet<CallName> = new Set(['check', 'findMarks', 'standings']);
const edgeAnswer = { code: 'platform_unreachable' };

/** The process was frozen, and its client heard nothing. */
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
    const next = consumed(request);
    if (next !== undefined) {
      steps.push({ does: `${next.does} ${jobIdOf(place)}`, state: withJob(world, jobIdOf(place), next.changes) });
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

/** A run that is not over then goes on whenever its process gets the processor again, and its answer is not heard. */
async function answeredForIt(request: Request, place: number): Promise<Request> {
  if (!isLive(request) || request.answer !== undefined) return request;
  const standing = await standingOf(request, place);
  return { ...request, answer: 'name' in standing && unbounded.has(standing.name) ? edgeAnswer : noAnswer };
}

function mayWait({ requests, late }: World): boolean {
  return late.every(({ place, number, hasWaited }) => !hasWaited && number >= (requests[place]?.told ?? 0) - 1);
}

/** Which of them comes first makes no difference. */
function isAlike(one: Request, other: Request): boolean {
  return one.kind === other.kind && one.keyed === other.keyed && one.wanted === other.wanted;
}

/** What may become of the call that a request waits for. */
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

/** How a run has come to its end changes nothing any more. */
function over(request: Request): Request {
  return { ...request, replies: [], isOver: true };
}

function withRequest(world: World, place: number, request: Request): World {
  return { ...world, requests: world.requests.with(place, request) };
}

export function keyOf({ late, ...world }: World): string {
  // Of a slice, who has it says all.
  const named = (name: string, part: unknown) => (name === 'slice' ? ((part as Slice | null)?.owner ?? null) : part);
  return JSON.stringify([world, late.map((write) => JSON.stringify(write)).toSorted()], named);
}

/**
 * Whatever has happened, once nothing fails any more: the request that the key is remembered for, or the first, is repeated when
 * every run is over, and the fan-out and the workers come to everything. Returns the world after it.
 */
export async function afterOneMore(world: World): Promise<World> {
  const { record, requests } = world;
  const place = requests.length;
  const nowMs = world.nowMs + runOverMs;
  const [first] = requests;
  const kind = record === null ? (first?.kind ?? 'straight') : kindOf(record);
  const { wanted } = requests.find((request) => request.kind === kind) ?? {};
  const asked = { kind, keyed: first?.keyed ?? true, ...present({ wanted }) };
  const last = { ...requestToCome(asked), startedAtMs: nowMs };
  let next: World = { ...world, nowMs, requests: [...requests, last], faultsLeft: 0, refusalsLeft: 0 };
  while (isLive(next.requests[place] as Request)) {
    const [step] = await stepsOf(next, place);
    if (step === undefined) throw new Error('a request waits for ever');
    next = step.state;
  }
  for (const at of next.requests.keys()) {
    for (let step = consumed(next.requests[at] as Request); step; step = consumed(next.requests[at] as Request)) {
      next = withJob(next, jobIdOf(at), step.changes);
    }
  }
  return next;
}

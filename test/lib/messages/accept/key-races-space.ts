import type { Step } from '../../../support/exploration.ts';
import type { Call } from '../../../support/replayed-run.ts';
import {
  type BodyName,
  bodyNameOf,
  type CallName,
  effectOf,
  jobIdOf,
  mayBegin,
  type Request,
  requestToCome,
  type Store,
  standingOf,
  withJob,
} from './key-races-model.ts';

/**
 * A write that its run has given up, or that the SDK has sent twice: it lands once more, at any later moment. No request is on
 * its way for longer than 18 s (fan-out/rounds.ts): only that of a run's last call may land when the run must be over.
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
  readonly waitsMs: readonly number[];
}

export const startMs = 1_800_000_000_000;

/** After this long, a run is over. */
export const runOverMs = 35_000;

export function firstWorld(
  requests: readonly BodyName[],
  bounds: Pick<World, 'faultsLeft' | 'refusalsLeft' | 'waitsMs'>,
): World {
  return { record: null, requests: requests.map(requestToCome), nowMs: startMs, late: [], ...bounds };
}

/** What is not ended by a signal within seconds: the edge answers for it, and its run goes on when it gets the processor. */
const unbounded: ReadonlySet<CallName> = new Set(['claim', 'takeOver', 'lookUp']);
const reads: ReadonlySet<CallName> = new Set(['lookUp']);
const edgeAnswer = { status: 502, code: 'platform_unreachable' };

export const isLive = ({ startedAtMs, isOver }: Request) => startedAtMs !== undefined && !isOver;

export async function successorsOf(world: World): Promise<Step<World>[]> {
  const steps: Step<World>[] = [];
  const { requests, late, nowMs, waitsMs } = world;
  for (const [place, request] of requests.entries()) {
    const isFirst = requests.findIndex((other) => other.startedAtMs === undefined && other.body === request.body);
    if (isFirst === place) {
      const come = { ...request, startedAtMs: nowMs };
      steps.push({ does: `request ${place} comes, body ${request.body}`, state: withRequest(world, place, come) });
    }
    if (mayBegin(request)) {
      const begun = withJob(world, jobIdOf(place), { begun: true });
      steps.push({ does: `somebody begins ${jobIdOf(place)}`, state: begun });
    }
    if (isLive(request)) steps.push(...(await stepsOf(world, place)));
  }
  for (const [at, write] of late.entries()) {
    const { store } = effectOf(world, write.place, write);
    const landed = { ...world, ...store, late: late.toSpliced(at, 1) };
    steps.push({ does: `${write.name} of request ${write.place} lands late`, state: landed });
  }
  const [waitMs, ...waitsLeft] = waitsMs;
  if (waitMs !== undefined && (await mayWait(world))) {
    const answered = requests.map((request) => (isLive(request) ? { answer: edgeAnswer, ...request } : request));
    const waiting = late.map((write) => ({ ...write, hasWaited: true }));
    const waited = { ...world, requests: answered, late: waiting, nowMs: nowMs + waitMs, waitsMs: waitsLeft };
    steps.push({ does: `${waitMs / 1_000} s pass`, state: waited });
  }
  return steps;
}

async function mayWait({ requests, late }: World): Promise<boolean> {
  for (const { place, number, hasWaited } of late) {
    if (hasWaited || number < (requests[place]?.told ?? 0) - 1) return false;
  }
  for (const [place, request] of requests.entries()) {
    if (!isLive(request)) continue;
    const standing = await standingOf(request, place);
    if ('call' in standing && !unbounded.has(standing.call.name)) return false;
  }
  return true;
}

/** What may become of the call that a request waits for. */
async function stepsOf(world: World, place: number): Promise<Step<World>[]> {
  const request = world.requests[place] as Request;
  const standing = await standingOf(request, place);
  if ('answer' in standing) throw new Error('a request that was answered is over');
  const { call } = standing;
  const { name, number } = call;
  const of = `${name} of request ${place}`;
  const goOn = async (base: World, reply: { readonly value?: unknown; readonly fails?: true }) => {
    const current = base.requests[place] as Request;
    const replies = [...request.replies, { call: number, ...reply, atMs: world.nowMs }];
    const told = { ...current, replies, told: number + 1 };
    const next = await standingOf(told, place);
    return withRequest(base, place, 'answer' in next ? { answer: next.answer, ...over(told) } : told);
  };
  const { store, value } = effectOf(world, place, call);
  const done = { ...world, ...store };
  const steps = [{ does: of, state: await goOn(done, { value }) }];
  if (name === 'lookUp' && world.refusalsLeft > 0) {
    const refused = { ...world, refusalsLeft: world.refusalsLeft - 1 };
    steps.push({ does: `${of}: paused`, state: await goOn(refused, { value: 'PAUSED' }) });
  }
  if (world.faultsLeft === 0) return steps;
  const faultsLeft = world.faultsLeft - 1;
  const faulty = { ...world, faultsLeft };
  const faultyDone = { ...done, faultsLeft };
  const later = (base: World): World => ({ ...base, late: [...base.late, { ...call, place, hasWaited: false }] });
  const dead = (base: World) => withRequest(base, place, over(base.requests[place] as Request));
  steps.push(
    { does: `${of} fails`, state: await goOn(faulty, { fails: true }) },
    { does: `request ${place} dies at ${name}`, state: dead(faulty) },
  );
  if (reads.has(name)) return steps;
  const again = effectOf(faultyDone, place, call);
  steps.push(
    { does: `${of}, its reply lost`, state: await goOn(faultyDone, { fails: true }) },
    { does: `${of}, given up, will land late`, state: await goOn(later(faulty), { fails: true }) },
    {
      does: `${of}, repeated by the SDK`,
      state: await goOn({ ...faultyDone, ...again.store }, { value: again.value }),
    },
    { does: `${of}, will land once more`, state: await goOn(later(faultyDone), { value }) },
    { does: `request ${place} dies after ${name}`, state: dead(faultyDone) },
    { does: `request ${place} dies, ${name} will land late`, state: dead(later(faulty)) },
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
  return JSON.stringify([world, late.map((write) => JSON.stringify(write)).toSorted()]);
}

/**
 * Whatever has happened, once nothing fails any more: the request that the key is remembered for, repeated when every run is
 * over. Returns the world in which it was answered, and the fan-out has come to everything.
 */
export async function afterOneMore(world: World): Promise<World> {
  const body = world.record === null ? 'a' : bodyNameOf(world.record);
  const place = world.requests.length;
  const nowMs = world.nowMs + runOverMs;
  let next: World = { ...world, nowMs, requests: [...world.requests, { ...requestToCome(body), startedAtMs: nowMs }] };
  next = { ...next, faultsLeft: 0, refusalsLeft: 0 };
  while (isLive(next.requests[place] as Request)) {
    const [step] = await stepsOf(next, place);
    if (step === undefined) throw new Error('a request waits for ever');
    next = step.state;
  }
  for (const [at, request] of next.requests.entries()) {
    if (mayBegin(request)) next = withJob(next, jobIdOf(at), { begun: true });
  }
  return next;
}

import { clockSkewMs, type LockRequest, leaseMs } from './sync-lock.ts';

/*
 * Whose turn it is when several want the synchronization lock (D22). Every acquisition is a run, numbered by its fence. Who is
 * refused is remembered; a run that ends leaves the lock to those who wait, for a short time:
 *
 *   free ──acquire──> held ──release──> kept for those who wait ──5 s, or one of them──> free / held
 *                       └──lease ends (the holder has died)──> free
 *
 * Acquiring and releasing is the holder's. Being remembered is everybody's who is refused, and ends with a run of one's own,
 * after 30 s without asking, or when one lets the 5 s pass. While somebody waits, each other has one run at the most: so those
 * who keep asking get the same number of runs, and no clock decides who is first.
 */

/** Who was refused is remembered for so long after having asked. */
export const rememberedMs = 30_000;

/** For so long after a run the lock is kept for those who wait. Who does not come back costs the others no more. */
export const keptMs = 5_000;

/** Everybody else is refused all the same, and comes after. */
export const maxWaiting = 20;

/** Who has just asked is not written down again. */
const rewriteAfterMs = 1_000;

export interface Waiting {
  /** The first run that others had, or will have, while this one waits. */
  readonly sinceRun: number;
  readonly askedAtMs: number;
}

/** The lock as it is stored. */
export interface LockState {
  /** Of the latest run. */
  readonly owner: string;
  /** The number of the latest run. */
  readonly fence: number;
  /** 0 when the latest run has ended. */
  readonly leaseUntilMs: number;
  /** When the latest run ended; undefined while it lasts. */
  readonly releasedAtMs: number | undefined;
  /** By contender, their latest run: of those who have had one while somebody waited, and of the latest holder. */
  readonly runs: ReadonlyMap<string, number>;
  /** By contender, who was refused and has not had a run since. */
  readonly waiting: ReadonlyMap<string, Waiting>;
}

/** `fence` is the number of the latest run. */
export type LockAnswer =
  /** A repetition of the request that got the lock. */
  | { readonly kind: 'held_already'; readonly fence: number }
  | { readonly kind: 'acquired'; readonly state: LockState }
  | ({ readonly kind: 'refused'; readonly fence: number } & Refused);

export interface Refused {
  /** To be remembered; undefined when it is known, or has no place. */
  readonly waiting: Waiting | undefined;
  /** Who has not asked for too long, and goes in the same write. */
  readonly forgotten: readonly string[];
}

/** Answers a request by the state as it was read; undefined before the first run. */
export function answerTo(state: LockState | undefined, request: LockRequest): LockAnswer {
  if (state === undefined) return { kind: 'acquired', state: run(noRuns, request) };
  const { nowMs } = request;
  const held = state.leaseUntilMs > 0 && nowMs <= state.leaseUntilMs + clockSkewMs;
  const { fence } = state;
  if (held && state.owner === request.owner) return { kind: 'held_already', fence };
  if (held || mustWait(state, request)) {
    const forgotten = [...state.waiting].filter(([, each]) => !isWaiting(each, nowMs)).map(([other]) => other);
    const known = { ...state, waiting: without(state.waiting, forgotten) };
    return { kind: 'refused', fence, waiting: toRemember(known, request, held), forgotten };
  }
  return { kind: 'acquired', state: run(state, request) };
}

/** What the next run needs to know of the ones before. */
type EarlierRuns = Pick<LockState, 'fence' | 'releasedAtMs' | 'runs' | 'waiting'>;

const never = Number.NEGATIVE_INFINITY;
const noRuns: EarlierRuns = { fence: 0, releasedAtMs: undefined, runs: new Map(), waiting: new Map() };

/** Whether the lock is kept for somebody else: who has waited through a run of this one, or waits while this one does not. */
function mustWait(state: LockState, { contender, nowMs }: LockRequest): boolean {
  if (!isKept(state, nowMs)) return false;
  const waits = isWaiting(state.waiting.get(contender), nowMs);
  const latestRun = state.runs.get(contender) ?? 0;
  // Who waits has had no run since, so that its own waiting is not in its way.
  return [...state.waiting.values()].some(
    (waiting) => isWaiting(waiting, nowMs) && (!waits || waiting.sinceRun <= latestRun),
  );
}

function without<Value>(map: ReadonlyMap<string, Value>, names: readonly string[]): ReadonlyMap<string, Value> {
  return new Map([...map].filter(([name]) => !names.includes(name)));
}

function isKept({ releasedAtMs = never }: EarlierRuns, nowMs: number): boolean {
  return nowMs < releasedAtMs + keptMs;
}

function isWaiting(waiting: Waiting | undefined, nowMs: number): boolean {
  return waiting !== undefined && nowMs <= waiting.askedAtMs + rememberedMs;
}

function toRemember(state: LockState, { contender, nowMs }: LockRequest, held: boolean): Waiting | undefined {
  // The holder's own further requests make it no candidate for the next run.
  if (held && state.runs.get(contender) === state.fence) return undefined;
  const before = state.waiting.get(contender);
  if (before === undefined) {
    if (state.waiting.size >= maxWaiting) return undefined;
    return { sinceRun: held ? state.fence : state.fence + 1, askedAtMs: nowMs };
  }
  return nowMs - before.askedAtMs < rewriteAfterMs ? undefined : { ...before, askedAtMs: nowMs };
}

/** The state in which the one who asks has the lock. */
function run(state: EarlierRuns, { owner, contender, nowMs }: LockRequest): LockState {
  const { releasedAtMs = never } = state;
  // Whoever has let the time pass for which the lock was kept has had the chance.
  const missed = ({ askedAtMs }: Waiting) => !isKept(state, nowMs) && askedAtMs <= releasedAtMs;
  const waiting = new Map(
    [...state.waiting].filter(([other, each]) => other !== contender && isWaiting(each, nowMs) && !missed(each)),
  );
  const fence = state.fence + 1;
  // Runs before anybody waited decide nothing.
  const from = Math.min(state.fence, ...[...waiting.values()].map(({ sinceRun }) => sinceRun));
  const runs = new Map([...state.runs].filter(([, number]) => number >= from)).set(contender, fence);
  return { owner, fence, leaseUntilMs: nowMs + leaseMs, releasedAtMs: undefined, runs, waiting };
}

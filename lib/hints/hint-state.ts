import type { Lease } from '../aws/lease.ts';
import { maxDelaySeconds } from '../aws/queue-body.ts';
import {
  asWhole,
  callsOfId,
  callsReservedFor,
  isEmptyTask,
  mergedTasks,
  noTask,
  partedTask,
  type RefreshTask,
} from './refresh-task.ts';

/*
 * One item under compare-and-set decides when a WABA's hints are read (D42). The first hint is read at once; later ones
 * gather for the next turn, 10 s later or once calls are available.
 */

/** A worker may not run for so long: a holder past its lease is dead, and the next turn takes over. */
export const turnLeaseMs = 70_000;
export const gatherMs = 10_000;
/** Hints share this much of the platform's 200 calls an hour and WABA (platform reference, 4.4). */
export const callsAnHour = 60;
/** Up to this number of calls, nothing is spread over the hour. */
const readyCalls = 20;
const hourMs = 3_600_000;
const longestWaitMs = maxDelaySeconds * 1_000;

/** A turn reserves calls at its start. Its end returns unused ones; a crash leaves them counted. */
interface Spent {
  readonly turn: number;
  readonly beganAtMs: number;
  readonly calls: number;
}

/** The position in the WABA's list is opaque here. */
export type ListingMark = Readonly<Record<string, unknown>>;

export interface HintState {
  readonly gathered: RefreshTask;
  /** The latest turn reads this, or has left it. It stays in the item until it is read. */
  readonly reading: RefreshTask;
  /** A list was too long for one turn; the next one continues it before all gathered hints. */
  readonly listing?: ListingMark;
  /** The latest turn reads single templates, because the calls are too few to continue the list. */
  readonly beforeListing?: true;
  readonly turn: number;
  readonly lease?: Lease<number>;
  readonly readyAtMs: number;
  /** No list is read before: the last one used up so much of the hour. */
  readonly listsAtMs?: number;
  readonly spent: readonly Spent[];
  /** The earliest wake message is due then; 0 means that none is known. */
  readonly wakeAtMs: number;
  /** This many consecutive turns could not read. */
  readonly failures: number;
}

export const idle: HintState = {
  gathered: noTask,
  reading: noTask,
  turn: 0,
  readyAtMs: 0,
  spent: [],
  wakeAtMs: 0,
  failures: 0,
};

export interface Turn {
  readonly turn: number;
  readonly task: RefreshTask;
  readonly listing?: ListingMark;
  readonly calls: number;
}

export type Step =
  | { readonly kind: 'read'; readonly turn: Turn }
  | { readonly kind: 'wake'; readonly atMs: number }
  | { readonly kind: 'done' };

export interface Change {
  readonly state: HintState;
  readonly step: Step;
}

/**
 * A worker that cannot begin a turn must have a wake under way before it acknowledges its message, so no hint is
 * forgotten. `wakesAtMs` are the times of arrived wakes.
 */
export function hintsArrived(
  state: HintState,
  { task, wakesAtMs }: { readonly task: RefreshTask; readonly wakesAtMs: readonly number[] },
  nowMs: number,
): Change {
  const woken = wakesAtMs.includes(state.wakeAtMs) ? { ...state, wakeAtMs: 0 } : state;
  return next({ ...woken, gathered: mergedTasks(woken.gathered, task) }, nowMs);
}

export interface Ending {
  readonly turn: number;
  readonly left: RefreshTask;
  /** The turn stopped at this position of the list, if it has not reached the end. */
  readonly listing?: ListingMark;
  readonly callsMade: number;
  readonly failed: boolean;
  readonly retryAfterMs?: number;
}

/** Ends a turn; changes nothing after a takeover. */
export function turnEnded(state: HintState, ending: Ending, nowMs: number): Change {
  if (state.lease?.owner !== ending.turn) return { state, step: { kind: 'done' } };
  const spent = state.spent.map((each) => (each.turn === ending.turn ? { ...each, calls: ending.callsMade } : each));
  const failures = ending.failed ? state.failures + 1 : 0;
  const { listing, beforeListing, lease: _over, ...rest } = state;
  const after = { ...rest, spent, failures };
  const { everyMs, listMs } = pausesMs(after, ending, nowMs);
  // What a list has used up of the hour delays the next list, and no single template.
  const wasList = state.reading.everything;
  const readyAtMs = nowMs + (wasList ? everyMs : Math.max(everyMs, listMs));
  const times = wasList && listMs > everyMs ? { readyAtMs, listsAtMs: nowMs + listMs } : { readyAtMs };
  if (beforeListing && listing !== undefined) {
    const gathered = mergedTasks(state.gathered, ending.left);
    return next({ ...after, ...times, reading: wholeList, gathered, listing }, nowMs);
  }
  if (ending.listing !== undefined) {
    const others = mergedTasks(state.gathered, { ...ending.left, everything: false });
    return next({ ...after, ...times, reading: wholeList, gathered: others, listing: ending.listing }, nowMs);
  }
  return next({ ...after, ...times, reading: noTask, gathered: mergedTasks(state.gathered, ending.left) }, nowMs);
}

/** Notes a sent wake. A crash before the note duplicates a message, which then finds nothing to do. */
export function wakeSent(state: HintState, atMs: number, nowMs: number): HintState {
  const known = state.wakeAtMs > nowMs && state.wakeAtMs <= atMs;
  return known ? state : { ...state, wakeAtMs: atMs };
}

const wholeList: RefreshTask = { ...noTask, everything: true };

function next(state: HintState, nowMs: number): Change {
  const { listing, beforeListing: _over, ...rest } = state;
  const all = mergedTasks(state.reading, state.gathered);
  if (isEmptyTask(all)) return { state, step: { kind: 'done' } };
  // A list that was begun is continued before all gathered hints; only single templates may go before it.
  const open = listing === undefined ? all : { ...wholeList, templateIds: all.templateIds };
  const atMs = Math.max(state.lease?.untilMs ?? 0, state.readyAtMs, affordableAtMs(state, open, nowMs));
  const calls = callsAnHour - callsSpent(state.spent, nowMs);
  const parted = atMs > nowMs ? undefined : partedTask(open, { calls, mayList: nowMs >= (state.listsAtMs ?? 0) });
  if (parted === undefined) return { state, step: wake(state, Math.min(atMs, nowMs + longestWaitMs), nowMs) };
  const { now: task, later } = parted;
  const turn = begunTurn(state, task, nowMs);
  if (listing === undefined) return begin({ ...rest, ...turn, reading: task, gathered: later }, { task });
  const gathered = { ...all, everything: state.gathered.everything };
  if (task.everything) return begin({ ...rest, ...turn, reading: task, gathered, listing }, { task, listing });
  const others = { ...gathered, templateIds: later.templateIds };
  return begin({ ...rest, ...turn, reading: task, gathered: others, listing, beforeListing: true }, { task });
}

function begunTurn({ turn: latest, spent }: HintState, task: RefreshTask, nowMs: number) {
  const turn = latest + 1;
  const reserved = { turn, beganAtMs: nowMs, calls: callsReservedFor(task) };
  return {
    turn,
    spent: [...spent.filter((each) => countsUntilMs(each) > nowMs), reserved],
    lease: { owner: turn, untilMs: nowMs + turnLeaseMs },
  };
}

function begin(state: HintState, read: Pick<Turn, 'task' | 'listing'>): Change {
  const turn = { turn: state.turn, calls: callsReservedFor(read.task), ...read };
  return { state, step: { kind: 'read', turn } };
}

/** Returns when the calls allow to read something of the task: all of it, or a single template. */
function affordableAtMs({ spent, listsAtMs = 0 }: HintState, task: RefreshTask, nowMs: number): number {
  const whole = asWhole(task);
  const wholeAtMs = Math.max(whole.everything ? listsAtMs : 0, enoughAtMs(spent, callsReservedFor(whole), nowMs));
  return task.templateIds.length === 0 ? wholeAtMs : Math.min(wholeAtMs, enoughAtMs(spent, callsOfId, nowMs));
}

/** A wake that is early enough need not be sent again. */
function wake(state: HintState, atMs: number, nowMs: number): Step {
  const known = state.wakeAtMs > nowMs && state.wakeAtMs <= atMs;
  return known ? { kind: 'done' } : { kind: 'wake', atMs };
}

/** A turn may call until its lease ends, so its calls count for that long. */
function countsUntilMs({ beganAtMs }: Spent): number {
  return beganAtMs + turnLeaseMs + hourMs;
}

function callsSpent(spent: readonly Spent[], nowMs: number): number {
  return spent.filter((each) => countsUntilMs(each) > nowMs).reduce((sum, { calls }) => sum + calls, 0);
}

function enoughAtMs(spent: readonly Spent[], calls: number, nowMs: number): number {
  const times = [nowMs, ...spent.map(countsUntilMs).filter((atMs) => atMs > nowMs)].sort((a, b) => a - b);
  return times.find((atMs) => callsSpent(spent, atMs) + calls <= callsAnHour) ?? nowMs + hourMs + turnLeaseMs;
}

/**
 * Returns the pauses after a turn: before any other a moment, and a backoff that doubles with every failure; before a
 * list also the turn's share of the hour.
 */
function pausesMs({ spent, failures }: HintState, { callsMade, retryAfterMs = 0 }: Ending, nowMs: number) {
  const share = callsSpent(spent, nowMs) <= readyCalls ? 0 : (callsMade * hourMs) / callsAnHour;
  const backoff = failures === 0 ? 0 : Math.min(hourMs, 60_000 * 2 ** (failures - 1));
  return { everyMs: Math.max(gatherMs, backoff, Math.min(retryAfterMs, hourMs)), listMs: share };
}

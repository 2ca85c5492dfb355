import type { Lease } from '../aws/lease.ts';
import { maxDelaySeconds } from '../aws/queue-body.ts';
import { callsFor, isNothing, nothing, type Task, together } from './task.ts';

/*
 * When the hints of a WABA are acted on (D42). One item holds what is to be read; each change of it is written under the
 * condition that it is as it was read.
 *
 *   idle ──hint──> reading                            the first one acts at once
 *   reading ──hint──> reading, more gathered          the next turn reads it
 *   reading ──the turn ends──> idle, or waiting       waiting when more was gathered, or when something could not be read
 *   waiting ──hint──> waiting, more gathered
 *   waiting ──wake message──> reading                 10 s after the turn before, or when there are calls again
 *   reading ──lease ends (its worker has died)──> waiting
 *
 * Gathering is everybody's who has a hint; beginning a turn is whoever finds it ready; ending it is the turn's own, by its
 * number. Who gathers and cannot begin sees to it that a message is under way that will look again, before it
 * acknowledges its own: it sends one, and then notes its time. A crash between the two doubles a message, which finds
 * nothing to do. So nothing that was gathered waits for a message that does not exist. What is being read stays in the
 * item until it has been read, and a turn that never ends hands it to the next.
 *
 * Calls are put aside when a turn begins, and what it did not use is given back when it ends. A crash leaves them counted.
 */

/** Longer than a worker may run: who holds the turn is at work, or dead. */
export const turnLeaseMs = 70_000;
/** How long further hints are gathered after a turn. */
export const gatherMs = 10_000;
/** Of the 200 calls an hour that the platform gives a WABA (platform reference, 4.4), for hints. */
export const callsAnHour = 60;
/** As long as so few are used, nothing is spread over the hour. */
const readyCalls = 20;
const hourMs = 3_600_000;
const longestWaitMs = maxDelaySeconds * 1_000;

/** Calls of one turn, made within its lease. */
interface Spent {
  readonly turn: number;
  readonly beganAtMs: number;
  readonly calls: number;
}

/** Where the list of the WABA stands; what is in it is nobody's business here. */
export type ListingMark = Readonly<Record<string, unknown>>;

export interface HintState {
  readonly gathered: Task;
  /** What the latest turn reads, or has left behind. */
  readonly reading: Task;
  /** Set when a list was too long for one turn: the next one goes on with it, before anything that was gathered. */
  readonly listing?: ListingMark;
  /** The number of the latest turn. */
  readonly turn: number;
  /** Of the latest turn, while it is under way. */
  readonly lease?: Lease<number>;
  readonly readyAtMs: number;
  readonly spent: readonly Spent[];
  /** For when the earliest wake message is meant; 0 when none is known of. */
  readonly wakeAtMs: number;
  /** Turns in a row that could not read. */
  readonly failures: number;
}

export const idle: HintState = {
  gathered: nothing,
  reading: nothing,
  turn: 0,
  readyAtMs: 0,
  spent: [],
  wakeAtMs: 0,
  failures: 0,
};

export interface Turn {
  readonly turn: number;
  readonly task: Task;
  readonly listing?: ListingMark;
  readonly calls: number;
}

/** What whoever has just changed the state has to do. */
export type Step =
  | { readonly kind: 'read'; readonly turn: Turn }
  | { readonly kind: 'wake'; readonly atMs: number }
  | { readonly kind: 'done' };

export interface Change {
  readonly state: HintState;
  readonly step: Step;
}

/** Hints and wake messages have arrived; `wakesAtMs` are the times for which those were meant. */
export function arrived(
  state: HintState,
  { task, wakesAtMs }: { readonly task: Task; readonly wakesAtMs: readonly number[] },
  nowMs: number,
): Change {
  const woken = wakesAtMs.includes(state.wakeAtMs) ? { ...state, wakeAtMs: 0 } : state;
  return next({ ...woken, gathered: together(woken.gathered, task) }, nowMs);
}

/** How a turn has ended. */
export interface Ending {
  readonly turn: number;
  /** What could not be read. */
  readonly left: Task;
  /** Where the list stands, when that is what is left. */
  readonly listing?: ListingMark;
  readonly callsMade: number;
  readonly failed: boolean;
  /** How long the platform wants not to be asked. */
  readonly retryAfterMs?: number;
}

/** The turn has ended; nothing changes when another one has taken over. */
export function ended(state: HintState, ending: Ending, nowMs: number): Change {
  if (state.lease?.owner !== ending.turn) return { state, step: { kind: 'done' } };
  const spent = state.spent.map((each) => (each.turn === ending.turn ? { ...each, calls: ending.callsMade } : each));
  const failures = ending.failed ? state.failures + 1 : 0;
  const { listing: _, lease: _over, ...rest } = state;
  const after = { ...rest, spent, failures };
  const readyAtMs = nowMs + pauseMs(after, ending, nowMs);
  if (ending.listing !== undefined) {
    const others = together(state.gathered, { ...ending.left, everything: false });
    const { listing } = ending;
    return next({ ...after, readyAtMs, reading: { ...nothing, everything: true }, gathered: others, listing }, nowMs);
  }
  return next({ ...after, readyAtMs, reading: nothing, gathered: together(state.gathered, ending.left) }, nowMs);
}

/** A wake message is under way. */
export function waking(state: HintState, atMs: number, nowMs: number): HintState {
  const known = state.wakeAtMs > nowMs && state.wakeAtMs <= atMs;
  return known ? state : { ...state, wakeAtMs: atMs };
}

/** What is to be done in this state. */
function next(state: HintState, nowMs: number): Change {
  const goesOn = state.listing !== undefined;
  const task = goesOn ? state.reading : together(state.reading, state.gathered);
  if (isNothing(task)) return { state, step: { kind: 'done' } };
  const atMs = Math.max(state.lease?.untilMs ?? 0, state.readyAtMs, enoughAtMs(state.spent, callsFor(task), nowMs));
  if (atMs > nowMs) return { state, step: wake(state, Math.min(atMs, nowMs + longestWaitMs), nowMs) };
  const turn = state.turn + 1;
  const calls = callsFor(task);
  const spent = [...state.spent.filter((each) => countsUntilMs(each) > nowMs), { turn, beganAtMs: nowMs, calls }];
  const gathered = goesOn ? state.gathered : nothing;
  const lease = { owner: turn, untilMs: nowMs + turnLeaseMs };
  const begun = { ...state, turn, reading: task, gathered, spent, lease };
  const { listing } = state;
  return { state: begun, step: { kind: 'read', turn: { turn, task, calls, ...(listing && { listing }) } } };
}

/** A message that is known to come early enough need not be sent again. */
function wake(state: HintState, atMs: number, nowMs: number): Step {
  const known = state.wakeAtMs > nowMs && state.wakeAtMs <= atMs;
  return known ? { kind: 'done' } : { kind: 'wake', atMs };
}

/** A call may be made as late as its turn's lease ends: so long it counts. */
function countsUntilMs({ beganAtMs }: Spent): number {
  return beganAtMs + turnLeaseMs + hourMs;
}

function callsSpent(spent: readonly Spent[], nowMs: number): number {
  return spent.filter((each) => countsUntilMs(each) > nowMs).reduce((sum, { calls }) => sum + calls, 0);
}

/** The first time from now at which there are so many calls. */
function enoughAtMs(spent: readonly Spent[], calls: number, nowMs: number): number {
  const times = [nowMs, ...spent.map(countsUntilMs).filter((atMs) => atMs > nowMs)].sort((a, b) => a - b);
  return times.find((atMs) => callsSpent(spent, atMs) + calls <= callsAnHour) ?? nowMs + hourMs + turnLeaseMs;
}

/** How long nothing is read after a turn: a moment, then its share of the hour, then longer with every failure. */
function pauseMs({ spent, failures }: HintState, { callsMade, retryAfterMs = 0 }: Ending, nowMs: number): number {
  const share = callsSpent(spent, nowMs) <= readyCalls ? 0 : (callsMade * hourMs) / callsAnHour;
  const backoff = failures === 0 ? 0 : Math.min(hourMs, 60_000 * 2 ** (failures - 1));
  return Math.max(gatherMs, share, backoff, Math.min(retryAfterMs, hourMs));
}

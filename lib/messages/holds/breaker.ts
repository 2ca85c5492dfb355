import { PlatformFailure } from '../../platform/failure.ts';
import { rowMs } from './hold.ts';

/**
 * What is known of a platform that may be down as a whole. While it is open no worker hands anything over: a call without an
 * answer leaves open whether the message was taken, and ends `unknown` (D29). What concerns one number is held with that number
 * (holds/hold.ts).
 */
export interface Breaker {
  /** Writes so far; 0: nothing is stored. */
  readonly version: number;
  /** WABAs of which a number was held in silence although reads were answered, and when the last one was. */
  readonly silentWabas: Readonly<Record<string, number>>;
  readonly open?: OpenBreaker;
}

export interface OpenBreaker {
  readonly sinceMs: number;
  /** No worker asks the platform before; the one that is asking has moved it to the end of its lease. */
  readonly probeAtMs: number;
  readonly failedProbes: number;
}

export const unknownBreaker: Breaker = { version: 0, silentWabas: {} };

/** A read of the platform is given up after this. */
export const probeTimeoutMs = 5_000;

/** Longer than a probe takes with its two writes: a worker that holds the lease longer has died. */
const probeLeaseMs = probeTimeoutMs + 3_000;

const firstWaitMs = 5_000;
const longestWaitMs = 30_000;

/** Copies come back spread over so long after the probe: the first of them asks, the others find its answer. */
const spreadMs = 4_000;

/**
 * What a call says of the platform and of its number: what became of the message; that there is an answer, which leaves that open;
 * nothing at all; or the call never got so far.
 */
export type Answer = 'clear' | 'open' | 'silent' | 'none';

/**
 * An answer that can be read is one, whatever its HTTP status. One about a person says nothing of the number, however often it
 * comes.
 */
export function answerIn(error: unknown): Answer {
  if (!(error instanceof PlatformFailure)) return 'none';
  if (error.kind === 'refused' || error.provesNothingDone) return 'clear';
  if (error.isOfPerson) return 'none';
  return error.facts.code === undefined ? 'silent' : 'open';
}

export interface Call {
  readonly atMs: number;
  readonly answer: Answer;
  /** Of an answer that leaves open what became of the message, and of none: how its report names it. */
  readonly code?: string;
}

/** The last of the calls without a clear answer, where no call that began later had one. */
export function silenceOf(calls: readonly Call[]): Call | undefined {
  const clearMs = Math.max(...calls.filter(({ answer }) => answer === 'clear').map(({ atMs }) => atMs));
  const unclear = calls.filter(({ answer, atMs }) => (answer === 'open' || answer === 'silent') && atMs > clearMs);
  return unclear.toSorted((one, other) => one.atMs - other.atMs).at(-1);
}

/** Each of these returns the breaker as it is to be stored, or undefined where nothing is to change. */
export type BreakerRule = (breaker: Breaker) => Breaker | undefined;

/** After a run that ended in silence, and a read that was not answered either: the platform is down. */
export function opened(nowMs: number): BreakerRule {
  return (breaker) => (breaker.open === undefined ? withOpen(breaker, nowMs) : undefined);
}

/** After a number was held in silence: where numbers of several WABAs were at once, it is the platform that is down. */
export function afterSilentNumber(wabaId: string, nowMs: number): BreakerRule {
  return (breaker) => {
    const recent = Object.entries(breaker.silentWabas).filter(([, atMs]) => nowMs - atMs < rowMs);
    const silent = { ...breaker, silentWabas: { ...Object.fromEntries(recent), [wabaId]: nowMs } };
    return breaker.open === undefined && isSuspected(silent, nowMs) ? withOpen(silent, nowMs) : silent;
  };
}

/** Whether numbers of several WABAs fell silent lately, although reads were answered, and none of them answered since. */
export function isSuspected({ silentWabas }: Breaker, nowMs: number): boolean {
  return Object.values(silentWabas).filter((atMs) => nowMs - atMs < rowMs).length > 1;
}

/** After a clear answer to a message of the WABA. */
export function afterAnswer(wabaId: string): BreakerRule {
  return (breaker) => {
    const { [wabaId]: known, ...silentWabas } = breaker.silentWabas;
    return known === undefined ? undefined : { ...breaker, silentWabas };
  };
}

/** For workers that want to ask the platform: one at a time, when it is time. */
export function leased(nowMs: number): BreakerRule {
  return (breaker) =>
    breaker.open === undefined || breaker.open.probeAtMs > nowMs
      ? undefined
      : { ...breaker, open: { ...breaker.open, probeAtMs: nowMs + probeLeaseMs } };
}

/** Any answer closes it. */
export const closed: BreakerRule = ({ open, ...breaker }) => (open === undefined ? undefined : breaker);

export function stillOpen(nowMs: number): BreakerRule {
  return (breaker) => {
    if (breaker.open === undefined) return undefined;
    const failedProbes = breaker.open.failedProbes + 1;
    return { ...breaker, open: { ...breaker.open, failedProbes, probeAtMs: nowMs + waitMs(failedProbes) } };
  };
}

/** Seconds that a message waits in the queue for an open breaker (`random` in [0, 1)). */
export function heldBackSeconds({ probeAtMs }: OpenBreaker, nowMs: number, random: number): number {
  return Math.ceil((Math.max(0, probeAtMs - nowMs) + random * spreadMs) / 1_000);
}

function withOpen(breaker: Breaker, nowMs: number): Breaker {
  return { ...breaker, open: { sinceMs: nowMs, probeAtMs: nowMs + waitMs(0), failedProbes: 0 } };
}

function waitMs(steps: number): number {
  return Math.min(longestWaitMs, firstWaitMs * 2 ** steps);
}

/** Where the breaker of the platform is kept. Both throw when the store cannot be reached. */
export interface Breakers {
  /** Eventually consistent. */
  find(): Promise<Breaker>;
  /**
   * Changes it under the condition that it is as it was `seen`; when another writer was first, the rule is asked again with
   * what that one left, a few times. Returns what this call has stored; undefined when the rule changes nothing, or others
   * were always first.
   */
  change(seen: Breaker, rule: BreakerRule): Promise<Breaker | undefined>;
}

import { PlatformFailure } from '../../platform/failure.ts';
import { consecutiveWithinMs } from './hold.ts';

/**
 * While the platform's circuit breaker is open no worker calls: a message without an answer ends `unknown` (D29). A
 * silent number has a hold of its own (holds/hold.ts).
 */
export interface Breaker {
  /** The version counts writes, and is 0 if nothing is stored. */
  readonly version: number;
  /** These WABAs have a number held for silence although reads were answered; each has its last time. */
  readonly silentWabas: Readonly<Record<string, number>>;
  readonly open?: OpenBreaker;
}

export interface OpenBreaker {
  readonly sinceMs: number;
  /** No worker probes before this time. The probing worker has moved it to the end of its lease. */
  readonly probeAtMs: number;
  readonly failedProbes: number;
}

export const unknownBreaker: Breaker = { version: 0, silentWabas: {} };

export const probeTimeoutMs = 5_000;

/** A probe with its two writes is shorter: a worker that holds the lease longer is dead. */
const probeLeaseMs = probeTimeoutMs + 3_000;

const firstWaitMs = 5_000;
const longestWaitMs = 30_000;

/** Copies return spread over this time after the probe: the first one probes, the others find its result. */
const spreadMs = 4_000;

/** A call proves the message's fate, an unclear answer, silence, or nothing, because it never got so far. */
export type Answer = 'clear' | 'open' | 'silent' | 'none';

/** Any readable answer counts, whatever its HTTP status. An answer about a person says nothing about the number. */
export function answerIn(error: unknown): Answer {
  if (!(error instanceof PlatformFailure)) return 'none';
  if (error.kind === 'refused' || error.provesNothingDone) return 'clear';
  if (error.isOfPerson) return 'none';
  return error.facts.code === undefined ? 'silent' : 'open';
}

export interface Call {
  readonly atMs: number;
  readonly answer: Answer;
  /** An unclear answer or none has this name in the report. */
  readonly code?: string;
}

/** Returns the last call without a clear answer, if no later call had one. */
export function silenceOf(calls: readonly Call[]): Call | undefined {
  const clearMs = Math.max(...calls.filter(({ answer }) => answer === 'clear').map(({ atMs }) => atMs));
  const unclear = calls.filter(({ answer, atMs }) => (answer === 'open' || answer === 'silent') && atMs > clearMs);
  return unclear.toSorted((one, other) => one.atMs - other.atMs).at(-1);
}

/** Returns the breaker to store, or undefined for no change. */
export type BreakerRule = (breaker: Breaker) => Breaker | undefined;

/** Opens the breaker after a silent run and an unanswered probe: the platform is down. */
export function opened(nowMs: number): BreakerRule {
  return (breaker) => (breaker.open === undefined ? withOpen(breaker, nowMs) : undefined);
}

/** Notes a number held for silence: if numbers of several WABAs were, the platform is down. */
export function afterSilentNumber(wabaId: string, nowMs: number): BreakerRule {
  return (breaker) => {
    const recent = Object.entries(breaker.silentWabas).filter(([, atMs]) => nowMs - atMs < consecutiveWithinMs);
    const silent = { ...breaker, silentWabas: { ...Object.fromEntries(recent), [wabaId]: nowMs } };
    return breaker.open === undefined && isSuspected(silent, nowMs) ? withOpen(silent, nowMs) : silent;
  };
}

/**
 * Tells whether numbers of several WABAs fell silent lately although reads were answered, and have not answered since.
 */
export function isSuspected({ silentWabas }: Breaker, nowMs: number): boolean {
  return Object.values(silentWabas).filter((atMs) => nowMs - atMs < consecutiveWithinMs).length > 1;
}

export function afterAnswer(wabaId: string): BreakerRule {
  return (breaker) => {
    const { [wabaId]: known, ...silentWabas } = breaker.silentWabas;
    return known === undefined ? undefined : { ...breaker, silentWabas };
  };
}

/** Takes the lease for a probe when one is due: one worker at a time. */
export function leased(nowMs: number): BreakerRule {
  return (breaker) =>
    breaker.open === undefined || breaker.open.probeAtMs > nowMs
      ? undefined
      : { ...breaker, open: { ...breaker.open, probeAtMs: nowMs + probeLeaseMs } };
}

/** Any answer closes the breaker. */
export const closed: BreakerRule = ({ open, ...breaker }) => (open === undefined ? undefined : breaker);

export function stillOpen(nowMs: number): BreakerRule {
  return (breaker) => {
    if (breaker.open === undefined) return undefined;
    const failedProbes = breaker.open.failedProbes + 1;
    return { ...breaker, open: { ...breaker.open, failedProbes, probeAtMs: nowMs + waitMs(failedProbes) } };
  };
}

/** Returns seconds that a message waits for an open breaker, with jitter (`random` in [0, 1)). */
export function heldBackSeconds({ probeAtMs }: OpenBreaker, nowMs: number, random: number): number {
  return Math.ceil((Math.max(0, probeAtMs - nowMs) + random * spreadMs) / 1_000);
}

function withOpen(breaker: Breaker, nowMs: number): Breaker {
  return { ...breaker, open: { sinceMs: nowMs, probeAtMs: nowMs + waitMs(0), failedProbes: 0 } };
}

function waitMs(steps: number): number {
  return Math.min(longestWaitMs, firstWaitMs * 2 ** steps);
}

/** Every method rejects when the store cannot be reached. */
export interface Breakers {
  /** Its read is eventually consistent. */
  find(): Promise<Breaker>;
  /**
   * Makes a compare-and-set on the version of `seen`, repeated after conflicts. Returns undefined without a change, or
   * when others always won.
   */
  change(seen: Breaker, rule: BreakerRule): Promise<Breaker | undefined>;
}

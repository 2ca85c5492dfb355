import { PlatformFailure } from '../../platform/failure.ts';

/**
 * What is known of a platform that may be down as a whole. While it is open no worker hands anything over: a call
 * without an answer leaves open whether the message was taken, and ends `unknown` (D29).
 */
export interface Breaker {
  /** Writes so far; 0: nothing is stored. */
  readonly version: number;
  /** Runs in a row whose messages had no answer, although a read had one; and when the last one ended. */
  readonly silentRuns: number;
  readonly silentAtMs: number;
  readonly open?: OpenBreaker;
}

export interface OpenBreaker {
  readonly sinceMs: number;
  /** No worker asks the platform before; the one that is asking has moved it to the end of its lease. */
  readonly probeAtMs: number;
  readonly failedProbes: number;
}

export const unknownBreaker: Breaker = { version: 0, silentRuns: 0, silentAtMs: 0 };

/** A read of the platform is given up after this. */
export const probeTimeoutMs = 5_000;

/** Longer than a probe takes with its two writes: a worker that holds the lease longer has died. */
const probeLeaseMs = probeTimeoutMs + 3_000;

const firstWaitMs = 5_000;
const longestWaitMs = 30_000;

/**
 * One number, or one client, may be in trouble alone while reads are answered. Three runs in a row, with not one message
 * answered to anybody between them, are more than that.
 */
const silentRunsToOpen = 3;

/** Runs further apart are not in a row. */
const rowMs = 300_000;

/** Copies come back spread over so long after the probe: the first of them asks, the others find its answer. */
const spreadMs = 4_000;

/** What a call says of the platform: it is there, it said nothing, or the call never got so far. */
export type Answer = 'answered' | 'silent' | 'unclear';

/** A refusal is an answer; so is what has a pace of its own at HTTP 500 (131057: that number is being upgraded). */
export function answerIn(error: unknown): Answer {
  if (!(error instanceof PlatformFailure)) return 'unclear';
  return error.kind === 'refused' || error.pace === 'maintenance' ? 'answered' : 'silent';
}

export interface Call {
  readonly atMs: number;
  readonly answer: Answer;
}

/** Whether the calls of a run end in silence: those that began after the last one that was answered. */
export function endsInSilence(calls: readonly Call[]): boolean {
  const latestMs = (wanted: Answer) =>
    Math.max(...calls.filter(({ answer }) => answer === wanted).map(({ atMs }) => atMs));
  return latestMs('silent') > latestMs('answered');
}

/** Each of these returns the breaker as it is to be stored, or undefined where nothing is to change. */
export type BreakerRule = (breaker: Breaker) => Breaker | undefined;

/** After a run that ended in silence, and a read that was not answered either: the platform is down. */
export function opened(nowMs: number): BreakerRule {
  return (breaker) => (breaker.open === undefined ? withOpen(breaker, 0, nowMs) : undefined);
}

/** After a run without any answer, and a read with one. Where that goes on, what is closed opens again for longer. */
export function afterSilentRun(nowMs: number): BreakerRule {
  return (breaker) => {
    if (breaker.open !== undefined) return undefined;
    const silentRuns = (nowMs - breaker.silentAtMs < rowMs ? breaker.silentRuns : 0) + 1;
    const silent = { ...breaker, silentRuns, silentAtMs: nowMs };
    return silentRuns < silentRunsToOpen ? silent : withOpen(silent, silentRuns - silentRunsToOpen, nowMs);
  };
}

/** Whether messages went unanswered lately, although reads were, and none was answered since. */
export function isSuspected({ silentRuns, silentAtMs }: Breaker, nowMs: number): boolean {
  return silentRuns >= silentRunsToOpen && nowMs - silentAtMs < rowMs;
}

/** After a run with an answer: no silent run before it counts any more. */
export const afterAnsweredRun: BreakerRule = (breaker) =>
  breaker.silentRuns === 0 || breaker.open !== undefined ? undefined : { ...breaker, silentRuns: 0 };

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

function withOpen(breaker: Breaker, steps: number, nowMs: number): Breaker {
  return { ...breaker, open: { sinceMs: nowMs, probeAtMs: nowMs + waitMs(steps), failedProbes: 0 } };
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

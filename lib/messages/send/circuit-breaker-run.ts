import { errorName } from '../../observe/error-name.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import { PlatformFailure } from '../../platform/failure.ts';
import type { CallFacts } from '../dispatch/call-facts.ts';
import {
  type Answer,
  afterAnswer,
  afterSilentNumber,
  answerIn,
  type Breaker,
  type BreakerRule,
  type Breakers,
  type Call,
  closed,
  heldBackSeconds,
  isSuspected,
  leased,
  type OpenBreaker,
  opened,
  probeTimeoutMs,
  silenceOf,
  stillOpen,
  unknownBreaker,
} from '../holds/breaker.ts';
import { noAnswerCode } from '../holds/hold.ts';
import type { RunHolds } from '../holds/run-holds.ts';
import { codeOf } from './classify-failure.ts';
import type { Handover, Posting } from './platform-messages.ts';

export interface GuardPorts {
  readonly breakers: Breakers;
  readonly holds: Pick<RunHolds, 'afterAnswers' | 'afterSilence'>;
  readonly nowMs: () => number;
  readonly remainingMs: () => number;
  readonly random: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
  readonly probe: (number: Pick<CallFacts, 'wabaId' | 'credential' | 'phoneNumberId'>) => Promise<unknown>;
  readonly send: (posted: Posting) => Promise<Handover>;
}

export interface GuardedRun {
  /** While the platform is down, it has the start, and how long a queued message waits. */
  readonly outage: { readonly sinceMs: number; readonly heldBackSeconds: () => number } | undefined;
  /** Like the port, but remembers the outcome of each call. */
  readonly send: (posted: Posting) => Promise<Handover>;
  /** The run calls it when all calls have ended and their outcomes are written. Never throws. */
  end(): Promise<void>;
}

/** The function needs it after the probe. */
const endingMs = 1_000;

/**
 * Reads the breaker once, before any claim of a run that calls one number. If it is open, this run probes the platform
 * when due, or its messages wait. An unreadable breaker holds nothing back: claims would fail too.
 */
export async function guardRun(callFacts: CallFacts, ports: GuardPorts): Promise<GuardedRun> {
  const calls: Call[] = [];
  const seen = await read(ports);
  const open = await openUnlessAnswered(seen, callFacts, ports);
  // If numbers of several WABAs fell silent lately, a run waits for the answer to its first call; other recipients are
  // tried again.
  const suspected = isSuspected(seen, ports.nowMs());
  let isAhead = false;
  return {
    outage: open === undefined ? undefined : waitFor(open, ports),
    send: async (posting) => {
      // One call goes ahead: otherwise all that a run has in flight would end `unknown`.
      if (suspected && isAhead && !isAnswered(calls)) throw new PlatformFailure('not_sent');
      isAhead = true;
      const atMs = ports.nowMs();
      try {
        const handover = await ports.send(posting);
        calls.push({ atMs, answer: 'clear' });
        return handover;
      } catch (error) {
        const code = error instanceof PlatformFailure ? codeOf(error) : noAnswerCode;
        calls.push({ atMs, answer: answerIn(error), code });
        throw error;
      }
    },
    // Records whether the number's calls were answered (D46).
    end: async () => await learn(seen, { callFacts, calls }, ports),
  };
}

function waitFor(open: OpenBreaker, { nowMs, random }: GuardPorts): NonNullable<GuardedRun['outage']> {
  return { sinceMs: open.sinceMs, heldBackSeconds: () => heldBackSeconds(open, nowMs(), random()) };
}

/** Returns the open breaker, if it holds this run back. One run takes the lease and probes for all. */
async function openUnlessAnswered(seen: Breaker, number: CallFacts, ports: GuardPorts) {
  if (seen.open === undefined || seen.open.probeAtMs > ports.nowMs()) return seen.open;
  const mine = await change(seen, leased(ports.nowMs()), ports);
  if (mine?.open === undefined) return seen.open;
  const answer = await probeNumber(number, ports);
  if (isAnswer(answer)) {
    const durationMs = ports.nowMs() - mine.open.sinceMs;
    if ((await change(mine, closed, ports)) !== undefined) ports.log('platform.back', { durationMs });
    return undefined;
  }
  count('PlatformDown');
  return (await change(mine, stillOpen(ports.nowMs()), ports))?.open ?? mine.open;
}

/** Records what this run's calls to a number mean for later runs. */
async function learn(
  seen: Breaker,
  { callFacts, calls }: { readonly callFacts: CallFacts; readonly calls: readonly Call[] },
  ports: GuardPorts,
): Promise<void> {
  const { wabaId } = callFacts;
  const hasAnswer = isAnswered(calls);
  if (hasAnswer) {
    await ports.holds.afterAnswers(callFacts);
    if (seen.silentWabas[wabaId] !== undefined) await change(seen, afterAnswer(wabaId), ports);
  }
  const last = silenceOf(calls);
  if (last === undefined) return;
  const isSilent = last.answer === 'silent';
  if (isSilent) {
    if (ports.remainingMs() < probeTimeoutMs + endingMs) return;
    const answer = await probeNumber(callFacts, ports);
    if (answer === 'none') return;
    if (!isAnswer(answer)) return await openFor(seen, { rule: opened, code: noAnswerCode }, ports);
  }
  if (hasAnswer || !(await ports.holds.afterSilence(callFacts, last.code ?? noAnswerCode)) || !isSilent) return;
  await openFor(seen, { rule: (nowMs) => afterSilentNumber(wabaId, nowMs), code: 'no_answer_to_messages' }, ports);
}

async function openFor(
  seen: Breaker,
  { rule, code }: { readonly rule: (nowMs: number) => BreakerRule; readonly code: string },
  ports: GuardPorts,
): Promise<void> {
  const nowMs = ports.nowMs();
  const changed = await change(seen, rule(nowMs), ports);
  if (changed?.open?.sinceMs !== nowMs) return;
  count('PlatformDown');
  ports.log('platform.down', { code });
}

function isAnswered(calls: readonly Call[]): boolean {
  return calls.some(({ answer }) => answer === 'clear');
}

/** Accepts any readable answer, whatever it says. */
function isAnswer(answer: Answer): boolean {
  return answer === 'clear' || answer === 'open';
}

async function probeNumber(number: CallFacts, { probe }: GuardPorts): Promise<Answer> {
  try {
    await probe(number);
    return 'clear';
  } catch (error) {
    return answerIn(error);
  }
}

async function read({ breakers, log }: Pick<GuardPorts, 'breakers' | 'log'>): Promise<Breaker> {
  try {
    return await breakers.find();
  } catch (error) {
    log('send.breaker_failed', { error: errorName(error) });
    return unknownBreaker;
  }
}

async function change(
  seen: Breaker,
  rule: BreakerRule,
  { breakers, log }: Pick<GuardPorts, 'breakers' | 'log'>,
): Promise<Breaker | undefined> {
  try {
    return await breakers.change(seen, rule);
  } catch (error) {
    log('send.breaker_failed', { error: errorName(error) });
    return undefined;
  }
}

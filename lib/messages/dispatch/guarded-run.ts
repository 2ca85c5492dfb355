import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import { nameOf } from '../../observe/name-of.ts';
import { PlatformFailure } from '../../platform/failure.ts';
import {
  type Answer,
  afterAnsweredRun,
  afterSilentRun,
  answerIn,
  type Breaker,
  type BreakerRule,
  type Breakers,
  type Call,
  closed,
  endsInSilence,
  heldBackSeconds,
  isSuspected,
  leased,
  opened,
  probeTimeoutMs,
  stillOpen,
  unknownBreaker,
} from './breaker.ts';
import type { Handover } from './platform-messages.ts';

/** What a run asks the platform with: `First` names the number that is asked for, `Posted` is what is handed over. */
export interface GuardPorts<First, Posted> {
  readonly breakers: Breakers;
  readonly nowMs: () => number;
  /** Time until the function is killed. */
  readonly remainingMs: () => number;
  readonly random: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
  readonly probe: (first: First) => Promise<void>;
  readonly send: (posted: Posted) => Promise<Handover>;
}

type Ports<First> = Omit<GuardPorts<First, never>, 'send'>;

/** One run, and the breaker of the platform. */
export interface GuardedRun<Posted> {
  /** While the platform is down: how long a message of the queue waits for it. Undefined: nothing need wait. */
  readonly heldBackSeconds: (() => number) | undefined;
  /** As the port; what comes of each call is remembered. */
  readonly send: (posted: Posted) => Promise<Handover>;
  /** To be told when all calls have ended and what came of them is written. Never throws. */
  end(): Promise<void>;
}

/** Left for what the function does when the read is over. */
const endingMs = 1_000;

/**
 * Looks at the breaker before anything is claimed: one read a run. Where it is open, this run asks the platform if it is its
 * turn to; else what it has is queued again until after the run that asks. Where messages went unanswered lately, and reads did
 * not, a run makes no call beside its first until that is answered: recipients that are not called are tried again. A breaker
 * that cannot be read or written holds nothing back: nothing can be claimed then either.
 */
export async function guardRun<First, Posted>(
  first: First | undefined,
  ports: GuardPorts<First, Posted>,
): Promise<GuardedRun<Posted>> {
  const calls: Call[] = [];
  const seen = first === undefined ? unknownBreaker : await read(ports);
  const open = first === undefined ? undefined : await openUnlessAnswered(seen, first, ports);
  const suspected = isSuspected(seen, ports.nowMs());
  let isAhead = false;
  return {
    heldBackSeconds: open === undefined ? undefined : () => heldBackSeconds(open, ports.nowMs(), ports.random()),
    send: async (posting) => {
      // One call goes ahead: else a whole chunk of each worker would end unknown.
      if (suspected && isAhead && !isAnswered(calls)) throw new PlatformFailure('not_sent');
      isAhead = true;
      const atMs = ports.nowMs();
      try {
        const handover = await ports.send(posting);
        calls.push({ atMs, answer: 'answered' });
        return handover;
      } catch (error) {
        calls.push({ atMs, answer: answerIn(error) });
        throw error;
      }
    },
    end: async () => {
      if (first !== undefined) await learn(seen, { first, calls }, ports);
    },
  };
}

/** What holds this run back. When it is time to ask the platform, one run does; its answer is for all runs. */
async function openUnlessAnswered<First>(seen: Breaker, first: First, ports: Ports<First>) {
  if (seen.open === undefined || seen.open.probeAtMs > ports.nowMs()) return seen.open;
  const mine = await change(seen, leased(ports.nowMs()), ports);
  if (mine?.open === undefined) return seen.open;
  const answer = await ask(first, ports);
  if (answer === 'answered') {
    const durationMs = ports.nowMs() - mine.open.sinceMs;
    if ((await change(mine, closed, ports)) !== undefined) ports.log('platform.back', { durationMs });
    return undefined;
  }
  count('PlatformDown');
  return (await change(mine, stillOpen(ports.nowMs()), ports))?.open ?? mine.open;
}

interface Run<First> {
  readonly first: First;
  readonly calls: readonly Call[];
}

/** What the calls of the run say for those that come after it. */
async function learn<First>(seen: Breaker, { first, calls }: Run<First>, ports: Ports<First>): Promise<void> {
  const hasAnswer = isAnswered(calls);
  if (hasAnswer && seen.silentRuns > 0) await change(seen, afterAnsweredRun, ports);
  if (!endsInSilence(calls) || ports.remainingMs() < probeTimeoutMs + endingMs) return;
  const answer = await ask(first, ports);
  if (answer === 'unclear' || (answer === 'answered' && hasAnswer)) return;
  const nowMs = ports.nowMs();
  const changed = await change(seen, answer === 'silent' ? opened(nowMs) : afterSilentRun(nowMs), ports);
  if (changed?.open === undefined) return;
  count('PlatformDown');
  ports.log('platform.down', { code: answer === 'silent' ? 'no_answer' : 'no_answer_to_messages' });
}

function isAnswered(calls: readonly Call[]): boolean {
  return calls.some(({ answer }) => answer === 'answered');
}

async function ask<First>(first: First, { probe }: Ports<First>): Promise<Answer> {
  try {
    await probe(first);
    return 'answered';
  } catch (error) {
    return answerIn(error);
  }
}

async function read({ breakers, log }: Pick<Ports<never>, 'breakers' | 'log'>): Promise<Breaker> {
  try {
    return await breakers.find();
  } catch (error) {
    log('dispatch.breaker_failed', { error: nameOf(error) });
    return unknownBreaker;
  }
}

async function change(
  seen: Breaker,
  rule: BreakerRule,
  { breakers, log }: Pick<Ports<never>, 'breakers' | 'log'>,
): Promise<Breaker | undefined> {
  try {
    return await breakers.change(seen, rule);
  } catch (error) {
    log('dispatch.breaker_failed', { error: nameOf(error) });
    return undefined;
  }
}

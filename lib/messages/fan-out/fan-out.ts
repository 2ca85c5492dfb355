import { nameOf } from '../../observe/name-of.ts';
import type { AcceptedJob } from '../accept/accepted-job.ts';
import type { SendJob } from '../accept/send-job.ts';
import { isAlone } from '../composed-message.ts';
import type { ComposedMessage, JobHead } from '../job.ts';
import { byJobState, type JobState } from '../job-state.ts';
import { PaceContended } from '../pace/number-paces.ts';
import { type ComposePorts, composeWave, endWave, type Wave } from './compose-wave.ts';
import { type DelayedMessage, type FanOutQueue, queueWave } from './queue-wave.ts';
import { type Release, type ReleasePorts, releaseOf } from './release.ts';
import { holdEveryMs, leaseMarginMs, leaseMs, type RoundRun, roundAfterLast } from './rounds.ts';
import { firstLookSeconds, type WatchQueue, watchOf } from './watch-message.ts';

/** How many recipients of a part are queued, and how the job stands, for the run that has its round; or why it has it not. */
export type Taken =
  | { readonly kind: 'taken'; readonly queued: number; readonly state: JobState }
  | { readonly kind: 'over' }
  | { readonly kind: 'held'; readonly untilMs: number };

export interface JobRecords {
  /** Whether the commit of a job in parts is written: only then was the job accepted (D25). */
  isCommitted(jobId: string): Promise<boolean>;
  /**
   * Records the job and how it is found by DID and day; returns how many recipients of this part are queued already.
   * Undefined when the acceptance took the job back: its client was told that nothing will be sent.
   */
  begin(head: JobHead, part: number): Promise<number | undefined>;
  /** Sees to it that the job is described for its report (D40): writes what acceptance has not written. */
  describe(job: AcceptedJob): Promise<void>;
  /** Takes the round of a part for this run, until `leaseMs` after now. A job that is forgotten is over. */
  take(run: RoundRun, nowMs: number): Promise<Taken>;
  /**
   * Remembers that the first `queued` recipients of this part are in the dispatch queue, or ended; returns how the job
   * stands. Undefined when another run has the round.
   */
  checkpoint(run: RoundRun, queued: number, nowMs: number): Promise<JobState | undefined>;
  /** Gives the part to whoever comes with that round; false when another run has the round. */
  handOver(run: RoundRun, nextRound: number): Promise<boolean>;
}

export interface FanOutPorts extends ComposePorts, ReleasePorts {
  readonly jobs: JobRecords;
  readonly queue: FanOutQueue;
  /** For one-time codes (D44). */
  readonly urgentQueue: FanOutQueue;
  readonly watch: WatchQueue;
  /** Sends a job message to the queue that it came from. */
  readonly sendAnew: (job: SendJob, delaySeconds: number) => Promise<void>;
  /** Keeps the delivery from coming again for `holdSeconds`. Never throws: without it, it comes again too soon. */
  readonly hold: () => Promise<void>;
  readonly remainingMs: () => number;
  readonly random: () => number;
  readonly pause: (ms: number) => Promise<void>;
}

/** One delivery of a job message. */
export interface JobDelivery {
  readonly job: SendJob;
  readonly sentAtMs: number;
  /** Unlike that of any other run, also of another delivery of the same message. */
  readonly owner: string;
}

/** `again` asks for the same job message once more, after so many seconds, or when its delivery runs out. */
export type FanOutEnd = { readonly end: 'done' } | { readonly end: 'again'; readonly afterSeconds?: number };

const done: FanOutEnd = { end: 'done' };

/** Whoever took the round works on a message of its own, or on a later delivery of this one: which is not known. */
const lost: FanOutEnd = { end: 'again' };

/** Of a stopped job, between two checkpoints. */
const endedAtOnce = 500;

/** A wave, with every retry of a queue in trouble, must fit into what is left when it starts. */
const waveBudgetMs = 15_000;

/** An API function lives 30 s at most: two minutes after its message was sent, a missing commit never comes. */
const commitPatienceMs = 120_000;

/**
 * Turns a job into one dispatch message per recipient, in rounds (rounds.ts). Repeating it from any point is harmless: ids
 * are the same, and claims let each be sent once. Throws when queue or store stay unreachable; the job must then be
 * delivered again. Recipients that cannot be composed end `failed` (R14), told before their wave counts as queued (D34).
 * A job of several messages is then given to whoever watches for its end (D41): by its last part, once is enough.
 */
export async function fanOut(delivery: JobDelivery, ports: FanOutPorts): Promise<FanOutEnd> {
  const { job, owner } = delivery;
  const { jobId, clientId } = job.head;
  const run: RoundRun = { jobId, part: job.part?.number ?? 1, round: job.round ?? 0, owner };
  const heldAtMs = ports.nowMs();
  await ports.hold();
  if (run.round === 0) {
    if (job.part !== undefined && !(await ports.jobs.isCommitted(jobId))) return uncommitted(delivery, ports);
    if ((await ports.jobs.begin(job.head, run.part)) === undefined) {
      ports.log('job.withdrawn', { jobId, clientId });
      return done;
    }
    await ports.jobs.describe(job);
  }
  const takenAtMs = ports.nowMs();
  const taken = await ports.jobs.take(run, takenAtMs);
  if (taken.kind === 'over') return done;
  if (taken.kind === 'held') {
    await ports.sendAnew(job, Math.max(1, Math.ceil((taken.untilMs - ports.nowMs()) / 1_000)));
    return done;
  }
  try {
    return await workedOff({ job, run, heldAtMs, takenAtMs }, taken, ports);
  } catch (error) {
    // Held on, the next delivery would wait for the lease as a message sent anew, and never use up its deliveries.
    await ports.jobs.handOver(run, run.round).catch((cause: unknown) => {
      ports.log('job.round_not_released', { jobId, clientId, error: nameOf(cause) });
    });
    throw error;
  }
}

/** The client of a part without commit was told 502, or will be: nothing of it may be sent. */
function uncommitted({ job: { head }, sentAtMs }: JobDelivery, ports: FanOutPorts): FanOutEnd {
  const ageMs = ports.nowMs() - sentAtMs;
  if (ageMs >= commitPatienceMs) {
    ports.log('job.never_accepted', { jobId: head.jobId, clientId: head.clientId });
    return done;
  }
  // A commit follows within a second or not at all: one quick look, then one when it is certain.
  const waitMs = ageMs < 5_000 ? 5_000 : commitPatienceMs - ageMs;
  return { end: 'again', afterSeconds: Math.ceil(waitMs / 1_000) };
}

interface Round {
  readonly job: SendJob;
  readonly run: RoundRun;
  readonly heldAtMs: number;
  readonly takenAtMs: number;
}

/**
 * Releases what the round allows, or what is left. A stopped job is not sent any more: its recipients end as the stop says
 * (D46, D53). That of a parked one waits, and once more as long when it has resumed, behind what waits in the dispatch queue.
 */
async function workedOff(
  round: Round,
  taken: Extract<Taken, { kind: 'taken' }>,
  ports: FanOutPorts,
): Promise<FanOutEnd> {
  const { job, run } = round;
  const { recipients, firstIndex, parkedSeconds, ...rest } = job;
  const { head } = job;
  let { queued } = taken;
  let state: JobState | undefined = taken.state;
  let { heldAtMs } = round;
  let leaseUntilMs = round.takenAtMs + leaseMs;
  let release: Release | undefined;
  while (queued < recipients.length) {
    if (ports.remainingMs() < waveBudgetMs) return await nextRound(round, 0, ports);
    if (ports.nowMs() - heldAtMs > holdEveryMs) {
      heldAtMs = ports.nowMs();
      await ports.hold();
    }
    const by = byJobState(state, head, ports.nowMs());
    if (by.kind === 'wait') {
      const parked = { ...job, parkedSeconds: by.delaySeconds };
      return await nextRound({ ...round, job: parked }, by.delaySeconds, ports);
    }
    let wave: Wave;
    if (by.kind === 'settle') {
      wave = waveAt(endedAtOnce);
      await endWave(job, wave, by.settlement, ports);
    } else {
      if (parkedSeconds !== undefined) {
        return await nextRound({ ...round, job: { ...rest, recipients, firstIndex } }, parkedSeconds, ports);
      }
      release ??= await releaseOf(job, ports);
      const size = release.next();
      if (size === 0) return await nextRound(round, release.nextRoundSeconds, ports);
      wave = waveAt(size);
      const messages = await timedUnlessContended(release, await composeWave(job, wave, ports), ports);
      if (messages === undefined) return await nextRound(round, contendedSeconds(ports.random()), ports);
      const queue = head.urgent ? ports.urgentQueue : ports.queue;
      await queueWave(messages, leaseUntilMs - leaseMarginMs, { ...ports, queue });
    }
    queued += wave.recipients.length;
    const nowMs = ports.nowMs();
    state = await ports.jobs.checkpoint(run, queued, nowMs);
    if (state === undefined) return lost;
    leaseUntilMs = nowMs + leaseMs;
  }
  const isLast = job.part === undefined || job.part.number === job.part.of;
  if (isLast && !isAlone(job)) {
    await ports.watch.sendLater(watchOf(head), firstLookSeconds(release?.lastMs() ?? 0, ports.nowMs()));
  }
  ports.log('job.fanned_out', { jobId: head.jobId, clientId: head.clientId, count: queued });
  return (await ports.jobs.handOver(run, roundAfterLast)) ? done : lost;

  function waveAt(size: number): Wave {
    return { recipients: recipients.slice(queued, queued + size), firstIndex: firstIndex + queued };
  }
}

/** Undefined when too many jobs reserve on the number at the same moment: no failure, and no delivery to use up. */
async function timedUnlessContended(
  release: Release,
  messages: readonly ComposedMessage[],
  ports: FanOutPorts,
): Promise<readonly DelayedMessage[] | undefined> {
  try {
    return await release.timed(messages);
  } catch (error) {
    if (!(error instanceof PaceContended)) throw error;
    ports.log('job.number_contended', { count: messages.length });
    return undefined;
  }
}

/** Those who met do not meet again. */
function contendedSeconds(random: number): number {
  return 2 + Math.floor(random * 8);
}

/** What is left of the part goes back to the queue as a message of the next round. */
async function nextRound({ job, run }: Round, delaySeconds: number, ports: FanOutPorts): Promise<FanOutEnd> {
  const round = run.round + 1;
  await ports.sendAnew({ ...job, round }, delaySeconds);
  return (await ports.jobs.handOver(run, round)) ? done : lost;
}

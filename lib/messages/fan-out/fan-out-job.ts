import { nameOf } from '../../observe/name-of.ts';
import { type ComposePorts, composedRecipient } from '../accept/composed-recipient.ts';
import type { JobMessage } from '../accept/job-message.ts';
import type { ChunkRecipient } from '../chunk.ts';
import type { StoredRecipient } from '../job.ts';
import { byJobState, type Ending, type JobState, type JobStates } from '../job-state.ts';
import { lotsLeft } from '../lots.ts';
import { PaceContended } from '../pace/number-paces.ts';
import { slotMsOf } from '../pace/schedule.ts';
import { firstLookSeconds, type WatchQueue, watchOf } from '../watch/watch-message.ts';
import { type EndPorts, endSlices } from './end-slices.ts';
import {
  holdEveryMs,
  type JobRounds,
  leaseMarginMs,
  leaseMs,
  type Progress,
  type RoundRun,
  roundAfterLast,
  type StoredJob,
  type Taken,
  type Wave,
} from './job-rounds.ts';
import { type ChunkSink, queueChunks } from './queue-chunks.ts';
import { type Release, type ReleasePorts, releaseOf } from './release.ts';
import { chunksOfWave } from './wave-chunks.ts';

export interface FanOutPorts extends ReleasePorts, EndPorts, ComposePorts {
  readonly jobs: JobRounds;
  readonly states: Pick<JobStates, 'stop'>;
  readonly queue: ChunkSink;
  readonly watch: WatchQueue;
  /** Sends a job message to the queue that it came from. */
  readonly sendAgain: (message: JobMessage, delaySeconds: number) => Promise<void>;
  /** Keeps the delivery from coming again for `holdSeconds`. Never throws: without it, it comes again too soon. */
  readonly hold: () => Promise<void>;
  readonly remainingMs: () => number;
  readonly random: () => number;
  readonly pause: (ms: number) => Promise<void>;
}

/** `again`: the same message is to come once more, when its delivery runs out. */
export type FanOutEnd = 'done' | 'again';

/** Of a stopped job, between two writes of its progress. */
const endedAtOnce = 500;

/** A wave, with every retry of a queue in trouble, must fit into what is left when it starts. */
const waveBudgetMs = 15_000;

/**
 * Turns a job into chunks of the dispatch queue, in rounds (job-rounds.ts). Repeating it from any point is harmless: claims let
 * each recipient be called once. Throws when queue or store stay unreachable; the message is to be delivered again then. A job is
 * then given to the watcher of its end (D41).
 */
export async function fanOutJob(message: JobMessage, owner: string, ports: FanOutPorts): Promise<FanOutEnd> {
  const { jobId, clientId } = message;
  const run: RoundRun = { jobId, round: message.round ?? 0, owner };
  const heldAtMs = ports.nowMs();
  await ports.hold();
  const job = await ports.jobs.find(jobId);
  if (job === undefined) {
    ports.log('job.never_accepted', { jobId, clientId });
    return 'done';
  }
  if (run.round === 0 && (await ports.jobs.begin(job)) === 'withdrawn') {
    ports.log('job.withdrawn', { jobId, clientId });
    return 'done';
  }
  const takenAtMs = ports.nowMs();
  const taken = await ports.jobs.take(run, takenAtMs);
  if (taken.kind === 'over') return 'done';
  if (taken.kind === 'held') {
    await ports.sendAgain(message, Math.max(1, Math.ceil((taken.untilMs - ports.nowMs()) / 1_000)));
    return 'done';
  }
  const round = new Round({ message, job, run, heldAtMs, takenAtMs }, taken, ports);
  try {
    return await round.work();
  } catch (error) {
    // Held on, the next delivery would wait for the lease as a message sent once more, and never use up its deliveries.
    await ports.jobs.handOver(run, round.progress, run.round).catch((cause: unknown) => {
      ports.log('job.round_not_released', { jobId, clientId, error: nameOf(cause) });
    });
    throw error;
  }
}

interface RoundFacts {
  readonly message: JobMessage;
  readonly job: StoredJob;
  readonly run: RoundRun;
  readonly heldAtMs: number;
  readonly takenAtMs: number;
}

/** One round of a job, from its taking to its handing over. */
class Round {
  readonly #facts: RoundFacts;
  readonly #ports: FanOutPorts;
  progress: Progress;
  #state: JobState;
  #heldAtMs: number;
  #leaseUntilMs: number;
  #release: Release | undefined;
  #page: { readonly firstIndex: number; readonly recipients: readonly StoredRecipient[] } = {
    firstIndex: 0,
    recipients: [],
  };

  constructor(facts: RoundFacts, taken: Extract<Taken, { kind: 'taken' }>, ports: FanOutPorts) {
    this.#facts = facts;
    this.#ports = ports;
    this.progress = taken.progress;
    this.#state = taken.state;
    this.#heldAtMs = facts.heldAtMs;
    this.#leaseUntilMs = facts.takenAtMs + leaseMs;
  }

  /** Releases what the round allows, or what is left. A stopped job is not sent any more: its recipients end as the stop says (D46, D53). */
  async work(): Promise<FanOutEnd> {
    const { job, message } = this.#facts;
    const { head } = job;
    const ports = this.#ports;
    while (this.progress.queued < head.total) {
      if (ports.remainingMs() < waveBudgetMs) return await this.#nextRound(message, 0);
      if (ports.nowMs() - this.#heldAtMs > holdEveryMs) {
        this.#heldAtMs = ports.nowMs();
        await ports.hold();
      }
      const by = byJobState(this.#state, endingOf(job), ports.nowMs());
      if (by.kind === 'wait') {
        return await this.#nextRound({ ...message, parkedSeconds: by.delaySeconds }, by.delaySeconds);
      }
      if (by.kind === 'settle') {
        // Of several final words the first counts, for the report too: it is written before anything ends by it.
        if (this.#state.stop === undefined) {
          await ports.states.stop(head, { ...by.settlement, atMs: ports.nowMs() });
          if (!(await this.#announce(this.progress))) return 'again';
          continue;
        }
        const until = Math.min(head.total, this.progress.queued + endedAtOnce);
        await endSlices(job, { from: this.progress.queued, until, settlement: by.settlement }, ports);
        if (!(await this.#announce({ queued: until }))) return 'again';
        continue;
      }
      const { parkedSeconds, ...resumed } = message;
      // Once more as long when it has resumed, behind what waits in the dispatch queue.
      if (parkedSeconds !== undefined) return await this.#nextRound(resumed, parkedSeconds);
      const end = await this.#wave();
      if (end !== undefined) return end;
    }
    await ports.watch.sendLater(watchOf(head), firstLookSeconds(this.#release?.lastMs() ?? 0, ports.nowMs()));
    ports.log('job.fanned_out', { jobId: head.jobId, clientId: head.clientId, count: head.total });
    return await this.#handOver(roundAfterLast);
  }

  /** Undefined: it is queued. */
  async #wave(): Promise<FanOutEnd | undefined> {
    const { job, message } = this.#facts;
    const ports = this.#ports;
    this.#release ??= await releaseOf(job.head, ports);
    const release = this.#release;
    const { queued } = this.progress;
    const size = this.progress.wave === undefined ? release.next() : this.progress.wave.until - queued;
    if (size === 0) return await this.#nextRound(message, release.nextRoundSeconds);
    const until = Math.min(job.head.total, queued + size);
    const recipients = await this.#composed(queued, until);
    let { wave } = this.progress;
    if (wave === undefined) {
      wave = await this.#reserved(release, { queued, until });
      if (wave === undefined) return await this.#nextRound(message, contendedSeconds(ports.random()));
      if (!(await this.#announce({ queued, wave }))) return 'again';
      // A stop that was read with the announcement comes before what it announces.
      if (byJobState(this.#state, endingOf(job), ports.nowMs()).kind !== 'send') return undefined;
    }
    const { lane, limitPerSecond } = release;
    const lots = job.lots && lotsLeft(job.lots, { first: queued, last: until - 1, nowMs: ports.nowMs() });
    const facts = { head: job.head, lots, lane: lane.lane, limitPerSecond };
    const composed = { ...facts, recipients, firstPosition: wave.position };
    const timed = chunksOfWave(composed, release.everyMs()).map((chunk) => {
      const slots = chunk.slices.map(({ position = 0 }) => slotMsOf(release.schedule(), { ...lane, position }));
      return { chunk, slotMs: Math.min(...slots.map((slotMs) => slotMs ?? ports.nowMs())) };
    });
    await queueChunks(timed, this.#leaseUntilMs - leaseMarginMs, ports);
    this.progress = { queued: until };
    return undefined;
  }

  /** Undefined when too many jobs reserve on the number at the same moment: no failure, and no delivery to use up. */
  async #reserved(release: Release, { queued, until }: { queued: number; until: number }): Promise<Wave | undefined> {
    try {
      return { until, position: await release.reserve(until - queued) };
    } catch (error) {
      if (!(error instanceof PaceContended)) throw error;
      this.#ports.log('job.number_contended', { count: until - queued });
      return undefined;
    }
  }

  async #composed(from: number, until: number): Promise<ChunkRecipient[]> {
    const { job } = this.#facts;
    const { jobId } = job.head;
    const composed: ChunkRecipient[] = [];
    for (let index = from; index < until; index += 1) {
      const recipient = composedRecipient(job.plan, await this.#recipient(index), { jobId, index }, this.#ports);
      const waitMs = job.waitsMs.get(index);
      composed.push(waitMs === undefined ? recipient : { ...recipient, notBeforeMs: this.#ports.nowMs() + waitMs });
    }
    return composed;
  }

  async #recipient(index: number): Promise<StoredRecipient> {
    const known = this.#page.recipients[index - this.#page.firstIndex];
    if (known !== undefined) return known;
    const recipients = await this.#ports.jobs.recipientsFrom(this.#facts.run.jobId, index);
    this.#page = { firstIndex: index, recipients };
    const [first] = recipients;
    if (first === undefined) throw new Error('recipients of the job are gone');
    return first;
  }

  async #announce(progress: Progress): Promise<boolean> {
    const nowMs = this.#ports.nowMs();
    const state = await this.#ports.jobs.announce(this.#facts.run, progress, nowMs);
    if (state === undefined) return false;
    this.progress = progress;
    this.#state = state;
    this.#leaseUntilMs = nowMs + leaseMs;
    return true;
  }

  /** What is left of the job goes back to the queue as a message of the next round. */
  async #nextRound(message: JobMessage, delaySeconds: number): Promise<FanOutEnd> {
    const round = this.#facts.run.round + 1;
    await this.#ports.sendAgain({ ...message, round }, delaySeconds);
    return await this.#handOver(round);
  }

  async #handOver(nextRound: number): Promise<FanOutEnd> {
    return (await this.#ports.jobs.handOver(this.#facts.run, this.progress, nextRound)) ? 'done' : 'again';
  }
}

/** Until when what is left of it may wait. */
function endingOf({ head: { expiresAtMs }, lots }: StoredJob): Ending {
  return { expiresAtMs, lots };
}

/** Those who met do not meet again. */
function contendedSeconds(random: number): number {
  return 2 + Math.floor(random * 8);
}

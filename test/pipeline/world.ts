import type { JobMessage } from '../../lib/messages/accept/job-message.ts';
import type { WholeJob } from '../../lib/messages/accept/whole-job.ts';
import { chunkVersion, type QueuedChunk, straightRecipients } from '../../lib/messages/chunk.ts';
import type { ChunkQueue } from '../../lib/messages/chunks/chunk-ports.ts';
import { workChunks } from '../../lib/messages/chunks/work-chunks.ts';
import { probeTimeoutMs } from '../../lib/messages/dispatch/breaker.ts';
import { firstHoldMs, holdDeliveries } from '../../lib/messages/dispatch/held-deliveries.ts';
import type { Posting } from '../../lib/messages/dispatch/platform-messages.ts';
import { aboutJob, dispatchIdOf } from '../../lib/messages/job.ts';
import { jobHolds } from '../../lib/messages/job-holds.ts';
import type { JobState } from '../../lib/messages/job-state.ts';
import { jobRetrySeconds } from '../../lib/messages/pace/pacing.ts';
import { composeMessage } from '../../lib/messages/request/compose.ts';
import { type FanOutPorts, fanOutJob } from '../../lib/messages/rounds/fan-out-job.ts';
import { holdSeconds } from '../../lib/messages/rounds/lease.ts';
import type { ChunkSink } from '../../lib/messages/rounds/queue-chunks.ts';
import { settleProven } from '../../lib/messages/slices/settle-proven.ts';
import { placeInSlice, sliceOf, withdrawn } from '../../lib/messages/slices/slice.ts';
import type { ServiceEvent } from '../../lib/webhooks/event.ts';
import { MemoryBreaker } from '../support/memory-breaker.ts';
import { VirtualTime } from '../support/virtual-time.ts';
import { MemoryNumbers } from './memory-numbers.ts';
import { MemoryRounds } from './memory-rounds.ts';
import { MemoryDoubts, MemorySlices } from './memory-slices.ts';
import { Meter } from './meter.ts';
import { type Fate, PlatformModel } from './platform-model.ts';
import { type ModelDelivery, QueueModel } from './queue-model.ts';
import { type CallFault, Run } from './runs.ts';

export interface WorldRules {
  readonly random: () => number;
  readonly limitPerSecond: number;
  readonly answerMs: () => number;
  readonly latencyMs: () => number;
  readonly faultOf: (name: string) => CallFault | undefined;
  readonly fateOf: () => Fate;
  /** Of reads; as messages when left out. */
  readonly readFateOf?: () => Fate;
  /** How long a run lives, in ms; undefined: as long as its function may. */
  readonly lifeMs: (functionName: string) => number | undefined;
  /** What the platform tells of a message that it took, each with the delay after which it comes. */
  readonly receiptsOf: () => readonly { readonly status: string; readonly afterMs: number }[];
  readonly delayJitterMs: number;
  readonly repeatShare: number;
  readonly clockSkewMs: () => number;
  readonly workers: number;
}

/** When every world begins. */
export const startMs = 1_800_000_000_000;

/** Whether templates come back is the world's to say. */
const watchParked = async () => undefined;

interface Consumer {
  readonly name: string;
  readonly queue: QueueModel;
  readonly workers: number;
  readonly batchSize: number;
  readonly timeoutMs: number;
  /** Returns the ids of messages that are to come again. */
  readonly handle: (batch: readonly ModelDelivery[], run: Run, clock: RunClock) => Promise<readonly string[]>;
}

interface RunClock {
  readonly nowMs: () => number;
  readonly remainingMs: () => number;
  readonly invocation: string;
}

/** SQS bills a request for each 64 KB of what it carries. */
const billedBytes = 65_536;

/**
 * The whole way of a message by slices and chunks, from the accepted job to its last receipt, on the real policies: in virtual
 * time, with stores in memory, queues that behave as SQS may, a platform that counts, and processes that die.
 */
export class PipelineWorld {
  readonly time = new VirtualTime(startMs);
  readonly slices = new MemorySlices();
  readonly doubts = new MemoryDoubts();
  readonly jobs = new MemoryRounds();
  readonly numbers: MemoryNumbers;
  readonly breaker = new MemoryBreaker();
  readonly platform: PlatformModel;
  readonly told = new Map<string, ServiceEvent>();
  readonly accepted: { readonly dispatchId: string; readonly job: WholeJob }[] = [];
  readonly logged = new Map<string, number>();
  readonly meter = new Meter();
  readonly #rules: WorldRules;
  readonly #queues: Readonly<Record<'jobs' | 'dispatch' | 'small' | 'receipts', QueueModel>>;
  #runs = 0;
  #quietAt: number | undefined;

  constructor(rules: WorldRules) {
    this.#rules = rules;
    this.numbers = new MemoryNumbers(rules.random);
    const { random, delayJitterMs, repeatShare } = rules;
    const queue = (visibilityMs: number) =>
      new QueueModel(this.time, { visibilityMs, maxReceiveCount: 5, delayJitterMs, repeatShare }, random);
    this.#queues = {
      jobs: queue(1_800_000),
      dispatch: queue(360_000),
      small: queue(360_000),
      receipts: queue(720_000),
    };
    this.platform = new PlatformModel(this.time, {
      limitPerSecond: () => rules.limitPerSecond,
      answerMs: rules.answerMs,
      fateOf: rules.fateOf,
      readFateOf: rules.readFateOf ?? rules.fateOf,
    });
  }

  accept(job: WholeJob): void {
    const { jobId, clientId, acceptedAtMs } = job.head;
    if (job.recipients.length <= straightRecipients) void this.#acceptStraight(job);
    else {
      this.jobs.store(job);
      this.#queues.jobs.send(JSON.stringify({ jobId, clientId, acceptedAtMs } satisfies JobMessage));
    }
    for (const index of job.recipients.keys()) this.accepted.push({ dispatchId: dispatchIdOf({ jobId, index }), job });
  }

  /** An acceptance that may hear nothing of the queue, take the job back, or die at any moment. */
  async #acceptStraight(job: WholeJob): Promise<void> {
    const { latencyMs, faultOf, lifeMs } = this.#rules;
    const run = new Run(this.time, { latencyMs, faultOf, count: this.#count });
    const diesAfterMs = lifeMs('acceptance');
    if (diesAfterMs !== undefined) void this.time.sleep(diesAfterMs).then(() => run.die());
    const chunk = this.#straightChunk(job);
    const enqueued = run.call('enqueueStraight', () => this.#queues.small.send(JSON.stringify(chunk)));
    const isRefused = await enqueued.then(
      () => false,
      () => run.call('withdraw', () => this.#withdraw(job)).catch(() => false),
    );
    if (!isRefused) await this.#beginStraight(run, chunk).catch(() => undefined);
  }

  /** One transaction: the job has not begun, and slice 0 is nobody's. */
  #withdraw({ head }: WholeJob): boolean {
    const key = { jobId: head.jobId, slice: 0 };
    if (this.jobs.withdrawn.has(head.jobId)) return true;
    if (this.jobs.states.get(head.jobId)?.begun || this.slices.find(key) !== undefined) return false;
    this.jobs.withdrawn.add(head.jobId);
    const slice = withdrawn({ key, atMs: this.time.nowMs, size: Math.min(10, head.total) });
    this.slices.slices.set(`${head.jobId} 0`, slice);
    return true;
  }

  #beginStraight(run: Run, { jobId }: QueuedChunk): Promise<void> {
    return run.call('beginStraight', () => void this.jobs.beginStraight(jobId));
  }

  #straightChunk({ head, plan, recipients }: WholeJob): QueuedChunk {
    const { limitPerSecond } = this.#rules;
    const some = recipients.map((recipient, index) => ({
      index,
      to: recipient.to,
      request: composeMessage(plan, recipient, dispatchIdOf({ jobId: head.jobId, index })),
    }));
    const facts = { ...head, version: chunkVersion, about: aboutJob(head), limitPerSecond, lane: '*' } as const;
    const slices = [{ try: 0, size: some.length, recipients: some }];
    return { ...facts, slices, straight: true, alone: true } as unknown as QueuedChunk;
  }

  /** From a time on the job stands so; undefined: as if nothing had ever been said. */
  async jobStands(jobId: string, state: JobState | undefined, afterMs: number): Promise<void> {
    await this.time.sleep(afterMs);
    this.jobs.stand(jobId, state);
  }

  /** Lets the world run until nothing is left in any queue, or until so much time has passed. */
  async run(longestMs: number): Promise<void> {
    for (const consumer of this.#consumers()) {
      for (let worker = 0; worker < consumer.workers; worker += 1) void this.#work(consumer);
    }
    await this.time.pass(() => this.#isQuiet() || this.time.nowMs - startMs > longestMs);
  }

  get elapsedMs(): number {
    return this.time.nowMs - startMs;
  }

  /** Messages in the queues of chunks, delayed, waiting or in flight. */
  get queuedChunks(): number {
    return this.#queues.dispatch.live + this.#queues.small.live;
  }

  /** Messages that no queue gives to anybody any more. */
  get deadLetters(): number {
    return Object.values(this.#queues).reduce((sum, { deadLetters }) => sum + deadLetters.length, 0);
  }

  #isQuiet(): boolean {
    const empty = Object.values(this.#queues).every(({ isEmpty }) => isEmpty);
    if (!empty) this.#quietAt = undefined;
    else this.#quietAt ??= this.time.nowMs;
    // What a call put off may still arrive.
    return this.#quietAt !== undefined && this.time.nowMs - this.#quietAt > 120_000;
  }

  async #work(consumer: Consumer): Promise<void> {
    for (;;) {
      await this.#invoke(consumer, await consumer.queue.poll(consumer.batchSize));
    }
  }

  async #invoke({ name, queue, timeoutMs, handle }: Consumer, batch: readonly ModelDelivery[]): Promise<void> {
    const { latencyMs, faultOf, lifeMs, clockSkewMs } = this.#rules;
    this.#runs += 1;
    const run = new Run(this.time, { latencyMs, faultOf, count: this.#count });
    const skewMs = clockSkewMs();
    const bornMs = this.time.nowMs;
    const clock = {
      nowMs: () => this.time.nowMs + skewMs,
      remainingMs: () => bornMs + timeoutMs - this.time.nowMs,
      invocation: `run-${this.#runs}`,
    };
    const handled = handle(batch, run, clock).catch(() => batch.map(({ messageId }) => messageId));
    const died = this.time.sleep(Math.min(timeoutMs, lifeMs(name) ?? timeoutMs)).then(() => undefined);
    const again = await Promise.race([handled, died]);
    this.meter.ran(name, this.time.nowMs - bornMs);
    this.meter.countDelivery();
    if (again === undefined) return run.die();
    for (const { messageId, receiptHandle } of batch) {
      if (!again.includes(messageId)) queue.acknowledge(receiptHandle);
    }
  }

  #consumers(): Consumer[] {
    const { jobs, dispatch, small, receipts } = this.#queues;
    const { workers } = this.#rules;
    const timeoutMs = 60_000;
    return [
      { name: 'fan-out', queue: jobs, workers: 100, batchSize: 1, timeoutMs: 300_000, handle: this.#fanOut },
      {
        name: 'dispatch',
        queue: dispatch,
        workers,
        batchSize: 1,
        timeoutMs,
        handle: this.#dispatcher(dispatch, false),
      },
      { name: 'small', queue: small, workers: 10, batchSize: 10, timeoutMs, handle: this.#dispatcher(small, true) },
      { name: 'receipts', queue: receipts, workers: 10, batchSize: 1, timeoutMs: 120_000, handle: this.#receipts },
    ];
  }

  readonly #count = (name: string) => this.meter.count(name);

  readonly #fanOut: Consumer['handle'] = async (batch, run, clock) => {
    const again: string[] = [];
    for (const delivery of batch) {
      const message = JSON.parse(delivery.body) as JobMessage;
      const { jobs } = this.#queues;
      const hold = () =>
        run.call('hold', () => jobs.changeVisibility(delivery.receiptHandle, holdSeconds)).catch(() => undefined);
      const ports: FanOutPorts = {
        ...this.#common(run, clock),
        // A job can wait: of a hundred that begin at once, one reserves at a time.
        paces: this.numbers.paces(run, clock.nowMs, 100),
        slices: this.slices.ofRun(run),
        jobs: this.jobs.ofRounds(run),
        queue: this.#sink(run, this.#queues.dispatch),
        watch: { sendLater: async () => undefined },
        sendAgain: (next, seconds) => run.call('sendAgain', () => jobs.send(JSON.stringify(next), seconds)),
        hold,
        limitOf: async () => this.#rules.limitPerSecond,
        compose: composeMessage,
      };
      try {
        const owner = `${clock.invocation} ${delivery.receiptHandle}`;
        if ((await fanOutJob(message, owner, ports)) === 'done') continue;
      } catch {
        jobs.changeVisibility(delivery.receiptHandle, jobRetrySeconds(delivery.receiveCount));
      }
      again.push(delivery.messageId);
    }
    return again;
  };

  #dispatcher(queue: QueueModel, isSmall: boolean): Consumer['handle'] {
    return async (batch, run, clock) => {
      const common = this.#common(run, clock);
      const chunks = this.#chunkQueue(run, queue);
      const held = holdDeliveries(
        batch,
        { ...common, queue: chunks },
        isSmall ? firstHoldMs.urgent : firstHoldMs.dispatch,
      );
      const failed = await workChunks(batch, {
        ...common,
        isOfCodes: isSmall,
        slices: this.slices.ofRun(run),
        doubts: this.doubts.ofRun(run),
        queue: { ...chunks, postpone: held.postpone },
        tenths: this.numbers.tenths(run),
        look: (phoneNumberId, jobIds) =>
          run.call('look', () => ({ pace: this.numbers.paceOf(phoneNumberId), jobs: this.jobs.statesOf(jobIds) })),
        beginStraight: (chunk) => this.#beginStraight(run, chunk),
        invocation: clock.invocation,
        ready: async () => undefined,
        send: (posting) => run.call('send', () => this.#post(posting)),
        probe: () => run.call('probe', () => this.platform.read(probeTimeoutMs)),
        breakers: {
          find: () => run.call('findBreaker', () => this.breaker.find()),
          change: (seen, rule) => run.call('changeBreaker', () => this.breaker.change(seen, rule)),
        },
        newHolds: () => jobHolds({ ...common, states: this.jobs.ofHolds(run), watchParked }),
      });
      await held.end(failed);
      return failed;
    };
  }

  /** One receipt each: what they are told together is proven beside the real run of receipts. */
  readonly #receipts: Consumer['handle'] = async (batch, run, clock) => {
    const again: string[] = [];
    for (const { messageId, body } of batch) {
      const { jobId, index } = JSON.parse(body) as { jobId: string; index: number };
      try {
        await run.call('append', () => {
          const known = this.doubts.receipts.get(jobId) ?? new Set();
          this.doubts.receipts.set(jobId, known.add(index));
        });
        if (!(await run.call('doubtfulJobs', () => this.doubts.doubtful.has(jobId)))) continue;
        const slice = await run.call('findClaims', () => this.slices.find(sliceOf({ jobId, index })));
        if (slice === undefined) continue;
        const ports = { slices: this.slices.ofRun(run), nowMs: clock.nowMs };
        const settled = await settleProven(slice, new Set([placeInSlice(index)]), ports);
        if (settled === undefined) again.push(messageId);
      } catch {
        again.push(messageId);
      }
    }
    return again;
  };

  #common(run: Run, { nowMs, remainingMs }: RunClock) {
    return {
      nowMs,
      remainingMs,
      paces: this.numbers.paces(run, nowMs),
      random: this.#rules.random,
      pause: (ms: number) => run.pause(ms),
      log: (event: string) => void this.logged.set(event, (this.logged.get(event) ?? 0) + 1),
      events: {
        send: (events: readonly ServiceEvent[]) =>
          run.call('sendEvents', () => {
            for (const event of events) this.told.set(event.id, event);
          }),
      },
    };
  }

  #chunkQueue(run: Run, queue: QueueModel): ChunkQueue {
    return {
      sendLater: (chunk, seconds) => {
        const isCode = chunk.urgent === true && chunk.straight === true;
        const target = isCode ? this.#queues.small : this.#queues.dispatch;
        return run.call('sendLater', () => target.send(JSON.stringify(chunk), seconds));
      },
      postpone: (handle, seconds) => run.call('postpone', () => queue.changeVisibility(handle, seconds)),
      hold: (handles, seconds) =>
        run.call('hold', () => {
          for (const handle of handles) queue.changeVisibility(handle, seconds);
        }),
    };
  }

  #sink(run: Run, queue: QueueModel): ChunkSink {
    return {
      pack: (entries) =>
        Array.from({ length: Math.ceil(entries.length / 10) }, (_, at) => entries.slice(at * 10, at * 10 + 10)),
      sendBatch: (entries) =>
        run.call('sendBatch', () => {
          const bytes = entries.reduce((sum, { body }) => sum + body.length, 0);
          for (let billed = 1; billed < Math.ceil(bytes / billedBytes); billed += 1) this.meter.count('sendBatch');
          // A batch may be taken in part.
          const refused = entries.filter(() => this.#rules.random() < (this.#rules.repeatShare > 0 ? 0.02 : 0));
          for (const entry of entries) if (!refused.includes(entry)) queue.send(entry.body, entry.delaySeconds);
          return refused;
        }),
    };
  }

  async #post({ request, phoneNumberId }: Posting): Promise<{ platformMessageId: string }> {
    const dispatchId = String(request['biz_opaque_callback_data']);
    const to = String(request.to ?? request.recipient);
    const before = this.platform.posts.length;
    try {
      return await this.platform.post({ dispatchId, phoneNumberId, to });
    } finally {
      const took = this.platform.posts.slice(before).some((post) => post.dispatchId === dispatchId && post.taken);
      if (took) this.#tellReceipts(dispatchId);
    }
  }

  #tellReceipts(dispatchId: string): void {
    const end = dispatchId.lastIndexOf('-');
    const receipt = { jobId: dispatchId.slice(0, end), index: Number(dispatchId.slice(end + 1)) };
    for (const { afterMs } of this.#rules.receiptsOf()) {
      void this.time.sleep(afterMs).then(() => this.#queues.receipts.send(JSON.stringify(receipt)));
    }
  }
}

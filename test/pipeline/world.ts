import type { SendJob } from '../../lib/messages/accept/send-job.ts';
import { straightSend } from '../../lib/messages/accept/straight-send.ts';
import { isAlone } from '../../lib/messages/composed-message.ts';
import { probeTimeoutMs } from '../../lib/messages/dispatch/breaker.ts';
import { dispatchBatch } from '../../lib/messages/dispatch/dispatch.ts';
import type { DispatchQueue } from '../../lib/messages/dispatch/dispatch-ports.ts';
import { type FanOutPorts, fanOut } from '../../lib/messages/fan-out/fan-out.ts';
import type { FanOutQueue } from '../../lib/messages/fan-out/queue-wave.ts';
import { holdSeconds } from '../../lib/messages/rounds/lease.ts';
import { type DispatchMessage, dispatchIdOf } from '../../lib/messages/job.ts';
import { jobHolds } from '../../lib/messages/job-holds.ts';
import type { JobState } from '../../lib/messages/job-state.ts';
import { jobRetrySeconds } from '../../lib/messages/pace/pacing.ts';
import type { ReceiptMessage } from '../../lib/messages/receipts/receipt.ts';
import { recordReceipts } from '../../lib/messages/receipts/record-receipts.ts';
import { composeMessage } from '../../lib/messages/request/compose.ts';
import type { ServiceEvent } from '../../lib/webhooks/event.ts';
import { defaultEventTypes } from '../../lib/webhooks/event.ts';
import { MemoryBreaker } from '../support/memory-breaker.ts';
import { VirtualTime } from '../support/virtual-time.ts';
import { MemoryClaims } from './memory-claims.ts';
import { MemoryJobs } from './memory-jobs.ts';
import { MemoryNumbers } from './memory-numbers.ts';
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

/**
 * The whole way of a message, from the accepted job to its last receipt, on the real policies: in virtual time, with
 * stores in memory, queues that behave as SQS may, a platform that counts, and processes that die.
 */
export class PipelineWorld {
  readonly time = new VirtualTime(startMs);
  readonly claims = new MemoryClaims();
  readonly jobs = new MemoryJobs();
  readonly numbers: MemoryNumbers;
  readonly breaker = new MemoryBreaker();
  readonly platform: PlatformModel;
  readonly told = new Map<string, ServiceEvent>();
  readonly accepted: { readonly dispatchId: string; readonly job: SendJob }[] = [];
  readonly logged = new Map<string, number>();
  readonly meter = new Meter();
  readonly #rules: WorldRules;
  readonly #queues: Readonly<Record<'jobs' | 'dispatch' | 'urgent' | 'receipts', QueueModel>>;
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
      urgent: queue(360_000),
      receipts: queue(720_000),
    };
    this.platform = new PlatformModel(this.time, {
      limitPerSecond: () => rules.limitPerSecond,
      answerMs: rules.answerMs,
      fateOf: rules.fateOf,
      readFateOf: rules.readFateOf ?? rules.fateOf,
    });
  }

  accept(job: SendJob): void {
    this.claims.heads.set(job.head.jobId, job.head);
    if (isAlone(job)) void this.#acceptStraight(job);
    else this.#queues.jobs.send(JSON.stringify(job));
    for (const at of job.recipients.keys()) {
      this.accepted.push({ dispatchId: dispatchIdOf({ jobId: job.head.jobId, index: job.firstIndex + at }), job });
    }
  }

  /** An acceptance that may hear nothing of the queue, take the job back, or die at any moment. */
  async #acceptStraight(job: SendJob): Promise<void> {
    const { latencyMs, faultOf, lifeMs, limitPerSecond } = this.#rules;
    const run = new Run(this.time, { latencyMs, faultOf, count: this.#count });
    const diesAfterMs = lifeMs('acceptance');
    if (diesAfterMs !== undefined) void this.time.sleep(diesAfterMs).then(() => run.die());
    const straight = await straightSend(job, async () => limitPerSecond);
    if (straight === undefined) throw new Error('a job that was to go straight');
    const queue = job.head.urgent ? this.#queues.urgent : this.#queues.dispatch;
    const enqueued = run.call('enqueueStraight', () => queue.send(straight.body));
    const isRefused = await enqueued.then(
      () => false,
      () => run.call('withdraw', () => this.jobs.withdraw(job.head.jobId)).catch(() => false),
    );
    if (!isRefused)
      await this.jobs
        .straight(run)
        .begin(straight.message)
        .catch(() => undefined);
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
    const { jobs, dispatch, urgent, receipts } = this.#queues;
    const { workers } = this.#rules;
    const messages = { batchSize: 10, timeoutMs: 60_000 };
    return [
      { name: 'fan-out', queue: jobs, workers: 100, batchSize: 1, timeoutMs: 300_000, handle: this.#fanOut },
      { name: 'dispatch', queue: dispatch, workers, ...messages, handle: this.#dispatcher(dispatch) },
      { name: 'urgent', queue: urgent, workers: 10, ...messages, handle: this.#dispatcher(urgent) },
      { name: 'receipts', queue: receipts, workers: 10, batchSize: 500, timeoutMs: 120_000, handle: this.#receipts },
    ];
  }

  readonly #count = (name: string) => this.meter.count(name);

  readonly #fanOut: Consumer['handle'] = async (batch, run, clock) => {
    const again: string[] = [];
    for (const delivery of batch) {
      const job = JSON.parse(delivery.body) as SendJob;
      const { jobs } = this.#queues;
      const hold = () =>
        run.call('hold', () => jobs.changeVisibility(delivery.receiptHandle, holdSeconds)).catch(() => undefined);
      const ports: FanOutPorts = {
        ...this.#common(run, clock),
        claims: this.claims.ofDispatch(run).claims,
        jobs: this.jobs.ofFanOut(run),
        queue: this.#fanOutQueue(run, this.#queues.dispatch),
        urgentQueue: this.#fanOutQueue(run, this.#queues.urgent),
        watch: { sendLater: async () => undefined },
        sendAgain: (next, seconds) => run.call('sendAgain', () => jobs.send(JSON.stringify(next), seconds)),
        hold,
        demands: this.numbers.demands(run),
        workersPerSecond: this.#rules.workers * 6,
        limitOf: async () => this.#rules.limitPerSecond,
        compose: composeMessage,
      };
      try {
        const owner = `${clock.invocation} ${delivery.receiptHandle}`;
        const ending = await fanOut({ job, sentAtMs: delivery.sentAtMs, owner }, ports);
        if (ending.end === 'done') continue;
        if (ending.afterSeconds !== undefined) jobs.changeVisibility(delivery.receiptHandle, ending.afterSeconds);
      } catch {
        jobs.changeVisibility(delivery.receiptHandle, jobRetrySeconds(delivery.receiveCount));
      }
      again.push(delivery.messageId);
    }
    return again;
  };

  #dispatcher(queue: QueueModel): Consumer['handle'] {
    return async (batch, run, clock) =>
      await dispatchBatch(batch, {
        ...this.#common(run, clock),
        ...this.claims.ofDispatch(run),
        queue: this.#dispatchQueue(run, queue),
        tenths: this.numbers.tenths(run),
        jobStates: this.jobs.ofDispatch(run),
        straightJobs: this.jobs.straight(run),
        invocation: clock.invocation,
        ready: async () => undefined,
        send: (message) => run.call('send', () => this.#post(message)),
        probe: () => run.call('probe', () => this.platform.read(probeTimeoutMs)),
        breakers: {
          find: () => run.call('findBreaker', () => this.breaker.find()),
          change: (seen, rule) => run.call('changeBreaker', () => this.breaker.change(seen, rule)),
        },
        newHolds: () => jobHolds({ ...this.#common(run, clock), states: this.jobs.ofHolds(run), watchParked }),
      });
  }

  readonly #receipts: Consumer['handle'] = async (batch, run, clock) => {
    const { records, claims } = this.claims.ofReceipts(run);
    const common = this.#common(run, clock);
    return await recordReceipts(batch, { ...common, records, claims, wanted: async () => defaultEventTypes });
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

  #dispatchQueue(run: Run, queue: QueueModel): DispatchQueue {
    return {
      sendLater: (message, seconds) => run.call('sendLater', () => queue.send(JSON.stringify(message), seconds)),
      postpone: (handle, seconds) => run.call('postpone', () => queue.changeVisibility(handle, seconds)),
      hold: (handles, seconds) =>
        run.call('hold', () => {
          for (const handle of handles) queue.changeVisibility(handle, seconds);
        }),
    };
  }

  #fanOutQueue(run: Run, queue: QueueModel): FanOutQueue {
    return {
      pack: (messages) => {
        const entries = messages.map(({ message, delaySeconds }) => ({
          body: JSON.stringify(message),
          group: String(message.clientId),
          delaySeconds,
        }));
        return Array.from({ length: Math.ceil(entries.length / 10) }, (_, at) => entries.slice(at * 10, at * 10 + 10));
      },
      sendBatch: (entries) =>
        run.call('sendBatch', () => {
          // A batch may be taken in part.
          const refused = entries.filter(() => this.#rules.random() < (this.#rules.repeatShare > 0 ? 0.02 : 0));
          for (const entry of entries) if (!refused.includes(entry)) queue.send(entry.body, entry.delaySeconds);
          return refused;
        }),
    };
  }

  async #post(message: DispatchMessage): Promise<{ platformMessageId: string }> {
    const to = String(message.request.to ?? message.request.recipient);
    const dispatchId = dispatchIdOf(message);
    const { phoneNumberId } = message;
    const before = this.platform.posts.length;
    try {
      return await this.platform.post({ dispatchId, phoneNumberId, to });
    } finally {
      const took = this.platform.posts.slice(before).some((post) => post.dispatchId === dispatchId && post.taken);
      if (took) this.#tellReceipts(message);
    }
  }

  #tellReceipts({ jobId, index, phoneNumberId }: DispatchMessage): void {
    const wabaId = this.claims.heads.get(jobId)?.wabaId ?? '';
    for (const { status, afterMs } of this.#rules.receiptsOf()) {
      const receipt = { jobId, index, status, atMs: this.time.nowMs, platformMessageId: `wamid.${jobId}-${index}` };
      const message: ReceiptMessage = { version: 1, numbers: [{ wabaId, phoneNumberId, receipts: [receipt] }] };
      void this.time.sleep(afterMs).then(() => this.#queues.receipts.send(JSON.stringify(message)));
    }
  }
}

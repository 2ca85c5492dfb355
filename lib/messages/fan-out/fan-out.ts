import type { QueueEntry } from '../../aws/sqs-batch.ts';
import { present } from '../../keys/present.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import { nameOf } from '../../observe/name-of.ts';
import type { EventSink, ServiceEvent } from '../../webhooks/event.ts';
import type { AcceptedJob } from '../accept/accepted-job.ts';
import type { SendJob } from '../accept/send-job.ts';
import { completedEvent } from '../dispatch/completed-event.ts';
import type { Claims } from '../dispatch/dispatch-ports.ts';
import { outcomeEvent } from '../dispatch/message-event.ts';
import { aboutJob, type DispatchMessage, dispatchIdOf, type JobHead, type Recipient } from '../job.ts';
import { fanOutDelaySeconds } from '../pace/pacing.ts';
import type { CompositionPlan } from '../request/compose.ts';
import { firstLookSeconds, type WatchQueue, watchOf } from './watch-message.ts';

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
  /** Remembers that the first `queued` recipients of this part are in the dispatch queue. */
  checkpoint(jobId: string, part: number, queued: number): Promise<void>;
}

export interface DelayedMessage {
  readonly message: DispatchMessage;
  readonly delaySeconds: number;
}

export interface FanOutQueue {
  /** Packs messages in order into as few batches as the queue's limits allow. */
  pack(messages: readonly DelayedMessage[]): QueueEntry[][];
  /** Queues one batch; returns the entries that the queue refused. */
  sendBatch(entries: readonly QueueEntry[]): Promise<readonly QueueEntry[]>;
}

export interface FanOutPorts {
  readonly jobs: JobRecords;
  readonly claims: Pick<Claims, 'take'>;
  readonly queue: FanOutQueue;
  readonly watch: WatchQueue;
  readonly events: EventSink;
  readonly compose: (plan: CompositionPlan, recipient: Recipient, dispatchId: string) => DispatchMessage['request'];
  readonly nowMs: () => number;
  readonly remainingMs: () => number;
  readonly random: () => number;
  readonly pause: (ms: number) => Promise<void>;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/** `again` asks for the same job message once more, after so many seconds. */
export type FanOutEnd = { readonly end: 'done' } | { readonly end: 'again'; readonly afterSeconds: number };

const done: FanOutEnd = { end: 'done' };

/** Recipients between two checkpoints. */
const waveSize = 500;
const batchesInFlight = 10;
const sendTries = 4;
/** A wave, with every retry of a queue in trouble, must fit into what is left when it starts. */
const waveBudgetMs = 15_000;

/** An API function lives 30 s at most: two minutes after its message was sent, a missing commit never comes. */
const commitPatienceMs = 120_000;

/**
 * Turns a job into one dispatch message per recipient. Repeating it from any point is harmless: ids are the same, and
 * claims let each be sent once. Throws when queue or store stay unreachable; the job must then be delivered again.
 * Recipients that cannot be composed end `failed` (R14), told before their wave counts as queued (D34).
 * A job of several messages is then given to whoever watches for its end (D41): by its last part, once is enough.
 */
export async function fanOut(job: SendJob, sentAtMs: number, ports: FanOutPorts): Promise<FanOutEnd> {
  const { head } = job;
  const part = job.part?.number ?? 1;
  if (job.part !== undefined && !(await ports.jobs.isCommitted(head.jobId))) return uncommitted(head, sentAtMs, ports);

  const begun = await ports.jobs.begin(head, part);
  if (begun === undefined) {
    ports.log('job.withdrawn', { jobId: head.jobId, clientId: head.clientId });
    return done;
  }
  await ports.jobs.describe(job);
  let queued = begun;
  while (queued < job.recipients.length) {
    if (ports.remainingMs() < waveBudgetMs) return { end: 'again', afterSeconds: 0 };
    const wave = job.recipients.slice(queued, queued + waveSize);
    await queueWave(await composeWave(job, wave, job.firstIndex + queued, ports), ports);
    queued += wave.length;
    await ports.jobs.checkpoint(head.jobId, part, queued);
  }
  const isLast = job.part === undefined || job.part.number === job.part.of;
  if (isLast && !isAlone(job)) await ports.watch.sendLater(watchOf(head), firstLookSeconds(head));
  ports.log('job.fanned_out', { jobId: head.jobId, clientId: head.clientId, count: queued });
  return done;
}

/** The client of a part without commit was told 502, or will be: nothing of it may be sent. */
function uncommitted(head: JobHead, sentAtMs: number, ports: FanOutPorts): FanOutEnd {
  const ageMs = ports.nowMs() - sentAtMs;
  if (ageMs >= commitPatienceMs) {
    ports.log('job.never_accepted', { jobId: head.jobId, clientId: head.clientId });
    return done;
  }
  // A commit follows within a second or not at all: one quick look, then one when it is certain.
  const waitMs = ageMs < 5_000 ? 5_000 : commitPatienceMs - ageMs;
  return { end: 'again', afterSeconds: Math.ceil(waitMs / 1_000) };
}

/** Its one message says itself when the job has ended; what was dropped as its duplicate is for the counts of the report. */
function isAlone({ head, repeats = [] }: SendJob): boolean {
  return head.total === 1 && repeats.length === 0;
}

async function composeWave(
  job: SendJob,
  wave: readonly Recipient[],
  firstIndex: number,
  ports: FanOutPorts,
): Promise<DelayedMessage[]> {
  const messages: DelayedMessage[] = [];
  const failures: ServiceEvent[] = [];
  for (const [offset, recipient] of wave.entries()) {
    const index = firstIndex + offset;
    const key = { jobId: job.head.jobId, index };
    try {
      const request = ports.compose(job.plan, recipient, dispatchIdOf(key));
      messages.push(delayedMessage(job, { index, request }));
    } catch (error) {
      ports.log('job.not_composable', {
        dispatchId: dispatchIdOf(key),
        error: nameOf(error),
      });
      failures.push(...(await recordNotComposable(job, { index, to: recipient.to }, ports)));
    }
  }
  if (failures.length > 0) await ports.events.send(failures);
  return messages;
}

async function recordNotComposable(
  job: SendJob,
  { index, to }: { readonly index: number; readonly to: string },
  ports: FanOutPorts,
): Promise<ServiceEvent[]> {
  const { head } = job;
  const { jobId, clientId, acceptedAtMs } = head;
  const outcome = { state: 'failed', code: 'not_composable' } as const;
  const claim = { key: { jobId, index }, ...outcome, at: 'fan-out/0', claimedAtMs: ports.nowMs(), to };
  if ((await ports.claims.take(claim)) === undefined) count('MessagesFailed');
  const message = { jobId, index, clientId, acceptedAtMs, about: aboutJob(head), to };
  const event = outcomeEvent(message, outcome, ports.nowMs());
  const completed = isAlone(job) ? [completedEvent(message, { failed: 1 }, ports.nowMs())] : [];
  return [...(event === undefined ? [] : [event]), ...completed];
}

function delayedMessage(job: SendJob, composed: Pick<DispatchMessage, 'index' | 'request'>): DelayedMessage {
  const { head } = job;
  const message: DispatchMessage = {
    jobId: head.jobId,
    index: composed.index,
    clientId: head.clientId,
    phoneNumberId: head.phoneNumberId,
    credential: head.credential,
    path: head.path,
    acceptedAtMs: head.acceptedAtMs,
    ...present({ expiresAtMs: head.expiresAtMs }),
    correlationId: head.correlationId,
    attempt: 0,
    about: aboutJob(head),
    ...(isAlone(job) ? { alone: true as const } : {}),
    ...present({ receiptsExpected: head.receiptsExpected }),
    request: composed.request,
  };
  return { message, delaySeconds: fanOutDelaySeconds(composed.index, head.throughputPerSecond) };
}

async function queueWave(messages: readonly DelayedMessage[], ports: FanOutPorts): Promise<void> {
  const batches = ports.queue.pack(messages).values();
  // The workers share one iterator: each takes the next batch as soon as it is free.
  await Promise.all(
    Array.from({ length: batchesInFlight }, async () => {
      for (const batch of batches) await queueBatch(batch, ports);
    }),
  );
}

async function queueBatch(batch: readonly QueueEntry[], ports: FanOutPorts): Promise<void> {
  let open = batch;
  for (let attempt = 1; open.length > 0; attempt += 1) {
    if (attempt > sendTries) throw new Error(`the dispatch queue refused ${open.length} messages ${sendTries} times`);
    if (attempt > 1) await ports.pause(100 * 2 ** attempt * (1 + ports.random()));
    open = await ports.queue.sendBatch(open);
  }
}

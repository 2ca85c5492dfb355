import type { QueueEntry } from '../../lib/aws/sqs-batch.ts';
import type { SendJob } from '../../lib/messages/accept/send-job.ts';
import type { Claim } from '../../lib/messages/dispatch/claim.ts';
import { packBatches } from '../../lib/messages/fan-out/dispatch-queue.ts';
import { type FanOutPorts, fanOut } from '../../lib/messages/fan-out/fan-out.ts';
import type { FanOutQueue } from '../../lib/messages/fan-out/queue-wave.ts';
import type { WatchMessage } from '../../lib/messages/rounds/watch-message.ts';
import { type DispatchMessage, dispatchIdOf, type JobHead, type Recipient } from '../../lib/messages/job.ts';
import type { WorkerDemand } from '../../lib/messages/pace/worker-shares.ts';
import type { LogEvent, LogFacts } from '../../lib/observe/log.ts';
import { MemoryEvents } from './memory-events.ts';
import { emptyMemoryJob, memoryJobRecords } from './memory-job-records.ts';
import { memoryPaces } from './memory-paces.ts';
import { makeJobHead } from './send-jobs.ts';

export const fanOutStartMs = 1_800_000_000_000;

function recipients(count: number): Recipient[] {
  return Array.from({ length: count }, (_, index) => ({ to: String(5_490_000_000_000 + index) }));
}

export interface JobChanges extends Partial<Omit<SendJob, 'head'>> {
  readonly head?: Partial<JobHead>;
}

/** A job of so many recipients. */
export function fanOutJob(count: number, { head: changedHead = {}, ...changes }: JobChanges = {}): SendJob {
  return {
    head: makeJobHead({
      jobId: 'J',
      throughputPerSecond: 80,
      acceptedAtMs: fanOutStartMs,
      total: count,
      ...changedHead,
    }),
    plan: {} as SendJob['plan'],
    recipients: recipients(count),
    firstIndex: 0,
    ...changes,
  };
}

/** All that a fan-out meets, in memory: a number of 1,000 a second, so that jobs are one round unless a test says otherwise. */
export function fanOutWorld(changes: Partial<FanOutPorts> = {}) {
  const queued: (DispatchMessage & { delaySeconds: number })[] = [];
  const codes: DispatchMessage[] = [];
  const batches: number[] = [];
  const claims = new Map<string, Claim>();
  const events = new MemoryEvents();
  const watched: { message: WatchMessage; delaySeconds: number }[] = [];
  const sentAgain: { job: SendJob; delaySeconds: number }[] = [];
  const holds: number[] = [];
  const committed = new Set<string>();
  const job = emptyMemoryJob();
  const paces = memoryPaces();
  const demands: WorkerDemand[] = [];
  const logged: [LogEvent, LogFacts][] = [];
  const accept = (entry: QueueEntry) => queued.push({ ...JSON.parse(entry.body), delaySeconds: entry.delaySeconds });
  const ports: FanOutPorts = {
    jobs: memoryJobRecords(job, committed),
    claims: {
      take: async (claim) => {
        const existing = claims.get(dispatchIdOf(claim.key));
        if (existing === undefined) claims.set(dispatchIdOf(claim.key), claim);
        return existing;
      },
    },
    events,
    queue: {
      pack: packBatches,
      sendBatch: async (entries) => {
        batches.push(entries.length);
        for (const entry of entries) accept(entry);
        return [];
      },
    },
    urgentQueue: {
      pack: packBatches,
      sendBatch: async (entries) => {
        for (const { body } of entries) codes.push(JSON.parse(body));
        return [];
      },
    },
    watch: { sendLater: async (message, delaySeconds) => void watched.push({ message, delaySeconds }) },
    sendAgain: async (sent, delaySeconds) => void sentAgain.push({ job: sent, delaySeconds }),
    hold: async () => void holds.push(ports.nowMs()),
    compose: (_, recipient, dispatchId) => ({ to: recipient.to, biz_opaque_callback_data: dispatchId }),
    paces,
    demands: {
      tell: async (demand) => {
        demands.push(demand);
        return [demand];
      },
    },
    workersPerSecond: 10_000,
    limitOf: async () => 1_000,
    nowMs: () => fanOutStartMs,
    remainingMs: () => 60_000,
    random: () => 0,
    pause: async () => undefined,
    log: (event, facts) => void logged.push([event, facts]),
    ...changes,
  };
  const progress = job.queued;
  const failed = () => [...claims.values()];
  return {
    ports,
    job,
    paces,
    demands,
    queued,
    codes,
    batches,
    claims,
    failed,
    progress,
    committed,
    accept,
    events,
    watched,
    sentAgain,
    holds,
    logged,
  };
}

/** A dispatch queue that takes batches as told. */
export function queueThat(sendBatch: FanOutQueue['sendBatch']): FanOutQueue {
  return { pack: packBatches, sendBatch };
}

let runs = 0;

/** Another run of the function each time. */
export function fannedOut(job: SendJob, ports: FanOutPorts) {
  runs += 1;
  return fanOut({ job, sentAtMs: fanOutStartMs, owner: `run ${runs}` }, ports);
}

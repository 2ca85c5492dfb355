import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { acceptanceStore } from '../../lib/messages/accept/acceptance-store.ts';
import type { SendJob } from '../../lib/messages/accept/send-job.ts';
import { straightSend } from '../../lib/messages/accept/straight-send.ts';
import { breakerStore } from '../../lib/messages/dispatch/breaker-store.ts';
import { dispatchBatch } from '../../lib/messages/dispatch/dispatch.ts';
import type { DispatchPorts } from '../../lib/messages/dispatch/dispatch-ports.ts';
import { dispatchStore } from '../../lib/messages/dispatch/dispatch-store.ts';
import { firstHoldMs, holdDeliveries } from '../../lib/messages/dispatch/held-deliveries.ts';
import { packBatches } from '../../lib/messages/fan-out/dispatch-queue.ts';
import { type FanOutPorts, fanOut } from '../../lib/messages/fan-out/fan-out.ts';
import { jobStore } from '../../lib/messages/fan-out/job-store.ts';
import type { FanOutQueue } from '../../lib/messages/fan-out/queue-wave.ts';
import { dispatchIdOf } from '../../lib/messages/job.ts';
import { jobHolds } from '../../lib/messages/job-holds.ts';
import { jobStateStore } from '../../lib/messages/job-state-store.ts';
import { paceStore } from '../../lib/messages/pace/pace-store.ts';
import { urgentStore } from '../../lib/messages/pace/urgent-store.ts';
import { workerDemandStore } from '../../lib/messages/pace/worker-shares-store.ts';
import { doubtStore } from '../../lib/messages/receipts/doubt-store.ts';
import { composeMessage } from '../../lib/messages/request/compose.ts';
import { correlated } from '../../lib/observe/correlation.ts';
import type { LogEvent, LogFacts } from '../../lib/observe/log.ts';
import { MemoryEvents } from '../support/memory-events.ts';
import { platformIdOf } from '../support/reported-jobs.ts';
import { meterRequests, type RequestCost, type RequestMeter } from '../support/request-meter.ts';
import { VirtualTime } from '../support/virtual-time.ts';
import { QueueModel } from './queue-model.ts';
import { startMs } from './world.ts';

/*
 * Jobs on the real store, in a time that stands still while the store works: what their way to the platform takes. Queues and
 * platform are in memory; receipts are metered with their store.
 */

/** Messages a second of the number that all jobs send from. */
export const limitPerSecond = 80;

export interface MeteredJob {
  readonly job: SendJob;
  /** When it is accepted, after the beginning. */
  readonly afterMs: number;
}

export interface MeteredRun {
  readonly jobs: readonly MeteredJob[];
  /** A client for each of them, so that each is metered apart: acceptance, fan-out, workers. */
  readonly clients: readonly [DynamoDBDocumentClient, DynamoDBDocumentClient, DynamoDBDocumentClient];
  readonly table: string;
  /** So long after a message is there a worker looks for what is there. */
  readonly gatherMs?: number;
  /** What the number of the jobs has learned (lib/messages/pace/delivery-lead.ts). */
  readonly leadMs?: number;
  /** How long the platform takes for a message. */
  readonly platformMs?: number;
  /** How long each request of the table takes, besides standing still. */
  readonly storeMs?: number;
  /** What the fan-out logs. */
  readonly log?: (event: LogEvent, facts: LogFacts) => void;
}

/** Runs of a function, and how long they took together, waiting included. */
interface Runs {
  runs: number;
  ms: number;
}

export interface Metered {
  /** Dispatch ids, as the platform got them. */
  readonly posted: readonly string[];
  readonly store: Readonly<Record<'acceptance' | 'fanOut' | 'dispatch', RequestCost>>;
  readonly fanOut: Readonly<Runs>;
  readonly dispatch: Readonly<Runs>;
  /** What SQS bills, once a job is queued; and those of these requests that name a message group. */
  readonly queueRequests: number;
  readonly groupedRequests: number;
}

/** SQS bills a request for each 64 KB of what it carries. */
const billedBytes = 65_536;

export async function meterJobs(options: MeteredRun): Promise<Metered> {
  const { table, platformMs = 200, storeMs = 0, gatherMs = 0, log = () => undefined } = options;
  const time = new VirtualTime(startMs);
  const nowMs = () => time.nowMs;
  const [acceptanceClient, jobClient, workerClient] = options.clients;
  const { leadMs } = options;
  if (leadMs !== undefined) {
    const paces = paceStore({ client: acceptanceClient, table, nowMs, newWriter: randomUUID });
    const { phoneNumberId = '' } = options.jobs[0]?.job.head ?? {};
    await paces.change(phoneNumberId, undefined, (pace) => ({ pace: { ...pace, leadMs }, result: undefined }));
  }
  const [acceptance, fanOutMeter, dispatchMeter] = options.clients.map(meterRequests) as [
    RequestMeter,
    RequestMeter,
    RequestMeter,
  ];
  for (const client of options.clients) {
    const send = client.send.bind(client) as (...args: unknown[]) => Promise<unknown>;
    const slowly = async (...args: unknown[]) => {
      if (storeMs > 0) await time.sleep(storeMs);
      return await send(...args);
    };
    Object.assign(client, { send: slowly });
  }
  const queue = new QueueModel(
    time,
    { visibilityMs: 360_000, maxReceiveCount: 5, delayJitterMs: 0, repeatShare: 0 },
    () => 0,
  );
  const posted: string[] = [];
  const [fanOutRuns, dispatchRuns]: [Runs, Runs] = [
    { runs: 0, ms: 0 },
    { runs: 0, ms: 0 },
  ];
  let [queueRequests, groupedRequests] = [0, 0];
  const billRequest = (bodies: readonly string[] = []) => {
    const bytes = bodies.reduce((sum, body) => sum + Buffer.byteLength(body), 0);
    const billed = Math.max(1, Math.ceil(bytes / billedBytes));
    queueRequests += billed;
    return billed;
  };
  const billSending = (bodies: readonly string[]) => {
    groupedRequests += billRequest(bodies);
  };
  const timed = async <T>(of: Runs, work: () => Promise<T>): Promise<T> => {
    const beganMs = time.nowMs;
    of.runs += 1;
    return await work().finally(() => {
      of.ms += time.nowMs - beganMs;
    });
  };
  const shared = (client: DynamoDBDocumentClient) => ({
    claims: dispatchStore({ client, table, nowMs }),
    paces: paceStore({ client, table, nowMs, newWriter: randomUUID }),
    events: new MemoryEvents(),
    nowMs,
    remainingMs: () => 60_000,
    random: () => 0,
    pause: (ms: number) => time.sleep(ms),
    log: () => undefined,
  });

  const fanOutQueue: FanOutQueue = {
    pack: packBatches,
    sendBatch: async (entries) => {
      billSending(entries.map(({ body }) => body));
      for (const { body, delaySeconds } of entries) queue.send(body, delaySeconds);
      return [];
    },
  };
  const accept = async ({ job, afterMs }: MeteredJob) => {
    let next: [job: SendJob, delaySeconds: number] | undefined = [job, 0];
    const fanOutPorts: FanOutPorts = {
      ...shared(jobClient),
      log,
      jobs: jobStore(jobClient, table),
      queue: fanOutQueue,
      urgentQueue: fanOutQueue,
      watch: { sendLater: async () => billSending([]) },
      sendAgain: async (...anew) => {
        billSending([JSON.stringify(anew[0])]);
        next = anew;
      },
      hold: async () => void billRequest(),
      demands: workerDemandStore(jobClient, table),
      workersPerSecond: 600,
      limitOf: async () => limitPerSecond,
      compose: composeMessage,
    };
    await time.sleep(afterMs);
    const records = acceptanceStore(acceptanceClient, table, nowMs);
    const straight = await straightSend(job, async () => limitPerSecond);
    if (straight !== undefined) {
      queue.send(straight.body);
      await records.begin(straight.message);
      return;
    }
    await records.describe(job, AbortSignal.timeout(60_000));
    while (next !== undefined) {
      const [message, delaySeconds]: [SendJob, number] = next;
      next = undefined;
      await time.sleep(delaySeconds * 1_000);
      // Received and deleted.
      for (const bodies of [[JSON.stringify(message)], []]) billRequest(bodies);
      await timed(fanOutRuns, () =>
        correlated(message.head.correlationId, () =>
          fanOut({ job: message, sentAtMs: time.nowMs, owner: randomUUID() }, fanOutPorts),
        ),
      );
    }
  };

  const states = jobStateStore(workerClient, table);
  const dispatchPorts: Omit<DispatchPorts, 'invocation'> = {
    ...shared(workerClient),
    doubts: doubtStore(workerClient, table),
    tenths: urgentStore(workerClient, table),
    jobStates: states,
    straightJobs: acceptanceStore(workerClient, table, nowMs),
    breakers: breakerStore({ client: workerClient, table, nowMs }),
    probe: async () => undefined,
    newHolds: () => jobHolds({ states, watchParked: async () => undefined, nowMs, log: () => undefined }),
    queue: {
      sendLater: async (message, delaySeconds) => {
        const body = JSON.stringify(message);
        billSending([body]);
        queue.send(body, delaySeconds);
      },
      postpone: async (receiptHandle, seconds) => {
        billRequest();
        queue.changeVisibility(receiptHandle, seconds);
      },
      hold: async () => void billRequest(),
    },
    ready: async () => undefined,
    send: async (message) => {
      await time.sleep(platformMs);
      posted.push(dispatchIdOf(message));
      return { platformMessageId: platformIdOf(message.jobId, message.index) };
    },
  };
  const work = async () => {
    for (;;) {
      const batch = await (gatherMs > 0 ? queue.pollWithin(gatherMs, 10) : queue.poll(10));
      // Received and deleted.
      for (const bodies of [batch.map(({ body }) => body), []]) billRequest(bodies);
      const again = await timed(dispatchRuns, async () => {
        const held = holdDeliveries(batch, dispatchPorts, firstHoldMs.other);
        const heldQueue = { ...dispatchPorts.queue, postpone: held.postpone };
        const failed = await dispatchBatch(batch, { ...dispatchPorts, queue: heldQueue, invocation: randomUUID() });
        await held.end(failed);
        return failed;
      });
      for (const { messageId, receiptHandle } of batch) {
        if (!again.includes(messageId)) queue.acknowledge(receiptHandle);
      }
    }
  };

  let over = false;
  const jobsAreOver = Promise.all(options.jobs.map(accept));
  // Who gathers is one poller: of several each would take a message by itself.
  for (let worker = 0; worker < (gatherMs > 0 ? 1 : 100); worker += 1) void work();
  void jobsAreOver.finally(() => {
    over = true;
  });
  const meters = { acceptance, fanOut: fanOutMeter, dispatch: dispatchMeter };
  const storeWorks = () => Object.values(meters).some((meter) => meter.underWay() > 0);
  while (!over || !queue.isEmpty) {
    await time.pass(() => storeWorks() || (over && queue.isEmpty));
    await setImmediate();
  }
  await jobsAreOver;
  const store = { acceptance: acceptance.taken(), fanOut: fanOutMeter.taken(), dispatch: dispatchMeter.taken() };
  return { posted, store, fanOut: fanOutRuns, dispatch: dispatchRuns, queueRequests, groupedRequests };
}

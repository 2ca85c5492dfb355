import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { acceptanceStore } from '../../lib/messages/accept/acceptance-store.ts';
import type { SendJob } from '../../lib/messages/accept/send-job.ts';
import { breakerStore } from '../../lib/messages/dispatch/breaker-store.ts';
import { dispatchBatch } from '../../lib/messages/dispatch/dispatch.ts';
import type { DispatchPorts } from '../../lib/messages/dispatch/dispatch-ports.ts';
import { dispatchStore } from '../../lib/messages/dispatch/dispatch-store.ts';
import { packBatches } from '../../lib/messages/fan-out/dispatch-queue.ts';
import { type FanOutPorts, fanOut } from '../../lib/messages/fan-out/fan-out.ts';
import { jobStore } from '../../lib/messages/fan-out/job-store.ts';
import type { FanOutQueue } from '../../lib/messages/fan-out/queue-wave.ts';
import { dispatchIdOf, type Recipient } from '../../lib/messages/job.ts';
import { jobHolds } from '../../lib/messages/job-holds.ts';
import { jobStateStore } from '../../lib/messages/job-state-store.ts';
import { paceStore } from '../../lib/messages/pace/pace-store.ts';
import { urgentStore } from '../../lib/messages/pace/urgent-store.ts';
import { workerDemandStore } from '../../lib/messages/pace/worker-shares-store.ts';
import { doubtStore } from '../../lib/messages/receipts/doubt-store.ts';
import { composeMessage } from '../../lib/messages/request/compose.ts';
import { seededRandom } from '../support/faults.ts';
import { MemoryEvents } from '../support/memory-events.ts';
import { platformIdOf } from '../support/reported-jobs.ts';
import { meterRequests } from '../support/request-meter.ts';
import { makeJob } from '../support/send-jobs.ts';
import { freshTable, patientDocumentClient } from '../support/stores.ts';
import { thorough } from '../support/thorough.ts';
import { VirtualTime } from '../support/virtual-time.ts';
import { QueueModel } from './queue-model.ts';
import { startMs } from './world.ts';

/*
 * A job on the real store, in a time that stands still while the store works: how many write units its way to the platform
 * takes. Queues and platform are in memory; receipts are metered with their store.
 */

const limitPerSecond = 80;

async function costOfJob(job: SendJob) {
  const table = await freshTable('messages');
  const time = new VirtualTime(startMs);
  const nowMs = () => time.nowMs;
  const [jobClient, workerClient] = [patientDocumentClient(), patientDocumentClient()];
  const [jobMeter, workerMeter] = [meterRequests(jobClient), meterRequests(workerClient)];
  const queue = new QueueModel(
    time,
    { visibilityMs: 360_000, maxReceiveCount: 5, delayJitterMs: 0, repeatShare: 0 },
    () => 0,
  );
  const posted: string[] = [];
  let batches = 0;
  const shared = (client: typeof jobClient) => ({
    claims: dispatchStore({ client, table, nowMs }),
    paces: paceStore({ client, table, nowMs, newWriter: randomUUID }),
    events: new MemoryEvents(),
    nowMs,
    remainingMs: () => 60_000,
    random: () => 0,
    pause: (ms: number) => time.sleep(ms),
    log: () => undefined,
  });

  let next: [job: SendJob, delaySeconds: number] | undefined = [job, 0];
  const fanOutQueue: FanOutQueue = {
    pack: packBatches,
    sendBatch: async (entries) => {
      for (const { body, delaySeconds } of entries) queue.send(body, delaySeconds);
      return [];
    },
  };
  const fanOutPorts: FanOutPorts = {
    ...shared(jobClient),
    jobs: jobStore(jobClient, table),
    queue: fanOutQueue,
    urgentQueue: fanOutQueue,
    watch: { sendLater: async () => undefined },
    sendAnew: async (...anew) => {
      next = anew;
    },
    hold: async () => undefined,
    demands: workerDemandStore(jobClient, table),
    workersPerSecond: 600,
    limitOf: async () => limitPerSecond,
    compose: composeMessage,
  };
  const accept = async () => {
    await acceptanceStore(jobClient, table, nowMs).describe(job, AbortSignal.timeout(60_000));
    while (next !== undefined) {
      const [message, delaySeconds] = next;
      next = undefined;
      await time.sleep(delaySeconds * 1_000);
      await fanOut({ job: message, sentAtMs: time.nowMs, owner: randomUUID() }, fanOutPorts);
    }
  };

  const states = jobStateStore(workerClient, table);
  const dispatchPorts: Omit<DispatchPorts, 'invocation'> = {
    ...shared(workerClient),
    doubts: doubtStore(workerClient, table),
    tenths: urgentStore(workerClient, table),
    jobStates: states,
    breakers: breakerStore({ client: workerClient, table, nowMs }),
    probe: async () => undefined,
    newHolds: () => jobHolds({ states, watchParked: async () => undefined, nowMs, log: () => undefined }),
    queue: {
      sendLater: async (message, delaySeconds) => queue.send(JSON.stringify(message), delaySeconds),
      postpone: async (receiptHandle, seconds) => queue.changeVisibility(receiptHandle, seconds),
      hold: async () => undefined,
    },
    ready: async () => undefined,
    send: async (message) => {
      await time.sleep(200);
      posted.push(dispatchIdOf(message));
      return { platformMessageId: platformIdOf(message.jobId, message.index) };
    },
  };
  const work = async () => {
    for (;;) {
      await queue.whenVisible();
      const batch = queue.receive(10);
      if (batch.length === 0) continue;
      batches += 1;
      const again = await dispatchBatch(batch, { ...dispatchPorts, invocation: randomUUID() });
      for (const { messageId, receiptHandle } of batch) {
        if (!again.includes(messageId)) queue.acknowledge(receiptHandle);
      }
    }
  };

  let over = false;
  const jobIsOver = accept();
  for (let worker = 0; worker < 100; worker += 1) void work();
  void jobIsOver.finally(() => {
    over = true;
  });
  const storeWorks = () => jobMeter.underWay() + workerMeter.underWay() > 0;
  while (!over || !queue.isEmpty) {
    await time.pass(() => storeWorks() || (over && queue.isEmpty));
    await setImmediate();
  }
  await jobIsOver;
  const writeUnits = { job: jobMeter.taken().writeUnits, workers: workerMeter.taken().writeUnits };
  return { posted, batches, writeUnits };
}

/** Numbers as far apart as those of a real list, which do not pack well. */
function recipientsOf(count: number): Recipient[] {
  const random = seededRandom(15);
  return Array.from({ length: count }, (_, index) => ({
    to: String(5_491_100_000_000 + Math.floor(random() * 100_000_000)),
    params: { body: [`Ana ${index}`], buttons: [`order-${index}`] },
  }));
}

test.runIf(thorough)(
  'a job of 1,000 in full batches costs at most 1.15 write units a message at 80 a second (R15)',
  async () => {
    const total = 1_000;
    const head = {
      ...{ jobId: '01KAH000000000000000000JOB', acceptedAtMs: startMs, throughputPerSecond: limitPerSecond },
      ...{ correlationId: randomUUID(), attends: { waitTime: 3_600, skill: 'sales' } },
    };
    const { posted, batches, writeUnits } = await costOfJob({ ...makeJob(recipientsOf(total), head), firstIndex: 0 });
    expect([posted.length, new Set(posted).size]).toEqual([total, total]);
    // A claim a message and a record a batch, and nothing else.
    expect(writeUnits.workers).toBe(total + batches);
    // As queued, ten come together, also across waves and seconds.
    expect(batches).toBe(total / 10);
    // From the description of the job to its last wave.
    expect(writeUnits.job).toBeLessThanOrEqual(0.05 * total);
  },
);

import { randomUUID } from 'node:crypto';
import { documents, environmentVariable, queues } from '../aws/deployed.ts';
import { sleep, storePause } from '../aws/pause.ts';
import { platformCatalogs } from '../catalog/platform-catalogs.ts';
import { deployedChannels } from '../channels/deployed.ts';
import { log } from '../observe/log.ts';
import { deployedPlatform, type PlatformLimits } from '../platform/deployed.ts';
import { currentRates } from '../pricing/current-rates.ts';
import { deployedRates } from '../pricing/deployed.ts';
import { shippedRates } from '../pricing/rates.ts';
import { deployedListing, deployedTemplates } from '../templates/deployed.ts';
import { platformTemplates } from '../templates/model/platform-templates.ts';
import { deployedEvents, deployedWantedEvents } from '../webhooks/deployed.ts';
import { acceptanceStore } from './accept/acceptance-store.ts';
import { idempotencyStore } from './accept/idempotency-store.ts';
import { jobMessageSender, jobQueue } from './accept/job-queue.ts';
import { breakerStore } from './dispatch/breaker-store.ts';
import { platformCallTimeoutMs } from './dispatch/claim.ts';
import { dispatchStore } from './dispatch/dispatch-store.ts';
import { platformMessages, readyToCall } from './dispatch/platform-messages.ts';
import { platformProbe } from './dispatch/platform-probe.ts';
import { dispatchQueue, postponer } from './fan-out/dispatch-queue.ts';
import { jobStore } from './fan-out/job-store.ts';
import { limitOfJob, rememberedLimitOfJob } from './fan-out/limit-of-job.ts';
import { firstParkedLookSeconds, parkedWatchOf } from './fan-out/watch-message.ts';
import { watchQueue } from './fan-out/watch-queue.ts';
import { type HoldPorts, jobHolds } from './job-holds.ts';
import { jobStateStore } from './job-state-store.ts';
import { dispatchesStore } from './outcomes/dispatches-store.ts';
import { countsOf } from './outcomes/read-report.ts';
import { reportStore } from './outcomes/report-store.ts';
import { paceStore } from './pace/pace-store.ts';
import { urgentStore } from './pace/urgent-store.ts';
import { workerDemandStore } from './pace/worker-shares-store.ts';
import { doubtStore } from './receipts/doubt-store.ts';
import { receiptStore } from './receipts/receipt-store.ts';
import { marketingOnboarding } from './resolve/platform-onboarding.ts';
import { questionStore } from './resolve/question-store.ts';

function deployedPaces() {
  return paceStore({
    client: documents(),
    table: environmentVariable('MESSAGES_TABLE'),
    nowMs: Date.now,
    newWriter: randomUUID,
  });
}

/** What accepting a send takes: what it asks, and where it is written down and queued; and rehearsing one (D51). */
export function deployedAcceptance(limits: PlatformLimits) {
  const { call, credentialOf } = deployedPlatform(limits);
  return {
    templates: deployedTemplates(),
    platformTemplates: platformTemplates(call, credentialOf),
    catalogIdOf: platformCatalogs(call, credentialOf, Date.now),
    isOnboarded: marketingOnboarding(call, credentialOf, Date.now),
    questions: questionStore(documents(), environmentVariable('MESSAGES_TABLE')),
    acceptance: acceptanceStore(documents(), environmentVariable('MESSAGES_TABLE'), Date.now),
    records: idempotencyStore(documents(), environmentVariable('MESSAGES_TABLE')),
    queue: jobQueue(queues(), environmentVariable('SEND_JOB_QUEUE_URL')),
    straightQueue: jobQueue(queues(), environmentVariable('DISPATCH_QUEUE_URL')),
    urgentQueue: jobQueue(queues(), environmentVariable('URGENT_QUEUE_URL')),
    limitOf: rememberedLimitOfJob({ channels: deployedChannels(), log, nowMs: Date.now }),
    currentLimitOf: limitOfJob({ channels: deployedChannels(), log }),
    paces: deployedPaces(),
    rates: currentRates(deployedRates().find, shippedRates, Date.now),
    events: deployedEvents(),
    pause: sleep,
  };
}

/** What the workers of messages share: the claims, a queue of messages and the events. */
function deployedDispatch(queueUrl: string) {
  return {
    claims: dispatchStore({ client: documents(), table: environmentVariable('MESSAGES_TABLE'), nowMs: Date.now }),
    queue: dispatchQueue(queues(), queueUrl),
    events: deployedEvents(),
    nowMs: Date.now,
    random: Math.random,
    pause: sleep,
    log,
  };
}

/** What handing messages to the platform takes, for the worker of the queue with that address. */
export function deployedHandover(queueUrl: string) {
  const { call, credentialOf } = deployedPlatform({ timeoutMs: platformCallTimeoutMs });
  const states = jobStateStore(documents(), environmentVariable('MESSAGES_TABLE'));
  const watch = watchQueue(queues(), environmentVariable('WATCH_QUEUE_URL'));
  const watchParked: HoldPorts['watchParked'] = (message, sinceMs) =>
    watch.sendLater(parkedWatchOf(message, sinceMs), firstParkedLookSeconds);
  return {
    ...deployedDispatch(queueUrl),
    jobStates: states,
    straightJobs: acceptanceStore(documents(), environmentVariable('MESSAGES_TABLE'), Date.now),
    newHolds: () => jobHolds({ states, watchParked, nowMs: Date.now, log }),
    paces: deployedPaces(),
    tenths: urgentStore(documents(), environmentVariable('MESSAGES_TABLE')),
    doubts: doubtStore(documents(), environmentVariable('MESSAGES_TABLE')),
    ready: readyToCall(credentialOf),
    send: platformMessages(call, credentialOf),
    breakers: breakerStore({ client: documents(), table: environmentVariable('MESSAGES_TABLE'), nowMs: Date.now }),
    probe: platformProbe(call, credentialOf),
  };
}

/** A batch of ten waits a second or so for its slots, and is handed over in a part of another. */
const perWorkerPerSecond = 6;

/** What working off jobs takes. */
export function deployedJobs() {
  return {
    ...deployedDispatch(environmentVariable('DISPATCH_QUEUE_URL')),
    urgentQueue: dispatchQueue(queues(), environmentVariable('URGENT_QUEUE_URL')),
    paces: deployedPaces(),
    demands: workerDemandStore(documents(), environmentVariable('MESSAGES_TABLE')),
    workersPerSecond: perWorkerPerSecond * Number(environmentVariable('DISPATCH_MAXIMUM_CONCURRENCY')),
    limitOf: limitOfJob({ channels: deployedChannels(), log }),
    jobs: jobStore(documents(), environmentVariable('MESSAGES_TABLE')),
    watch: watchQueue(queues(), environmentVariable('WATCH_QUEUE_URL')),
    postpone: postponer(queues(), environmentVariable('SEND_JOB_QUEUE_URL')),
    sendAnew: jobMessageSender(queues(), environmentVariable('SEND_JOB_QUEUE_URL')),
  };
}

/** What recording receipts takes. */
export function deployedReceipts() {
  const records = receiptStore({
    client: documents(),
    table: environmentVariable('MESSAGES_TABLE'),
    pause: storePause,
  });
  const { take } = dispatchStore({
    client: documents(),
    table: environmentVariable('MESSAGES_TABLE'),
    nowMs: Date.now,
  });
  return {
    records,
    claims: { ...records, take },
    wanted: deployedWantedEvents(),
    events: deployedEvents(),
    nowMs: Date.now,
    log,
  };
}

/** What reports read. */
export function deployedReport() {
  return reportStore({ client: documents(), table: environmentVariable('MESSAGES_TABLE'), nowMs: Date.now });
}

/** What cancelling a job takes. */
export function deployedCancellation() {
  return {
    report: deployedReport(),
    states: jobStateStore(documents(), environmentVariable('MESSAGES_TABLE')),
    nowMs: Date.now,
    log,
  };
}

/** The list of dispatches. */
export function deployedDispatches() {
  return dispatchesStore(documents(), environmentVariable('MESSAGES_TABLE'), Date.now);
}

/** What watching for the end of jobs, and of their waiting, takes. */
export function deployedWatch() {
  const report = deployedReport();
  const { call, credentialOf } = deployedPlatform({ timeoutMs: platformCallTimeoutMs });
  const queue = watchQueue(queues(), environmentVariable('WATCH_QUEUE_URL'));
  const parked = {
    queue,
    states: jobStateStore(documents(), environmentVariable('MESSAGES_TABLE')),
    headOf: async (jobId: string) => (await report.findDescribed(jobId))?.head,
    templates: deployedListing(),
    platformTemplates: platformTemplates(call, credentialOf),
  };
  return {
    progressOf: (jobId: string, knownFinal: readonly number[]) => countsOf(report, jobId, knownFinal),
    queue,
    events: deployedEvents(),
    parked,
    nowMs: Date.now,
    log,
  };
}

import { randomUUID } from 'node:crypto';
import { documents, environmentVariable, queues } from '../aws/deployed.ts';
import { backoff, type Pause, sleep, storePause } from '../aws/pause.ts';
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
import { acceptedJobsStore } from './accept/accepted-jobs-store.ts';
import { idempotencyStore } from './accept/idempotency-store.ts';
import { jobMessageSender, jobQueue } from './accept/job-queue.ts';
import { parameterStore } from './accept/parameter-store.ts';
import type { ChunkWorkerPorts } from './chunks/chunk-ports.ts';
import { chunkQueue, chunkSink, visibilityOf } from './chunks/chunk-queue.ts';
import { standingStore } from './chunks/standing-store.ts';
import { breakerStore } from './dispatch/breaker-store.ts';
import { platformCallTimeoutMs } from './dispatch/deadlines.ts';
import { platformMessages, readyToCall } from './dispatch/platform-messages.ts';
import { platformProbe } from './dispatch/platform-probe.ts';
import { type HoldPorts, jobHolds } from './job-holds.ts';
import { jobStateStore } from './job-state-store.ts';
import { paceStore } from './pace/pace-store.ts';
import { urgentStore } from './pace/urgent-store.ts';
import { addressStore } from './receipts/address-store.ts';
import { provenSlicesStore } from './receipts/proven-slices-store.ts';
import { receiptStore } from './receipts/receipt-store.ts';
import { sliceDoubtsStore } from './receipts/slice-doubts-store.ts';
import { dispatchesStore } from './reports/dispatches-store.ts';
import { countsOf } from './reports/read-report.ts';
import { reportStore } from './reports/report-store.ts';
import { marketingOnboarding } from './resolve/platform-onboarding.ts';
import { questionStore } from './resolve/question-store.ts';
import { jobRoundsStore } from './rounds/job-rounds-store.ts';
import { limitOfJob, rememberedLimitOfJob } from './rounds/limit-of-job.ts';
import { firstParkedLookSeconds, parkedWatchOf } from './rounds/watch-message.ts';
import { watchQueue } from './rounds/watch-queue.ts';
import { sliceStore } from './slices/slice-store.ts';

function messagesTable() {
  return { client: documents(), table: environmentVariable('MESSAGES_TABLE'), nowMs: Date.now };
}

function deployedPaces(pause?: Pause) {
  return paceStore({ ...messagesTable(), newWriter: randomUUID, ...(pause === undefined ? {} : { pause }) });
}

function deployedAcceptedJobs() {
  const { client, table, nowMs } = messagesTable();
  return acceptedJobsStore(client, table, nowMs);
}

/** What accepting a send takes: what it asks, and where it is written down and queued; and rehearsing one (D51). */
export function deployedAcceptance(limits: PlatformLimits) {
  const { call, credentialOf } = deployedPlatform(limits);
  const { client, table } = messagesTable();
  return {
    templates: deployedTemplates(),
    platformTemplates: platformTemplates(call, credentialOf),
    catalogIdOf: platformCatalogs(call, credentialOf, Date.now),
    isOnboarded: marketingOnboarding(call, credentialOf, Date.now),
    questions: questionStore(client, table),
    parameters: parameterStore(client, table),
    acceptance: deployedAcceptedJobs(),
    records: idempotencyStore(client, table),
    queue: jobQueue(queues(), environmentVariable('SEND_JOB_QUEUE_URL')),
    urgentQueue: jobQueue(queues(), environmentVariable('URGENT_QUEUE_URL')),
    limitOf: rememberedLimitOfJob({ channels: deployedChannels(), log, nowMs: Date.now }),
    currentLimitOf: limitOfJob({ channels: deployedChannels(), log }),
    paces: deployedPaces(),
    rates: currentRates(deployedRates().find, shippedRates, Date.now),
    events: deployedEvents(),
    pause: sleep,
  };
}

/** What workers and the fan-out share. */
function deployedSending() {
  return {
    slices: sliceStore(messagesTable()),
    events: deployedEvents(),
    nowMs: Date.now,
    random: Math.random,
    pause: sleep,
    log,
  };
}

/** What a worker takes that consumes the queue with that address. */
export function deployedWorker(
  queueUrl: string,
  { isOfSmallRequests }: Pick<ChunkWorkerPorts, 'isOfSmallRequests'>,
): Omit<ChunkWorkerPorts, 'invocation' | 'remainingMs'> {
  const { call, credentialOf } = deployedPlatform({ timeoutMs: platformCallTimeoutMs });
  const { client, table, nowMs } = messagesTable();
  const states = jobStateStore(client, table);
  const jobs = deployedAcceptedJobs();
  const watch = watchQueue(queues(), environmentVariable('WATCH_QUEUE_URL'));
  const watchParked: HoldPorts['watchParked'] = (message, sinceMs) =>
    watch.sendLater(parkedWatchOf(message, sinceMs), firstParkedLookSeconds);
  return {
    ...deployedSending(),
    isOfSmallRequests,
    queue: chunkQueue(queues(), { own: queueUrl, dispatch: environmentVariable('DISPATCH_QUEUE_URL') }),
    look: standingStore(client, table),
    jobOf: async (jobId) => (await states.of([jobId])).get(jobId) ?? {},
    beginStraight: async (chunk) => {
      await jobs.beginStraight(chunk);
    },
    newHolds: () => jobHolds({ states, watchParked, nowMs, log }),
    paces: deployedPaces(),
    tenths: urgentStore(client, table),
    doubts: sliceDoubtsStore(client, table),
    ready: readyToCall(credentialOf),
    send: platformMessages(call, credentialOf),
    breakers: breakerStore({ client, table, nowMs }),
    probe: platformProbe(call, credentialOf),
  };
}

/** A job can wait: of a hundred that begin on one number at once, one reserves at a time. */
const reservingPause = backoff(100, 3_200);

/** What working off jobs takes. */
export function deployedJobs() {
  const { client, table } = messagesTable();
  const { find, begin } = deployedAcceptedJobs();
  return {
    ...deployedSending(),
    states: jobStateStore(client, table),
    jobs: jobRoundsStore({ client, table }, { find, begin, recipientsFrom: parameterStore(client, table).read }),
    queue: chunkSink(queues(), environmentVariable('DISPATCH_QUEUE_URL')),
    paces: deployedPaces(reservingPause),
    limitOf: limitOfJob({ channels: deployedChannels(), log }),
    watch: watchQueue(queues(), environmentVariable('WATCH_QUEUE_URL')),
    sendAgain: jobMessageSender(queues(), environmentVariable('SEND_JOB_QUEUE_URL')),
    postpone: visibilityOf(queues(), environmentVariable('SEND_JOB_QUEUE_URL')),
  };
}

/** What recording receipts takes. */
export function deployedReceipts() {
  const { client, table, nowMs } = messagesTable();
  const messages = { documentClient: client, tableName: table, pause: storePause };
  return {
    records: receiptStore(messages),
    slices: provenSlicesStore(messages, nowMs),
    addressesOf: addressStore(messages),
    wanted: deployedWantedEvents(),
    events: deployedEvents(),
    nowMs,
    log,
  };
}

/** What reports read. */
export function deployedReport() {
  return reportStore(messagesTable());
}

/** What cancelling a job takes. */
export function deployedCancellation() {
  const { client, table, nowMs } = messagesTable();
  return { report: deployedReport(), states: jobStateStore(client, table), nowMs, log };
}

/** The list of dispatches. */
export function deployedDispatches() {
  const { client, table, nowMs } = messagesTable();
  return dispatchesStore(client, table, nowMs);
}

/** What watching for the end of jobs, and of their waiting, takes. */
export function deployedWatch() {
  const report = deployedReport();
  const { call, credentialOf } = deployedPlatform({ timeoutMs: platformCallTimeoutMs });
  const { client, table, nowMs } = messagesTable();
  const queue = watchQueue(queues(), environmentVariable('WATCH_QUEUE_URL'));
  const parked = {
    queue,
    states: jobStateStore(client, table),
    headOf: async (jobId: string) => (await report.findDescribed(jobId))?.head,
    templates: deployedListing(),
    platformTemplates: platformTemplates(call, credentialOf),
  };
  return {
    progressOf: (jobId: string, knownFinal: readonly number[]) => countsOf(report, jobId, knownFinal),
    queue,
    events: deployedEvents(),
    parked,
    nowMs,
    log,
  };
}

import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { EmfOutput } from '@aws-lambda-powertools/metrics/types';

/**
 * Everything that is counted: a closed list. Only `PlatformErrors` has a dimension of its own, `code`, of a bounded set.
 * Nothing that a client sends becomes one: each value of a dimension is a metric by itself, paid for by the month.
 */
export const metricNames = [
  'RecipientsAccepted',
  'MessagesSent',
  'MessagesHeld',
  'MessagesFailed',
  'MessagesExpired',
  'MessagesUnknown',
  'MessagesResolved',
  'RoundsLost',
  'ReceiptsRecorded',
  'ReceiptsDropped',
  'PlatformErrors',
  'PlatformCredentialRefused',
  'PlatformDown',
  'HoldsOpened',
  'HoldsStanding',
  'CategoryHoldsStanding',
  'MessagesDue',
  'MessagesLate',
  'RequestsFailedByPlatform',
  'SendsFailedByPlatform',
  'NumbersFallen',
  'PlatformWebhooksReceived',
  'PlatformUpdatesDropped',
  'PlatformPersonWordsRead',
  'PlatformUpdatesPassedOver',
  'PlatformStatusesForeign',
  'PlatformSignaturesRefused',
  'HintTurns',
  'HintReadingsFailed',
  'ReceiptsExpected',
  'ReceiptsQueued',
  'SyncsCompleted',
  'SyncTemplatesChanged',
  'SyncWabasFailed',
  'TemplatesCreated',
  'TemplatesSkipped',
  'EventsNotQueued',
  'WebhookDeliveries',
  'WebhookFailures',
  'WebhookEventsAbandoned',
  'WebhooksSwitchedOff',
  'LoginFailures',
  'AuthorizerFailures',
  'RequestsNotBudgeted',
  'AuditNotWritten',
] as const;
export type MetricName = (typeof metricNames)[number];

type PlainMetric = Exclude<MetricName, 'PlatformErrors' | 'PlatformCredentialRefused'>;

// An instance of a function works on one invocation at a time: what is counted between two flushes belongs to one.
const counts = new Map<PlainMetric | 'PlatformCredentialRefused', number>();
const platformErrors = new Map<string, number>();
const refusedWabaIds = new Set<string>();

/** A line names the WABAs of refused credentials, and no more than these: a credential of very many is named by some. */
const mostNamedWabas = 20;

export const metricNamespace = 'TemplateMessaging';

/** The library, but that a document is taken from it, and written as short as it can be. */
class Documents extends Metrics {
  /** What was added since the last one. */
  take(): EmfOutput {
    const taken = this.serializeMetrics();
    this.clearMetrics();
    this.clearDimensions();
    this.clearMetadata();
    return taken;
  }

  /** Without units: they stand beside every name, a sixth of the line, and all that is counted here are times. */
  write(document: EmfOutput): void {
    if (this.isDisabled()) return;
    process.stdout.write(`${JSON.stringify(document, (key, value) => (key === 'Unit' ? undefined : value))}\n`);
  }
}

let made: Documents | undefined;

/**
 * Made when something was counted, which most invocations of the API never do. Its one dimension, `service`, names the
 * deployment: the library reads it from POWERTOOLS_SERVICE_NAME.
 */
function ourDocuments(): Documents {
  made ??= new Documents({ namespace: metricNamespace });
  return made;
}

export function count(name: PlainMetric, by = 1): void {
  add(name, by);
}

function add(name: PlainMetric | 'PlatformCredentialRefused', by: number): void {
  counts.set(name, (counts.get(name) ?? 0) + by);
}

/**
 * One platform call whose token was refused. The WABA that the call was about is a property of the metric's line, `wabaIds`: not a
 * dimension, which would be a metric, and a price, by itself.
 */
export function countRefusedCredential(wabaId: string | undefined): void {
  add('PlatformCredentialRefused', 1);
  if (wabaId !== undefined && refusedWabaIds.size < mostNamedWabas) refusedWabaIds.add(wabaId);
}

/** One platform call that did not succeed; `code` is one of a bounded set (`PlatformFailure.metricCode`). */
export function countPlatformError(code: string): void {
  platformErrors.set(code, (platformErrors.get(code) ?? 0) + 1);
}

/**
 * Runs one invocation and then writes what was counted, also when it fails: one line of embedded metric format, and one
 * more for each further platform code, or nothing when nothing was counted.
 */
export async function metered<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } finally {
    flush();
  }
}

/**
 * A line names its namespace and its service again, and workers that are throttled write one for each few messages: so the
 * first platform code stands in the line of the plain counters, under a directive of its own.
 */
function flush(): void {
  if (counts.size === 0 && platformErrors.size === 0) return;
  const documents = ourDocuments();
  for (const [name, value] of counts) documents.addMetric(name, MetricUnit.Count, value);
  if (refusedWabaIds.size > 0) documents.addMetadata('wabaIds', [...refusedWabaIds] as unknown as string);
  let plain = counts.size > 0 ? documents.take() : undefined;
  for (const [code, value] of platformErrors) {
    documents.addDimension('code', code).addMetric('PlatformErrors' satisfies MetricName, MetricUnit.Count, value);
    const errors = documents.take();
    documents.write(plain === undefined ? errors : together(plain, errors));
    plain = undefined;
  }
  if (plain !== undefined) documents.write(plain);
  counts.clear();
  refusedWabaIds.clear();
  platformErrors.clear();
}

/** Two documents of one moment and one service as one: each keeps its metrics and its dimensions. */
function together(one: EmfOutput, other: EmfOutput): EmfOutput {
  const CloudWatchMetrics = [...one._aws.CloudWatchMetrics, ...other._aws.CloudWatchMetrics];
  return { ...one, ...other, _aws: { ...one._aws, CloudWatchMetrics } };
}

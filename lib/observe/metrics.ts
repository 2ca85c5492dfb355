import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { EmfOutput } from '@aws-lambda-powertools/metrics/types';

/**
 * The list of metrics is closed. Only `PlatformErrors` has another dimension, `code`, of a bounded set, because each
 * value is a metric that costs by the month.
 */
export const metricNames = [
  'RecipientsAccepted',
  'MessagesSent',
  'MessagesHeld',
  'MessagesFailed',
  'MessagesExpired',
  'MessagesUnknown',
  'MessagesResolved',
  'SenderFailures',
  'BacklogDue',
  'BacklogOverdue',
  'ReceiptsRecorded',
  'ReceiptsDropped',
  'PlatformErrors',
  'PlatformCredentialRefused',
  'PlatformDown',
  'HoldsOpened',
  'HoldsStanding',
  'CategoryHoldsStanding',
  'CodesCalled',
  'CodesLate',
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

// An instance handles one invocation at a time, so counts between two flushes belong to one.
const counts = new Map<PlainMetric | 'PlatformCredentialRefused', number>();
const platformErrors = new Map<string, number>();
const refusedWabaIds = new Set<string>();

/** A line names at most this many WABAs of refused credentials. */
const mostNamedWabas = 20;

export const metricNamespace = 'TemplateMessaging';

class Documents extends Metrics {
  take(): EmfOutput {
    const taken = this.serializeMetrics();
    this.clearMetrics();
    this.clearDimensions();
    this.clearMetadata();
    return taken;
  }

  /** Units are left out, a sixth of the line: all metrics here are counts. */
  write(document: EmfOutput): void {
    if (this.isDisabled()) return;
    process.stdout.write(`${JSON.stringify(document, (key, value) => (key === 'Unit' ? undefined : value))}\n`);
  }
}

let made: Documents | undefined;

/**
 * Creates documents on the first count, which most API invocations never make. The dimension `service` is the
 * deployment, from POWERTOOLS_SERVICE_NAME.
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
 * Counts a refused token. The WABA is a property of the line, `wabaIds`, because a dimension would be a paid metric.
 */
export function countRefusedCredential(wabaId: string | undefined): void {
  add('PlatformCredentialRefused', 1);
  if (wabaId !== undefined && refusedWabaIds.size < mostNamedWabas) refusedWabaIds.add(wabaId);
}

/** Counts a failed platform call; `code` is one of a bounded set (`PlatformFailure.metricCode`). */
export function countPlatformError(code: string): void {
  platformErrors.set(code, (platformErrors.get(code) ?? 0) + 1);
}

/**
 * Runs one invocation and writes its counts, even if it fails: one line of embedded metric format, plus one a further
 * platform code.
 */
export async function metered<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } finally {
    flush();
  }
}

/**
 * Each line repeats namespace and service, and throttled workers write many. So the first platform code shares the
 * plain counters' line, under its own directive.
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

function together(one: EmfOutput, other: EmfOutput): EmfOutput {
  const CloudWatchMetrics = [...one._aws.CloudWatchMetrics, ...other._aws.CloudWatchMetrics];
  return { ...one, ...other, _aws: { ...one._aws, CloudWatchMetrics } };
}

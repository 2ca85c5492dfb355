import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';

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
  'ReceiptsRecorded',
  'ReceiptsDropped',
  'PlatformErrors',
  'PlatformCallsThrottled',
  'PlatformCredentialRefused',
  'PlatformDown',
  'PlatformWebhooksReceived',
  'PlatformUpdatesDropped',
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
] as const;
export type MetricName = (typeof metricNames)[number];

type PlainMetric = Exclude<MetricName, 'PlatformErrors'>;

// An instance of a function works on one invocation at a time: what is counted between two flushes belongs to one.
const counts = new Map<PlainMetric, number>();
const platformErrors = new Map<string, number>();

export const metricNamespace = 'TemplateMessaging';

/** Its one dimension, `service`, names the deployment: the library reads it from POWERTOOLS_SERVICE_NAME. */
const emitter = new Metrics({ namespace: metricNamespace });

export function count(name: PlainMetric, by = 1): void {
  counts.set(name, (counts.get(name) ?? 0) + by);
}

/** One platform call that did not succeed; `code` is one of a bounded set (`PlatformFailure.metricCode`). */
export function countPlatformError(code: string): void {
  platformErrors.set(code, (platformErrors.get(code) ?? 0) + 1);
}

/**
 * Runs one invocation and then writes what was counted, also when it fails: one line of embedded metric format for all
 * plain counters and one for each platform code, or nothing when nothing was counted.
 */
export async function metered<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } finally {
    flush();
  }
}

function flush(): void {
  for (const [name, value] of counts) emitter.addMetric(name, MetricUnit.Count, value);
  if (counts.size > 0) emitter.publishStoredMetrics();
  for (const [code, value] of platformErrors) {
    emitter.addDimension('code', code).addMetric('PlatformErrors' satisfies MetricName, MetricUnit.Count, value);
    emitter.publishStoredMetrics();
  }
  counts.clear();
  platformErrors.clear();
}

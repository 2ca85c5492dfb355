import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { MetricName, metricNamespace } from '../lib/observe/metrics.ts';
import { resourceName } from './names.ts';
import type { Settings } from './settings.ts';

const namespace: typeof metricNamespace = 'TemplateMessaging';

/** Returns the dimension `service`, which separates several deployments in one account. */
export function metricService(settings: Settings): string {
  return resourceName(settings.stage, 'service');
}

export function serviceMetric(settings: Settings, name: MetricName, minutes = 5): Metric {
  return new Metric({
    namespace,
    metricName: name,
    dimensionsMap: { service: metricService(settings) },
    statistic: 'Sum',
    period: Duration.minutes(minutes),
  });
}

/** This includes codes that the service does not know. */
export function platformErrorsByCode(settings: Settings): IMetric {
  const name: MetricName = 'PlatformErrors';
  const search = `{${namespace},service,code} service="${metricService(settings)}" MetricName="${name}"`;
  return new MathExpression({
    expression: `SEARCH('${search}', 'Sum', 300)`,
    label: '',
    period: Duration.minutes(5),
    usingMetrics: {},
  });
}

/** Throttled calls have these `code` values: `throttledMetricCodes` of lib/platform/failure.ts. */
export const throttledCodes = ['4', '80007', '80008', '130429', '131048', '131056', '133016', 'throttled'] as const;

export function platformCallsThrottled(settings: Settings): IMetric {
  const name: MetricName = 'PlatformErrors';
  const codes = throttledCodes.map((code) => `"${code}"`).join(' OR ');
  const search = `{${namespace},service,code} service="${metricService(settings)}" MetricName="${name}" code=(${codes})`;
  return new MathExpression({
    expression: `SUM(SEARCH('${search}', 'Sum', 300))`,
    label: 'throttled',
    period: Duration.minutes(5),
    usingMetrics: {},
  });
}

/**
 * Returns the share of `part` in `part` and `rest`, in percent; 0 while the total is below `atLeast`, where a few would
 * look like many.
 */
export function percentage(
  { part, rest }: { readonly part: readonly IMetric[]; readonly rest: readonly IMetric[] },
  atLeast: number,
) {
  const named = (name: string, metrics: readonly IMetric[]) => metrics.map((metric, at) => [`${name}${at}`, metric]);
  const usingMetrics: Record<string, IMetric> = Object.fromEntries([...named('part', part), ...named('rest', rest)]);
  const sumOf = (ids: readonly string[]) => ids.map((id) => `FILL(${id}, 0)`).join(' + ');
  const ids = Object.keys(usingMetrics);
  const all = sumOf(ids);
  return new MathExpression({
    expression: `IF(${all} >= ${atLeast}, 100 * (${sumOf(ids.slice(0, part.length))}) / (${all}), 0)`,
    usingMetrics,
    period: Duration.minutes(5),
  });
}

/** Returns the share of `part` without `excused` in `all`, in percent; 0 while `all` is below `atLeast`. */
export function ownShare(
  { part, excused, all }: { readonly part: IMetric; readonly excused: IMetric; readonly all: IMetric },
  atLeast: number,
) {
  return new MathExpression({
    expression: `IF(FILL(all, 0) >= ${atLeast}, 100 * (FILL(part, 0) - FILL(excused, 0)) / FILL(all, 0), 0)`,
    usingMetrics: { part, excused, all },
    period: Duration.minutes(5),
  });
}

/**
 * Returns 1 for an hour in which at least `atLeast` messages expected receipts and the platform sent none; else 0.
 * Numbers without a provisioned platform app expect none.
 */
export function receiptsMissing(settings: Settings, { atLeast }: { atLeast: number }) {
  return new MathExpression({
    expression: `IF(FILL(expected, 0) >= ${atLeast} AND FILL(told, 0) == 0, 1, 0)`,
    usingMetrics: {
      expected: serviceMetric(settings, 'ReceiptsExpected', 60),
      told: serviceMetric(settings, 'ReceiptsQueued', 60),
    },
    period: Duration.minutes(60),
  });
}

export function queueMetric(settings: Settings, purpose: string, metricName: string, minutes: number): Metric {
  return new Metric({
    namespace: 'AWS/SQS',
    metricName,
    dimensionsMap: { QueueName: resourceName(settings.stage, purpose) },
    statistic: 'Maximum',
    period: Duration.minutes(minutes),
  });
}

export function throttledRequests(tableName: string): { readonly reads: Metric; readonly writes: Metric } {
  const events = (metricName: string) =>
    new Metric({
      namespace: 'AWS/DynamoDB',
      metricName,
      dimensionsMap: { TableName: tableName },
      statistic: 'Sum',
      period: Duration.minutes(5),
    });
  return { reads: events('ReadThrottleEvents'), writes: events('WriteThrottleEvents') };
}

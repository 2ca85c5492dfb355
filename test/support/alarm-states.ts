import * as v from 'valibot';
import type { Stack } from '../../infra/local/cdk-assembly.ts';

/* The alarms of a synthesized template ring here as in CloudWatch. Metrics, statistics, thresholds and periods come
   from the template, so a changed alarm rings differently here too. */

/** CloudWatch stores one value of a metric like this. */
export interface Datum {
  readonly namespace: string;
  readonly metric: string;
  /** The pairs, such as `service=template-messaging-local-service`, are sorted by name and separated by commas. */
  readonly dimensions: string;
  readonly atMs: number;
  readonly value: number;
}

const MetricAlarmSchema = v.object({
  AlarmName: v.string(),
  AlarmDescription: v.string(),
  Namespace: v.string(),
  MetricName: v.string(),
  Dimensions: v.array(v.object({ Name: v.string(), Value: v.string() })),
  Statistic: v.picklist(['Sum', 'Maximum']),
  Period: v.number(),
  EvaluationPeriods: v.number(),
  DatapointsToAlarm: v.optional(v.number()),
  Threshold: v.number(),
  ComparisonOperator: v.literal('GreaterThanThreshold'),
  TreatMissingData: v.literal('notBreaching'),
});

const CompositeSchema = v.object({ AlarmName: v.string(), AlarmDescription: v.string(), AlarmRule: v.unknown() });

export interface MetricAlarm {
  readonly name: string;
  readonly severity: string;
  readonly namespace: string;
  readonly metric: string;
  readonly dimensions: string;
  readonly statistic: 'Sum' | 'Maximum';
  readonly periodSeconds: number;
  readonly periods: number;
  readonly toAlarm: number;
  readonly threshold: number;
}

/**
 * Returns the alarm with this full name; for a composite over one alarm (infra/constructs/alarm.ts) the measuring alarm
 * with the composite's name. Throws for alarms that need more than data: metric math, other statistics.
 */
export function alarmNamed(name: string, stacks: readonly Stack[]): MetricAlarm {
  const resources = stacks.flatMap(({ resources: own }) => Object.entries(own));
  const found = resources.find(([, { Properties }]) => Properties?.['AlarmName'] === name);
  if (found === undefined) throw new Error(`the templates have no alarm ${name}`);
  const [, { Type, Properties }] = found;
  if (Type !== 'AWS::CloudWatch::CompositeAlarm') return metricAlarm(Properties);
  const { AlarmName, AlarmRule } = v.parse(CompositeSchema, Properties);
  const rule = JSON.stringify(AlarmRule);
  const looked = resources.filter(
    ([id, { Type: type }]) => type === 'AWS::CloudWatch::Alarm' && rule.includes(`"${id}"`),
  );
  if (looked.length !== 1) throw new Error(`${name} looks at ${looked.length} alarms: only one can be followed`);
  return { ...metricAlarm(looked[0]?.[1].Properties), name: AlarmName };
}

function metricAlarm(properties: unknown): MetricAlarm {
  const parsed = v.parse(MetricAlarmSchema, properties);
  return {
    name: parsed.AlarmName,
    severity: parsed.AlarmDescription.split(':', 1)[0] ?? '',
    namespace: parsed.Namespace,
    metric: parsed.MetricName,
    dimensions: dimensionsOf(parsed.Dimensions.map(({ Name, Value }) => [Name, Value])),
    statistic: parsed.Statistic,
    periodSeconds: parsed.Period,
    periods: parsed.EvaluationPeriods,
    toAlarm: parsed.DatapointsToAlarm ?? parsed.EvaluationPeriods,
    threshold: parsed.Threshold,
  };
}

function dimensionsOf(pairs: readonly (readonly [string, string])[]): string {
  return pairs
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join(',');
}

export interface Standing {
  readonly rings: boolean;
  /** A period without data is undefined; the latest comes first. */
  readonly values: readonly (number | undefined)[];
}

/**
 * Returns the state of an alarm at a moment, from the periods that end there. `secondMs` is the length of a CloudWatch
 * second, 1,000 by default; a shorter second makes windows shorter and sums at most smaller.
 */
export function standingOf(
  alarm: MetricAlarm,
  data: readonly Datum[],
  { nowMs, secondMs = 1_000 }: { readonly nowMs: number; readonly secondMs?: number },
): Standing {
  const own = data.filter(
    ({ namespace, metric, dimensions }) =>
      namespace === alarm.namespace && metric === alarm.metric && dimensions === alarm.dimensions,
  );
  const periodMs = alarm.periodSeconds * secondMs;
  const values = Array.from({ length: alarm.periods }, (_, at) => {
    const endMs = nowMs - at * periodMs;
    const measured = own.filter(({ atMs }) => atMs > endMs - periodMs && atMs <= endMs).map(({ value }) => value);
    if (measured.length === 0) return undefined;
    return alarm.statistic === 'Sum' ? measured.reduce((sum, value) => sum + value, 0) : Math.max(...measured);
  });
  const breaching = values.filter((value) => value !== undefined && value > alarm.threshold);
  return { rings: breaching.length >= alarm.toAlarm, values };
}

const EmfSchema = v.looseObject({
  _aws: v.object({
    Timestamp: v.number(),
    CloudWatchMetrics: v.array(
      v.object({
        Namespace: v.string(),
        Dimensions: v.array(v.array(v.string())),
        Metrics: v.array(v.looseObject({ Name: v.string() })),
      }),
    ),
  }),
});

/**
 * Returns the data that a line of embedded metric format sends to CloudWatch: one for each metric and set of
 * dimensions; none for other lines.
 */
export function measuredBy(line: string): Datum[] {
  if (!line.startsWith('{"_aws":')) return [];
  const document = v.parse(EmfSchema, JSON.parse(line));
  const { Timestamp: atMs, CloudWatchMetrics: directives } = document._aws;
  return directives.flatMap(({ Namespace: namespace, Dimensions: sets, Metrics: metrics }) =>
    sets.flatMap((names) => {
      const dimensions = dimensionsOf(names.map((name) => [name, String(document[name])]));
      return metrics.flatMap(({ Name: metric }) =>
        [document[metric]].flat().map((value) => ({ namespace, metric, dimensions, atMs, value: Number(value) })),
      );
    }),
  );
}

/** Writes `page platform-credential-refused: Sum of PlatformCredentialRefused in 300 s above 0`. */
export function alarmLine({
  name,
  severity,
  statistic,
  metric,
  periodSeconds,
  periods,
  threshold,
}: MetricAlarm): string {
  const often = periods === 1 ? '' : `, ${periods} times in a row`;
  return `${severity} ${name}: ${statistic} of ${metric} in ${periodSeconds} s above ${threshold}${often}`;
}

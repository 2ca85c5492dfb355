import { Duration } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { FunctionShape } from '../function-shapes/shape.ts';
import { queues } from '../queues.ts';
import type { Settings } from '../settings.ts';
import { addAlarm } from './alarm.ts';

/** A worker stops by itself before this share of its timeout, so a longer run is about to be killed. */
export const slowShare = 0.8;

/** Adds alarms on a queue's worker: it fails, finds no concurrency, or comes near its timeout. */
export function addWorkerAlarms(
  scope: Construct,
  settings: Settings,
  worker: { readonly name: string; readonly shape: FunctionShape; readonly lambda: IFunction },
): void {
  const { name, shape, lambda } = worker;
  if (shape.consumes === undefined) return;
  const { severity } = queues[shape.consumes.queue];
  const over = { period: Duration.minutes(5), statistic: 'Sum' };
  const shared = {
    severity,
    section: 'functions',
    periods: 2,
    whoIsHurt: 'Clients whose accepted work is delayed; after five failed deliveries it lands in a dead-letter queue.',
  } as const;
  addAlarm(scope, settings, {
    ...shared,
    purpose: `${name}-errors`,
    metric: lambda.metricErrors(over),
    above: 0,
    whatToDo: `Read the log of ${name} for the time of the alarm; an error right after a deployment: roll it back.`,
  });
  addAlarm(scope, settings, {
    ...shared,
    purpose: `${name}-throttles`,
    metric: lambda.metricThrottles(over),
    above: 0,
    whatToDo: `No concurrency is left for ${name}: look at account-concurrency, and raise the quota of the account or lower what else runs in it.`,
  });
  addAlarm(scope, settings, {
    ...shared,
    purpose: `${name}-slow`,
    severity: 'ticket',
    metric: lambda.metricDuration({ period: Duration.minutes(5), statistic: 'p99' }),
    above: slowShare * Duration.seconds(shape.timeoutSeconds).toMilliseconds(),
    periods: 3,
    whoIsHurt:
      'Clients whose accepted work is done slowly: one run in a hundred takes four fifths of its time, or more.',
    whatToDo: `A run of ${name} that reaches its time-out is killed and comes again. Look at the dashboard for throttled tables, and in its log for slow answers of the platform or of receivers.`,
  });
}

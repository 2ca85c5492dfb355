import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { queueMetric, throttledRequests } from '../metrics.ts';
import { queuePurposes, resourceName } from '../names.ts';
import { type QueueName, queues } from '../queues.ts';
import type { Settings } from '../settings.ts';
import { tables } from '../tables.ts';
import { addAlarm } from './alarm.ts';

/**
 * Alarms on tables and queues. They look at them by name: what rings can then be changed without touching the stack that
 * holds them, and a failed creation of that stack has no alarm to take away. Each is explained in infra/operate/README.md.
 */
export function addStateAlarms(scope: Construct, settings: Settings): void {
  for (const name of Object.keys(tables)) addThrottleAlarm(scope, settings, name);
  for (const name of Object.keys(queues) as QueueName[]) addDeadLetterAlarm(scope, settings, name);
  addAgeAlarms(scope, settings);
}

function addThrottleAlarm(scope: Construct, settings: Settings, table: string): void {
  const { reads, writes } = throttledRequests(resourceName(settings.stage, table));
  addAlarm(scope, settings, {
    purpose: `${table}-table-throttled`,
    metric: new MathExpression({
      expression: 'FILL(reads, 0) + FILL(writes, 0)',
      usingMetrics: { reads, writes },
      period: Duration.minutes(5),
    }),
    above: 10,
    periods: 2,
    whoIsHurt: `Whoever needs the table ${table}: requests take longer and some end with 5xx; work in queues comes again.`,
    whatToDo:
      'One hot partition recovers when the burst ends: look for the client that causes it. If it lasts, check the account quota of on-demand throughput.',
  });
}

function addDeadLetterAlarm(scope: Construct, settings: Settings, name: QueueName): void {
  const { whoIsHurt, whatToDo } = queues[name];
  addAlarm(scope, settings, {
    purpose: `${queuePurposes[name]}-dead-letters`,
    metric: queueMetric(settings, `${queuePurposes[name]}-dead`, 'ApproximateNumberOfMessagesVisible', 1),
    above: 0,
    whoIsHurt,
    whatToDo,
  });
}

function addAgeAlarms(scope: Construct, settings: Settings): void {
  const ageOf = (name: QueueName): IMetric =>
    queueMetric(settings, queuePurposes[name], 'ApproximateAgeOfOldestMessage', 5);
  addAlarm(scope, settings, {
    purpose: 'dispatch-age',
    metric: ageOf('dispatch'),
    above: Duration.minutes(15).toSeconds(),
    periods: 3,
    whoIsHurt: 'Recipients whose accepted message has waited for more than 15 minutes.',
    whatToDo:
      'Look for errors and throttles of messages-dispatch and for rate-limit answers of the platform in its logs; when both are quiet, raise dispatchMaximumConcurrency.',
  });
  addAlarm(scope, settings, {
    purpose: 'urgent-age',
    metric: ageOf('urgent'),
    above: Duration.minutes(5).toSeconds(),
    periods: 2,
    whoIsHurt:
      'Recipients of small requests, of one-time codes above all, whose accepted message has waited for more than five minutes.',
    whatToDo:
      'Look for errors and throttles of messages-dispatch-urgent and for rate-limit answers of the platform in its logs; when both are quiet, raise urgentMaximumConcurrency.',
  });
  addAlarm(scope, settings, {
    // Events that wait for their receiver are in a table, and a wake waits 15 minutes at most: this age is a queue left behind.
    purpose: 'events-age',
    metric: ageOf('events'),
    above: Duration.minutes(45).toSeconds(),
    periods: 3,
    whoIsHurt: 'Clients who are told late what happened: events have waited for more than 45 minutes to be looked at.',
    whatToDo:
      'Look for errors and throttles of events-deliver; when both are quiet, twenty receivers are slow at a time: see webhook.delivered and webhook.failed in its log for their durations, and raise its concurrency in infra/function-shapes/webhooks.ts.',
  });
  addAlarm(scope, settings, {
    purpose: 'receipts-age',
    metric: ageOf('receipts'),
    above: Duration.minutes(15).toSeconds(),
    periods: 3,
    whoIsHurt:
      'Clients whose reports are behind, and are told late of messages that failed: receipts have waited for more than 15 minutes.',
    whatToDo:
      'Look for receipts.failed and receipts.events_left in the log of messages-receipts and for its throttles; when all are quiet, raise its concurrency in infra/function-shapes/messages.ts.',
  });
}

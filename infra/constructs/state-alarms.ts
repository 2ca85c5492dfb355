import { Duration } from 'aws-cdk-lib';
import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { queueMetric, throttledRequests } from '../metrics.ts';
import { queuePurposes, resourceName } from '../names.ts';
import { type QueueName, queues } from '../queues.ts';
import type { Settings } from '../settings.ts';
import { tables } from '../tables.ts';
import { addAlarm } from './alarm.ts';

/**
 * The alarms name tables and queues, so they can change without that stack, and its failed creation leaves no alarm
 * behind. infra/operate/README.md explains each.
 */
export function addStateAlarms(scope: Construct, settings: Settings): void {
  for (const name of Object.keys(tables)) addThrottleAlarm(scope, settings, name);
  for (const name of Object.keys(queues) as QueueName[]) {
    addDeadLetterAlarm(scope, settings, name);
    addAgeAlarm(scope, settings, name);
  }
}

/** Messages of these queues wait while the platform is down. */
const ofPlatform: readonly QueueName[] = ['dispatch', 'urgent'];

function addThrottleAlarm(scope: Construct, settings: Settings, table: string): void {
  const { reads, writes } = throttledRequests(resourceName(settings.stage, table));
  addAlarm(scope, settings, {
    purpose: `${table}-table-throttled`,
    severity: 'ticket',
    section: 'tables',
    metric: new MathExpression({
      expression: 'FILL(reads, 0) + FILL(writes, 0)',
      usingMetrics: { reads, writes },
      period: Duration.minutes(5),
    }),
    above: 10,
    periods: 2,
    whoIsHurt: `Everybody who needs the table ${table}: requests take longer and some end with 5xx; work in queues comes again.`,
    whatToDo:
      'One hot partition recovers when the burst ends: look for the client that causes it. If it lasts, check the account quota of on-demand throughput.',
  });
}

function addDeadLetterAlarm(scope: Construct, settings: Settings, name: QueueName): void {
  const { whoIsHurt, whatToDo, severity } = queues[name];
  addAlarm(scope, settings, {
    ...{ purpose: `${queuePurposes[name]}-dead-letters`, severity, section: 'queues' },
    metric: queueMetric(settings, `${queuePurposes[name]}-dead`, 'ApproximateNumberOfMessagesVisible', 1),
    above: 0,
    whoIsHurt,
    whatToDo,
  });
}

function addAgeAlarm(scope: Construct, settings: Settings, name: QueueName): void {
  const { severity, age } = queues[name];
  addAlarm(scope, settings, {
    ...{ purpose: `${queuePurposes[name]}-age`, severity, section: 'queues' },
    metric: queueMetric(settings, queuePurposes[name], 'ApproximateAgeOfOldestMessage', 5),
    above: Duration.minutes(age.minutes).toSeconds(),
    periods: age.periods,
    whoIsHurt: age.whoIsHurt,
    whatToDo: age.whatToDo,
    ...(ofPlatform.includes(name) ? { followsOutage: true } : {}),
  });
}

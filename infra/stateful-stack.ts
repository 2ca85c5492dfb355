import { Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { AttributeType, BillingMode, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { addAlarm } from './constructs/alarm.ts';
import { QueueWithDeadLetters } from './constructs/queue-with-dead-letters.ts';
import { functions, type SecretVariable } from './functions.ts';
import { throttledRequests } from './metrics.ts';
import { queuePurposes, resourceName, secretPurposes } from './names.ts';
import { type QueueName, queues } from './queues.ts';
import type { Settings } from './settings.ts';
import { type TableName, tables, timeToLiveAttribute } from './tables.ts';

/**
 * What must outlive every deployment: tables, secrets, and the queues. A queue counts as state because it holds work
 * that was promised with a 200: taking the functions down and up again must not lose an accepted message.
 */
export class StatefulStack extends Stack {
  readonly tables: Readonly<Record<TableName, Table>>;
  readonly secrets: Readonly<Record<SecretVariable, { readonly arn: string; readonly name: string }>>;
  readonly queues: Readonly<Record<QueueName, QueueWithDeadLetters>>;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id, {
      stackName: resourceName(settings.stage, 'stateful'),
      description: 'Template messaging: tables, secrets and queues',
      terminationProtection: true,
    });
    this.tables = mapValues(tables, (_, name) => this.addTable(settings, name));
    for (const [name, { tableName }] of Object.entries(this.tables)) this.addThrottleAlarm(settings, name, tableName);
    this.secrets = mapValues(secretPurposes, (purpose) => this.addSecret(settings, purpose));
    this.queues = mapValues(queuePurposes, (purpose, name) => this.addQueue(settings, name, purpose));
    this.addAgeAlarms(settings);
  }

  private addTable(settings: Settings, name: TableName): Table {
    const shape = tables[name];
    return new Table(this, `Table-${name}`, {
      tableName: resourceName(settings.stage, name),
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      ...(shape.sortKey ? { sortKey: { name: 'sk', type: AttributeType.STRING } } : {}),
      ...(shape.expires ? { timeToLiveAttribute } : {}),
      billingMode: BillingMode.PAY_PER_REQUEST,
      encryption: TableEncryption.AWS_MANAGED,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
  }

  /** Empty until provisioning fills it: the higher-level construct would put a random password in. */
  private addSecret(settings: Settings, purpose: string): { arn: string; name: string } {
    const name = resourceName(settings.stage, purpose);
    const secret = new CfnSecret(this, `Secret-${purpose}`, { name });
    secret.applyRemovalPolicy(RemovalPolicy.RETAIN);
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason:
        'Keys and platform tokens are rotated by the operator with an overlap; a blind schedule would cut it short.',
    });
    return { arn: secret.ref, name };
  }

  private addQueue(settings: Settings, name: QueueName, purpose: string): QueueWithDeadLetters {
    const consumer = Object.values(functions).find((shape) => shape.consumes?.queue === name);
    if (consumer === undefined) throw new Error(`no function in infra/functions.ts consumes the queue ${name}`);
    return new QueueWithDeadLetters(this, `Queue-${name}`, {
      settings,
      purpose,
      shape: queues[name],
      consumerTimeoutSeconds: consumer.timeoutSeconds,
    });
  }

  private addThrottleAlarm(settings: Settings, name: string, tableName: string): void {
    const { reads, writes } = throttledRequests(tableName);
    addAlarm(this, settings, {
      purpose: `${name}-table-throttled`,
      metric: new MathExpression({
        expression: 'FILL(reads, 0) + FILL(writes, 0)',
        usingMetrics: { reads, writes },
        period: Duration.minutes(5),
      }),
      above: 10,
      periods: 2,
      whoIsHurt: `Whoever needs the table ${name}: requests take longer and some end with 5xx; work in queues comes again.`,
      whatToDo:
        'One hot partition recovers when the burst ends: look for the client that causes it. If it lasts, check the account quota of on-demand throughput.',
    });
  }

  private addAgeAlarms(settings: Settings): void {
    const { dispatch, urgent, events, receipts } = this.queues;
    const ageOf = ({ queue }: QueueWithDeadLetters) =>
      queue.metricApproximateAgeOfOldestMessage({ period: Duration.minutes(5), statistic: 'Maximum' });
    addAlarm(this, settings, {
      purpose: 'dispatch-age',
      metric: ageOf(dispatch),
      above: Duration.minutes(15).toSeconds(),
      periods: 3,
      whoIsHurt: 'Recipients whose accepted message has waited for more than 15 minutes.',
      whatToDo:
        'Look for errors and throttles of messages-dispatch and for rate-limit answers of the platform in its logs; when both are quiet, raise dispatchMaximumConcurrency.',
    });
    addAlarm(this, settings, {
      purpose: 'urgent-age',
      metric: ageOf(urgent),
      above: Duration.minutes(5).toSeconds(),
      periods: 2,
      whoIsHurt: 'Recipients who wait for a one-time code: an accepted one has waited for more than five minutes.',
      whatToDo:
        'Look for errors and throttles of messages-dispatch-urgent and for rate-limit answers of the platform in its logs; when both are quiet, raise urgentMaximumConcurrency.',
    });
    addAlarm(this, settings, {
      // A message is sent anew at least every 15 minutes while it waits for its time: this age is a queue left behind.
      purpose: 'events-age',
      metric: ageOf(events),
      above: Duration.minutes(45).toSeconds(),
      periods: 3,
      whoIsHurt:
        'Clients who are told late what happened: events have waited for more than 45 minutes to be looked at.',
      whatToDo:
        'Look for errors and throttles of events-deliver; when both are quiet, one client has a long backlog: see webhook.failed in its log, and raise its concurrency in infra/functions.ts.',
    });
    addAlarm(this, settings, {
      purpose: 'receipts-age',
      metric: ageOf(receipts),
      above: Duration.minutes(15).toSeconds(),
      periods: 3,
      whoIsHurt:
        'Clients whose reports are behind, and are told late of messages that failed: receipts have waited for more than 15 minutes.',
      whatToDo:
        'Look for receipts.failed and receipts.events_left in the log of messages-receipts and for its throttles; when all are quiet, raise its concurrency in infra/functions.ts.',
    });
  }
}

function mapValues<Key extends string, From, To>(
  from: Readonly<Record<Key, From>>,
  change: (value: From, key: Key) => To,
): Record<Key, To> {
  const entries = Object.entries(from) as [Key, From][];
  return Object.fromEntries(entries.map(([key, value]) => [key, change(value, key)])) as Record<Key, To>;
}

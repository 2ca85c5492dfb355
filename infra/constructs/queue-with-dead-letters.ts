import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { resourceName } from '../names.ts';
import { deadLetterRetentionDays, type QueueShape, visibilityPerTimeout } from '../queues.ts';
import type { Settings } from '../settings.ts';
import { addAlarm } from './alarm.ts';

export interface QueueWithDeadLettersProps {
  readonly settings: Settings;
  readonly purpose: string;
  readonly shape: QueueShape;
  readonly consumerTimeoutSeconds: number;
}

/**
 * A standard queue that never comes alone: its dead-letter queue (14 days), the redrive to it, and an alarm on the first
 * dead letter. Both are encrypted and answer over TLS only.
 */
export class QueueWithDeadLetters extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;
  readonly variable: string;

  constructor(scope: Construct, id: string, props: QueueWithDeadLettersProps) {
    super(scope, id);
    const { settings, purpose, shape } = props;
    const common = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true, removalPolicy: RemovalPolicy.RETAIN };
    const deadLetters = new Queue(this, 'DeadLetters', {
      ...common,
      queueName: resourceName(settings.stage, `${purpose}-dead`),
      retentionPeriod: Duration.days(deadLetterRetentionDays),
    });
    Validations.of(deadLetters).acknowledge({
      id: 'Serverless-SQSRedrivePolicy',
      reason: 'It is the dead-letter queue: nothing consumes it, an operator redrives it by hand.',
    });
    this.deadLetters = deadLetters;
    this.variable = shape.variable;
    this.queue = new Queue(this, 'Queue', {
      ...common,
      queueName: resourceName(settings.stage, purpose),
      retentionPeriod: Duration.days(shape.retentionDays),
      visibilityTimeout: Duration.seconds(visibilityPerTimeout * props.consumerTimeoutSeconds),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: shape.maxReceiveCount },
    });
    addAlarm(this, settings, {
      purpose: `${purpose}-dead-letters`,
      metric: deadLetters.metricApproximateNumberOfMessagesVisible({
        period: Duration.minutes(1),
        statistic: 'Maximum',
      }),
      above: 0,
      whoIsHurt: shape.whoIsHurt,
      whatToDo: shape.whatToDo,
    });
  }
}

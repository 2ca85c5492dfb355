import { Duration, Validations } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { deadLettersOf, resourceName } from '../names.ts';
import { deadLetterRetentionDays, messageMaxBytes, type QueueShape, visibilityPerTimeout } from '../queues.ts';
import type { Settings } from '../settings.ts';

export interface QueueWithDeadLettersProps {
  readonly settings: Settings;
  readonly purpose: string;
  readonly shape: QueueShape;
  readonly consumerTimeoutSeconds: number;
  readonly encryptionKey?: IKey | undefined;
}

/**
 * Creates a standard queue with its dead-letter queue (14 days); both are encrypted, allow TLS only, and take the
 * largest messages of the code.
 */
export class QueueWithDeadLetters extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;
  readonly variable: string;

  constructor(scope: Construct, id: string, props: QueueWithDeadLettersProps) {
    super(scope, id);
    const { settings, purpose, shape } = props;
    const common = {
      ...(props.encryptionKey === undefined
        ? { encryption: QueueEncryption.SQS_MANAGED }
        : { encryption: QueueEncryption.KMS, encryptionMasterKey: props.encryptionKey }),
      enforceSSL: true,
      maxMessageSizeBytes: messageMaxBytes,
    };
    const deadLetters = new Queue(this, 'DeadLetters', {
      ...common,
      queueName: resourceName(settings.stage, deadLettersOf(purpose)),
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
  }
}

import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnSchedule } from 'aws-cdk-lib/aws-scheduler';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { keyUse } from '../key-use.ts';
import { resourceName } from '../names.ts';
import type { Settings } from '../settings.ts';

/**
 * Synchronizes all clients. The schedule may only put the first turn of a walk on the sync queue; a walk that still
 * runs lets the new one pass.
 */
export class SyncSchedule extends Construct {
  constructor(scope: Construct, id: string, props: { settings: Settings; expression: string; queue: Queue }) {
    super(scope, id);
    const { settings, expression, queue } = props;
    const sending = new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [queue.queueArn] });
    const { encryptionKeyArn } = settings;
    const using = encryptionKeyArn === undefined ? [] : [keyUse(encryptionKeyArn, ['sqs'])];
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com'),
      inlinePolicies: { send: new PolicyDocument({ statements: [sending, ...using] }) },
    });
    new CfnSchedule(this, 'Schedule', {
      name: resourceName(settings.stage, 'sync'),
      scheduleExpression: expression,
      flexibleTimeWindow: { mode: 'OFF' },
      target: {
        arn: queue.queueArn,
        roleArn: role.roleArn,
        // The scheduler inserts the execution's id, which names the walk.
        input: JSON.stringify({ version: 1, walk: { id: '<aws.scheduler.execution-id>', turn: 0, after: 0 } }),
        retryPolicy: { maximumRetryAttempts: 3, maximumEventAgeInSeconds: 3_600 },
      },
    });
  }
}

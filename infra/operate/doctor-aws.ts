import {
  CloudFormationClient,
  CloudFormationServiceException,
  DescribeStacksCommand,
  paginateListStackResources,
} from '@aws-sdk/client-cloudformation';
import { CloudWatchClient, DescribeAlarmsCommand } from '@aws-sdk/client-cloudwatch';
import { paginateListSubscriptionsByTopic, SNSClient } from '@aws-sdk/client-sns';
import { resourceName } from '../names.ts';
import type { AlarmState, StackState, TopicState } from './doctor-rules.ts';

/** What AWS says of a stage's stacks and alarms. Everything here reads, nothing writes. */

const client = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
};

export const stackPurposes = ['stateful', 'stateless'] as const;

export interface DeployedStack extends StackState {
  /** The output `ApiUrl`, where the stack has it. */
  readonly apiUrl?: string | undefined;
}

export async function stackOf(stage: string, purpose: (typeof stackPurposes)[number]): Promise<DeployedStack> {
  const cloudFormation = new CloudFormationClient(client);
  try {
    const { Stacks } = await cloudFormation.send(
      new DescribeStacksCommand({ StackName: resourceName(stage, purpose) }),
    );
    const [stack] = Stacks ?? [];
    const output = stack?.Outputs?.find(({ OutputKey }) => OutputKey === 'ApiUrl');
    return { purpose, status: stack?.StackStatus, apiUrl: output?.OutputValue };
  } catch (error) {
    // CloudFormation has no name of its own for this error.
    const absent = error instanceof CloudFormationServiceException && /does not exist/.test(error.message);
    if (absent) return { purpose };
    throw error;
  } finally {
    cloudFormation.destroy();
  }
}

/** The alarms of both stacks. Taken from the stacks: a name's beginning may be that of another stage. */
export async function alarmsOf(stage: string): Promise<AlarmState[]> {
  const cloudFormation = new CloudFormationClient(client);
  const cloudWatch = new CloudWatchClient(client);
  try {
    const names: string[] = [];
    for (const purpose of stackPurposes) {
      const pages = paginateListStackResources({ client: cloudFormation }, { StackName: resourceName(stage, purpose) });
      for await (const { StackResourceSummaries = [] } of pages) {
        for (const { ResourceType, PhysicalResourceId } of StackResourceSummaries) {
          if (ResourceType === 'AWS::CloudWatch::Alarm' && PhysicalResourceId) names.push(PhysicalResourceId);
        }
      }
    }
    const alarms: AlarmState[] = [];
    for (let at = 0; at < names.length; at += 100) {
      const asked = new DescribeAlarmsCommand({ AlarmNames: names.slice(at, at + 100), MaxRecords: 100 });
      const { MetricAlarms = [], CompositeAlarms = [] } = await cloudWatch.send(asked);
      for (const { AlarmName = '', ActionsEnabled = false, AlarmActions = [] } of [...MetricAlarms, ...CompositeAlarms])
        alarms.push({ name: AlarmName, actionsEnabled: ActionsEnabled, actions: AlarmActions });
    }
    return alarms;
  } finally {
    cloudFormation.destroy();
    cloudWatch.destroy();
  }
}

/** Who is subscribed to the topics that the alarms tell. */
export async function topicsOf(alarms: readonly AlarmState[]): Promise<TopicState[]> {
  const arns = [...new Set(alarms.flatMap(({ actions }) => actions))].filter((arn) => arn.split(':')[2] === 'sns');
  const sns = new SNSClient(client);
  try {
    const topics: TopicState[] = [];
    for (const arn of arns) {
      let [confirmed, pending] = [0, 0];
      for await (const { Subscriptions = [] } of paginateListSubscriptionsByTopic({ client: sns }, { TopicArn: arn })) {
        for (const { SubscriptionArn } of Subscriptions) {
          if (SubscriptionArn?.startsWith('arn:')) confirmed += 1;
          else pending += 1;
        }
      }
      topics.push({ arn, confirmed, pending });
    }
    return topics;
  } finally {
    sns.destroy();
  }
}

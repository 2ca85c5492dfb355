import { CloudFormationClient, paginateListStackResources } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient, DescribeAlarmsCommand } from '@aws-sdk/client-cloudwatch';
import { paginateListSubscriptionsByTopic, SNSClient } from '@aws-sdk/client-sns';
import { resourceName } from '../names.ts';
import type { AlarmState, TopicState } from './doctor-rules.ts';

/** What AWS says of a stage's stacks and alarms. Everything here reads, nothing writes. */

const client = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
};

/** The alarms of both stacks. Taken from the stacks: a name's beginning may be that of another stage. */
export async function alarmsOf(stage: string): Promise<AlarmState[]> {
  const cloudFormation = new CloudFormationClient(client);
  const cloudWatch = new CloudWatchClient(client);
  try {
    const names: string[] = [];
    for (const purpose of ['stateful', 'stateless']) {
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

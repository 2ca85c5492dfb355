import { CloudFormationClient, paginateListStackResources } from '@aws-sdk/client-cloudformation';
import { CloudFrontClient, GetDistributionCommand } from '@aws-sdk/client-cloudfront';
import { CloudWatchClient, DescribeAlarmsCommand } from '@aws-sdk/client-cloudwatch';
import { paginateListSubscriptionsByTopic, SNSClient } from '@aws-sdk/client-sns';
import { edgeRegion } from '../../edge.ts';
import { resourceName } from '../../names.ts';
import type { DistributionState } from './doctor-edge.ts';
import type { AlarmState, TopicState } from './doctor-rules.ts';
import type { StackPurpose } from './stack-status.ts';

/** This file only reads: the state of a stage's stacks and alarms in AWS. */

const client = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
};

/** The edge's stack is in CloudFront's region, the others are in the caller's. */
const regionOf = (purpose: StackPurpose) => (purpose === 'edge' ? { region: edgeRegion } : {});

async function resourcesOf(stage: string, purpose: StackPurpose, type: string): Promise<string[]> {
  const cloudFormation = new CloudFormationClient({ ...client, ...regionOf(purpose) });
  try {
    const ids: string[] = [];
    const pages = paginateListStackResources({ client: cloudFormation }, { StackName: resourceName(stage, purpose) });
    for await (const { StackResourceSummaries = [] } of pages) {
      for (const { ResourceType, PhysicalResourceId } of StackResourceSummaries) {
        if (ResourceType === type && PhysicalResourceId) ids.push(PhysicalResourceId);
      }
    }
    return ids;
  } finally {
    cloudFormation.destroy();
  }
}

/** Reads the alarms from their stack, because a name prefix may match another stage. */
export async function alarmsOf(stage: string, purpose: StackPurpose): Promise<AlarmState[]> {
  const cloudWatch = new CloudWatchClient({ ...client, ...regionOf(purpose) });
  try {
    const names = [
      ...(await resourcesOf(stage, purpose, 'AWS::CloudWatch::Alarm')),
      ...(await resourcesOf(stage, purpose, 'AWS::CloudWatch::CompositeAlarm')),
    ];
    const alarms: AlarmState[] = [];
    for (let at = 0; at < names.length; at += 100) {
      const asked = new DescribeAlarmsCommand({
        AlarmNames: names.slice(at, at + 100),
        // The answer has composite alarms only on request.
        AlarmTypes: ['MetricAlarm', 'CompositeAlarm'],
        MaxRecords: 100,
      });
      const { MetricAlarms = [], CompositeAlarms = [] } = await cloudWatch.send(asked);
      for (const { AlarmName = '', ActionsEnabled = false, AlarmActions = [] } of MetricAlarms)
        alarms.push({ name: AlarmName, actionsEnabled: ActionsEnabled, actions: AlarmActions });
      for (const { AlarmName = '', ActionsEnabled = false, AlarmActions = [], AlarmRule } of CompositeAlarms)
        alarms.push({ name: AlarmName, actionsEnabled: ActionsEnabled, actions: AlarmActions, rule: AlarmRule });
    }
    return alarms;
  } finally {
    cloudWatch.destroy();
  }
}

/** Reads the edge's distribution; undefined when its stack has none. */
export async function distributionOf(stage: string): Promise<DistributionState | undefined> {
  const [id] = await resourcesOf(stage, 'edge', 'AWS::CloudFront::Distribution');
  if (id === undefined) return undefined;
  const cloudFront = new CloudFrontClient({ ...client, region: edgeRegion });
  try {
    const { Distribution } = await cloudFront.send(new GetDistributionCommand({ Id: id }));
    const config = Distribution?.DistributionConfig;
    const [origin] = config?.Origins?.Items ?? [];
    const { OriginProtocolPolicy, HTTPPort = 80, HTTPSPort = 443 } = origin?.CustomOriginConfig ?? {};
    const plain = OriginProtocolPolicy === 'http-only';
    return {
      id,
      enabled: config?.Enabled ?? false,
      status: Distribution?.Status ?? 'unknown',
      webAcl: Boolean(config?.WebACLId),
      publicName: config?.Aliases?.Items?.[0] ?? '',
      origin: { scheme: plain ? 'http' : 'https', host: origin?.DomainName ?? '', port: plain ? HTTPPort : HTTPSPort },
    };
  } finally {
    cloudFront.destroy();
  }
}

/** Reads the subscriptions of the alarms' topics. */
export async function topicsOf(alarms: readonly AlarmState[]): Promise<TopicState[]> {
  const arns = [...new Set(alarms.flatMap(({ actions }) => actions))].filter((arn) => arn.split(':')[2] === 'sns');
  return await Promise.all(arns.map(topicOf));
}

async function topicOf(arn: string): Promise<TopicState> {
  // An alarm's topic is in the alarm's region.
  const sns = new SNSClient({ ...client, region: arn.split(':')[3] });
  try {
    let [confirmed, pending] = [0, 0];
    for await (const { Subscriptions = [] } of paginateListSubscriptionsByTopic({ client: sns }, { TopicArn: arn })) {
      for (const { SubscriptionArn } of Subscriptions) {
        if (SubscriptionArn?.startsWith('arn:')) confirmed += 1;
        else pending += 1;
      }
    }
    return { arn, confirmed, pending };
  } finally {
    sns.destroy();
  }
}

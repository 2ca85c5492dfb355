import { describe, expect, it } from 'vitest';
import { synthesize } from '../support/synthesized.ts';

const address = {
  stage: 'test',
  domainName: 'api.example.com',
  certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/0a1b-2c3d',
};
const edgeCertificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/4e5f-6a7b';
const service = synthesize({ ...address, edge: true, edgeCertificateArn });
const only = (type: string) => service.edge.find((resource) => resource.type === type)?.properties;

describe('the alarms of the edge', () => {
  const alarmsOf = (context: Readonly<Record<string, unknown>> = {}) =>
    synthesize({ ...address, edge: true, edgeCertificateArn, ...context })
      .edge.filter(({ type }) => type === 'AWS::CloudWatch::Alarm')
      .map(({ properties }) => properties);
  const there = 'arn:aws:sns:us-east-1:123456789012:edge-alarms';
  const elsewhere = 'arn:aws:sns:eu-west-1:123456789012:alarms';
  const told = (context: Readonly<Record<string, unknown>>) => alarmsOf(context).map((alarm) => alarm.AlarmActions);

  it('count what each rule refuses, and ring at as much again as an address is allowed in that time', () => {
    const rules = new Map(
      only('AWS::WAFv2::WebACL').Rules.map((rule: { VisibilityConfig: { MetricName: string }; Name: string }) => [
        rule.Name,
        rule.VisibilityConfig.MetricName,
      ]),
    );
    const blocked = alarmsOf({ edgeRatePerMinute: 100, edgeLoginRatePerMinute: 10 }).filter(
      ({ MetricName }) => MetricName === 'BlockedRequests',
    );
    const WebACL = only('AWS::WAFv2::WebACL').VisibilityConfig.MetricName;
    const shown = blocked.map(({ Dimensions, Threshold, Namespace }) => [
      Namespace,
      Object.fromEntries(Dimensions.map(({ Name, Value }: { Name: string; Value: string }) => [Name, Value])),
      Threshold,
    ]);
    expect(shown).toEqual([
      ['AWS/WAFV2', { WebACL, Rule: rules.get('edge-address') }, 500],
      ['AWS/WAFV2', { WebACL, Rule: rules.get('edge-login') }, 50],
    ]);
  });

  it('ring for a share of failures only where there is enough to take a share of', () => {
    const [math, ...metrics] = alarmsOf().find(({ AlarmName }) => AlarmName.endsWith('edge-5xx-share')).Metrics;
    expect(math.Expression).toBe('IF(FILL(requests, 0) >= 100, FILL(share, 0), 0)');
    const shown = metrics.map(
      ({
        Id,
        MetricStat,
      }: {
        Id: string;
        MetricStat: { Metric: { Dimensions: { Name: string; Value: unknown }[] } };
      }) => {
        const [distributionOf, region] = MetricStat.Metric.Dimensions;
        return [Id, service.edge.find(({ id }) => id === service.target(distributionOf?.Value))?.type, region?.Value];
      },
    );
    expect(shown).toEqual([
      ['requests', 'AWS::CloudFront::Distribution', 'Global'],
      ['share', 'AWS::CloudFront::Distribution', 'Global'],
    ]);
  });

  it('tell the topic of their region, also that of all others where that is the same, and no topic elsewhere', () => {
    expect(told({ edgeAlarmTopicArn: there, alarmTopicArn: elsewhere })).toEqual([[there], [there], [there]]);
    expect(told({ alarmTopicArn: there })).toEqual([[there], [there], [there]]);
    expect(told({ alarmTopicArn: elsewhere })).toEqual([undefined, undefined, undefined]);
  });
});

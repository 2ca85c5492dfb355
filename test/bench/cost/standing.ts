import list from '../../../infra/operate/list-prices.json' with { type: 'json' };
import type { Resource } from '../../support/stack-templates.ts';
import { emptyPollsPerMinute } from './assumed.ts';

/*
 * AWS bills some resources of the templates in an idle month for being there. Functions, empty tables, the gateway and
 * empty logs are free while unused, and have no price here.
 */

export type Standing = keyof typeof list.standing;
export type StandingCounts = Readonly<Record<Standing, number>>;

export const standingNames = Object.keys(list.standing) as Standing[];

/** AWS's price list counts 30 days a month. */
export const minutesOfMonth = 30 * 24 * 60;

/** Counts what AWS bills by the month. A key or a zone is the operator's own, and counts once where it is used. */
export function standingOf(resources: readonly Pick<Resource, 'type' | 'properties'>[]): StandingCounts {
  const of = (type: string) => resources.filter((each) => each.type === type).map(({ properties }) => properties);
  const sum = <Item>(items: readonly Item[], by: (item: Item) => number) =>
    items.reduce((total, item) => total + by(item), 0);
  const webAcls = of('AWS::WAFv2::WebACL');
  const hasKey = of('AWS::DynamoDB::Table').some((table) => table.SSESpecification?.KMSMasterKeyId !== undefined);
  return {
    alarmMetrics: sum(of('AWS::CloudWatch::Alarm'), metricsOf),
    compositeAlarms: of('AWS::CloudWatch::CompositeAlarm').length,
    dashboards: of('AWS::CloudWatch::Dashboard').length,
    secrets: sum(of('AWS::SecretsManager::Secret'), (secret) => (secret.ReplicaRegions === undefined ? 1 : 2)),
    emptyPolls: of('AWS::Lambda::EventSourceMapping').length * emptyPollsPerMinute * minutesOfMonth,
    keys: hasKey ? 1 : 0,
    webAcls: webAcls.length,
    webAclRules: sum(webAcls, ({ Rules }) => Rules.length),
    hostedZones: of('AWS::Route53::RecordSet').length === 0 ? 0 : 1,
  };
}

/** An alarm on an expression is billed for each metric of it, and not for the expression. */
// biome-ignore lint/suspicious/noExplicitAny: properties of an alarm, as CloudFormation reads them
function metricsOf({ Metrics }: any): number {
  return Metrics?.filter((each: object) => 'MetricStat' in each).length ?? 1;
}

export function standingDollars(counts: StandingCounts): Readonly<Record<Standing, number>> {
  const dollars = (name: Standing) => (counts[name] * list.standing[name].dollars) / list.standing[name].per;
  return Object.fromEntries(standingNames.map((name) => [name, dollars(name)])) as Record<Standing, number>;
}

export function monthDollars(counts: StandingCounts): number {
  return Object.values(standingDollars(counts)).reduce((total, each) => total + each, 0);
}

const domain = {
  domainName: 'api.example.com',
  certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/0a1b-2c3d',
};
const withEdge = {
  ...domain,
  edge: true,
  edgeCertificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0a1b-2c3d',
};

/**
 * These settings change what stands there; `context` shows it. An option costs what it adds to `beside`, which it needs
 * anyway.
 */
export const standingOptions: readonly {
  readonly name: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly beside?: Readonly<Record<string, unknown>>;
}[] = [
  { name: 'edge', context: withEdge, beside: domain },
  { name: 'edgeKeyVersion=2', context: { ...withEdge, edgeKeyVersion: 2 }, beside: withEdge },
  { name: 'hostedZoneId', context: { ...domain, hostedZoneId: 'Z0123456789ABC' }, beside: domain },
  {
    name: 'encryptionKeyArn',
    context: { encryptionKeyArn: 'arn:aws:kms:eu-west-1:123456789012:key/0a1b-2c3d' },
  },
  { name: 'canary=false', context: { canary: 'false' } },
  { name: 'syncSchedule', context: { syncSchedule: 'rate(6 hours)' } },
  { name: 'rateSourceUrl', context: { rateSourceUrl: 'https://rates.example.com/usd.json' } },
];

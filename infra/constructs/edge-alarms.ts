import { Duration } from 'aws-cdk-lib';
import type { IDistribution } from 'aws-cdk-lib/aws-cloudfront';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { edgeAlarmTopicsOf, originName } from '../edge.ts';
import { resourceName } from '../names.ts';
import type { Settings } from '../settings.ts';
import { addAlarm } from './alarm.ts';

const minutes = 5;

/**
 * Adds alarms on what only the edge sees, because its own answers never reach the API. They are in the region of its
 * metrics, with a topic there.
 */
export function addEdgeAlarms(scope: Construct, settings: Settings, distribution: IDistribution): void {
  const there = { ...settings, ...edgeAlarmTopicsOf(settings) };
  addAlarm(scope, there, {
    purpose: 'edge-5xx-share',
    severity: 'page',
    section: 'edge',
    metric: failedShare(distribution, 100),
    above: 5,
    periods: 2,
    whoIsHurt: 'Callers of the API: at the edge more than one answer in twenty is 500 or above, for 10 minutes.',
    whatToDo: `Look whether api-5xx rings too: then it is the API. Alone it is the way there: the record ${originName(settings.domainName ?? '')}, the certificates on both sides, and whether infra/ops check finds the API.`,
  });
  addAlarm(scope, there, {
    purpose: 'edge-address-blocked',
    severity: 'ticket',
    section: 'edge',
    metric: blocked(settings, 'edge-address'),
    // One address may send this many requests in the period.
    above: minutes * settings.edgeRatePerMinute,
    periods: 2,
    whoIsHurt: 'Callers who share an address with one that floods the API, if it is not the flood of a stranger alone.',
    whatToDo:
      'Look at the metric by rule (AWS/WAFV2, BlockedRequests) and at clients’ complaints of 429. A stranger: nothing, nothing of it reaches the API. A client with one address for many: raise edgeRatePerMinute.',
  });
  addAlarm(scope, there, {
    purpose: 'edge-webhook-blocked',
    severity: 'ticket',
    section: 'edge',
    metric: blocked(settings, 'edge-webhook'),
    above: minutes * settings.edgeWebhookRatePerMinute,
    periods: 2,
    whoIsHurt:
      'Clients whose receipts and answers come late, if it is the platform that is slowed down and no stranger: it repeats what was refused.',
    whatToDo:
      'Look whether PlatformWebhooksReceived has grown: then raise edgeWebhookRatePerMinute. Else it is a stranger, and nothing of it reaches the API.',
  });
  addAlarm(scope, there, {
    purpose: 'edge-login-blocked',
    severity: 'ticket',
    section: 'edge',
    metric: blocked(settings, 'edge-login'),
    above: minutes * settings.edgeLoginRatePerMinute,
    periods: 2,
    whoIsHurt:
      'Clients who log in from the same address as one that does so too often, and users whose passwords it may be guessing.',
    whatToDo:
      'Look at LoginFailures on the dashboard and at request.unauthorized in the log of login, which has addresses and clients: they tell whether guesses get through below the limit. A client that logs in for every request: tell it that a token holds for an hour.',
  });
}

/** Returns the share of answers of 500 and above, in percent; 0 below `atLeast` requests. */
function failedShare({ distributionId }: IDistribution, atLeast: number): MathExpression {
  const metric = (metricName: string, statistic: string) =>
    new Metric({
      namespace: 'AWS/CloudFront',
      metricName,
      dimensionsMap: { DistributionId: distributionId, Region: 'Global' },
      statistic,
      period: Duration.minutes(minutes),
    });
  return new MathExpression({
    expression: `IF(FILL(requests, 0) >= ${atLeast}, FILL(share, 0), 0)`,
    usingMetrics: { requests: metric('Requests', 'Sum'), share: metric('5xxErrorRate', 'Average') },
    period: Duration.minutes(minutes),
  });
}

function blocked({ stage }: Settings, rule: 'edge-address' | 'edge-login' | 'edge-webhook'): Metric {
  return new Metric({
    namespace: 'AWS/WAFV2',
    metricName: 'BlockedRequests',
    dimensionsMap: { WebACL: resourceName(stage, 'edge'), Rule: resourceName(stage, rule) },
    statistic: 'Sum',
    period: Duration.minutes(minutes),
  });
}

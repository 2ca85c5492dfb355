import { Duration } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { Settings } from '../settings.ts';
import { addAlarm } from './alarm.ts';

export function addConcurrencyAlarms(scope: Construct, settings: Settings, authorizer: IFunction): void {
  addAlarm(scope, settings, {
    purpose: 'account-concurrency',
    severity: 'page',
    section: 'functions',
    // The metric counts all reservations, used or not, and what else runs in the region.
    metric: new Metric({
      namespace: 'AWS/Lambda',
      metricName: 'ClaimedAccountConcurrency',
      statistic: 'Maximum',
      period: Duration.minutes(5),
    }),
    above: Math.floor(0.8 * settings.accountConcurrency),
    periods: 2,
    whoIsHurt:
      'Everybody soon: four fifths of the concurrency of the account are taken, and at its end requests are refused and work waits.',
    whatToDo:
      'Look at ConcurrentExecutions by function for what has grown, other services of the account too. Ask Service Quotas for more concurrent executions and tell it as accountConcurrency.',
  });
  addAlarm(scope, settings, {
    purpose: 'authorizer-throttles',
    severity: 'page',
    section: 'functions',
    metric: authorizer.metricThrottles({ period: Duration.minutes(5), statistic: 'Sum' }),
    above: 0,
    whoIsHurt: 'Everybody with a token: requests ended with a status of 500 because no authorizer was free.',
    whatToDo:
      'Raise authorizerReservedConcurrency. If requests have not grown, see whether the authorizer has become slow: its duration, and what Secrets Manager answers.',
  });
}

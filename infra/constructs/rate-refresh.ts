import { Duration, Validations } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { resourceName } from '../names.ts';
import type { Settings } from '../settings.ts';
import { addAlarm } from './alarm.ts';

/** Refreshes the price rates twice a day, with alarms for a run without a good file and for no run. */
export class RateRefresh extends Construct {
  constructor(scope: Construct, id: string, props: { settings: Settings; refresh: Lambda }) {
    super(scope, id);
    const { settings, refresh } = props;
    const rule = new Rule(this, 'Rule', {
      ruleName: resourceName(settings.stage, 'pricing-refresh'),
      description: 'Reads the price rates from their source',
      schedule: Schedule.rate(Duration.hours(12)),
      targets: [new LambdaFunction(refresh)],
    });
    Validations.of(rule).acknowledge({
      id: 'Serverless-EventBusDLQ',
      reason: 'A call carries nothing that could be lost: the next one, twelve hours later, does the same work.',
    });
    addAlarm(this, settings, {
      purpose: 'pricing-refresh-errors',
      severity: 'ticket',
      section: 'tables',
      metric: refresh.metricErrors({ period: Duration.hours(12), statistic: 'Sum' }),
      above: 0,
      whoIsHurt: 'Clients who ask for prices: they are told the last good rates, which may have been replaced by now.',
      whatToDo:
        'Read pricing.refresh_failed in the log of pricing-refresh: it names what is wrong with the file at rateSourceUrl. Have it corrected; the next run takes it.',
    });
    addAlarm(this, settings, {
      purpose: 'pricing-refresh-missing',
      severity: 'ticket',
      section: 'tables',
      metric: refresh.metricInvocations({ period: Duration.hours(12), statistic: 'Sum' }),
      below: 1,
      periods: 3,
      whoIsHurt: 'Clients who ask for prices: they are told the last good rates, which may have been replaced by now.',
      whatToDo:
        'Look whether the rule pricing-refresh of EventBridge is enabled and still has its function for a target; deploy again, which puts both in order. In the first twelve hours with rateSourceUrl it rings by itself.',
    });
  }
}

import { Duration, Validations } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { serviceMetric } from '../metrics.ts';
import { resourceName } from '../names.ts';
import type { Settings } from '../settings.ts';
import { addAlarm } from './alarm.ts';

/**
 * Looks at the backlog every minute for dispatches that no message carries on (D25, D56), with alarms for one that stays
 * late, for failed looks and for no look.
 */
export class LostRounds extends Construct {
  constructor(scope: Construct, id: string, props: { settings: Settings; find: Lambda }) {
    super(scope, id);
    const { settings, find } = props;
    const rule = new Rule(this, 'Rule', {
      ruleName: resourceName(settings.stage, 'messages-lost-rounds'),
      description: 'Looks at the backlog for dispatches that no message carries on',
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new LambdaFunction(find)],
    });
    Validations.of(rule).acknowledge({
      id: 'Serverless-EventBusDLQ',
      reason: 'A call carries nothing that could be lost: the next one, a minute later, does the same work.',
    });
    addAlarm(this, settings, {
      purpose: 'lost-rounds-errors',
      severity: 'ticket',
      section: 'tables',
      metric: find.metricErrors({ period: Duration.minutes(15), statistic: 'Sum' }),
      above: 0,
      periods: 2,
      whoIsHurt: 'Clients with a dispatch whose message is lost: while no look succeeds, it waits for ever.',
      whatToDo:
        'Read the log of messages-lost-rounds for the time of the alarm: it says which table or queue it could not reach. dispatch.unreadable names a dispatch whose item it cannot read; it looks at all others.',
    });
    addAlarm(this, settings, {
      purpose: 'lost-rounds-missing',
      severity: 'ticket',
      section: 'tables',
      metric: find.metricInvocations({ period: Duration.minutes(15), statistic: 'Sum' }),
      below: 1,
      periods: 2,
      whoIsHurt: 'Clients with a dispatch, should its message be lost: no run looks for it, and it waits for ever.',
      whatToDo:
        'Look whether the rule messages-lost-rounds of EventBridge is enabled and still has its function for a target; deploy again, which puts both in order. In the first minutes of a new stage it rings by itself.',
    });
    addAlarm(this, settings, {
      purpose: 'rounds-lost',
      severity: 'ticket',
      section: 'tables',
      metric: serviceMetric(settings, 'RoundsLost', 15),
      above: 0,
      whoIsHurt: 'Clients with a dispatch: it was woken, and is eight minutes late nevertheless.',
      whatToDo:
        'Look at the fan-out queue and its dead-letter queue: a fan-out that is far behind, or a dispatch that fails in each of its rounds. dispatch.round_lost in the log names the dispatches.',
    });
  }
}

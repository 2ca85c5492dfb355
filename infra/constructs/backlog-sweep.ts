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
 * Sweeps the backlog every minute for numbers that nothing else wakes (D25, D56), with alarms for what stays overdue, for
 * failed sweeps and for no sweep.
 */
export class BacklogSweep extends Construct {
  constructor(scope: Construct, id: string, props: { settings: Settings; sweep: Lambda }) {
    super(scope, id);
    const { settings, sweep } = props;
    const rule = new Rule(this, 'Rule', {
      ruleName: resourceName(settings.stage, 'messages-sweep'),
      description: 'Wakes the senders of numbers whose backlog has something due',
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new LambdaFunction(sweep)],
    });
    Validations.of(rule).acknowledge({
      id: 'Serverless-EventBusDLQ',
      reason: 'A call carries nothing that could be lost: the next one, a minute later, does the same work.',
    });
    addAlarm(this, settings, {
      purpose: 'sweep-errors',
      severity: 'ticket',
      section: 'tables',
      metric: sweep.metricErrors({ period: Duration.minutes(15), statistic: 'Sum' }),
      above: 0,
      periods: 2,
      whoIsHurt: 'Clients with a dispatch for a later time, or whose wake is lost: while no sweep succeeds, it waits.',
      whatToDo:
        'Read the log of messages-sweep for the time of the alarm: it says which table or queue it could not reach. dispatch.unreadable names a dispatch that it cannot read; it sweeps all others.',
    });
    addAlarm(this, settings, {
      purpose: 'sweep-missing',
      severity: 'page',
      section: 'tables',
      metric: sweep.metricInvocations({ period: Duration.minutes(5), statistic: 'Sum' }),
      below: 1,
      periods: 2,
      whoIsHurt: 'Clients with a dispatch for a later time, or whose wake is lost: no run looks for it, and it waits.',
      whatToDo:
        'Look whether the rule messages-sweep of EventBridge is enabled and still has its function for a target; deploy again, which puts both in order. In the first minutes of a new stage it rings by itself.',
    });
    addAlarm(this, settings, {
      purpose: 'sender-failures',
      severity: 'page',
      section: 'tables',
      metric: serviceMetric(settings, 'SenderFailures', 15),
      above: 0,
      periods: 2,
      whoIsHurt: 'Clients with a dispatch that runs of its number give up, or whose number has no run that ends well.',
      whatToDo:
        'Read send.error and dispatch.unreadable in the log of messages-dispatch: they name the error and the dispatch. Right after a deployment: roll it back. Else look at the table that it could not reach; a damaged dispatch is tried ever more rarely, and can be cancelled.',
    });
    addAlarm(this, settings, {
      purpose: 'backlog-overdue',
      severity: 'page',
      section: 'tables',
      metric: serviceMetric(settings, 'BacklogOverdue'),
      above: 0,
      missingRings: true,
      periods: 3,
      whoIsHurt: 'Clients with a dispatch that is due: its number was woken, and no sender has come for five minutes.',
      whatToDo:
        'Read dispatch.overdue in the log of messages-sweep, which names the dispatches. Look at the errors and throttles of messages-dispatch and at the age of the dispatch queue; when all is quiet, raise dispatchMaximumConcurrency. Without data no sweep has ended: see sweep-errors and sweep-missing.',
    });
  }
}

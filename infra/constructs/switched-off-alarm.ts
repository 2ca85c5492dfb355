import { Duration } from 'aws-cdk-lib';
import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { resourceName } from '../names.ts';
import type { Settings } from '../settings.ts';
import { addAlarm } from './alarm.ts';

/** Rings when the service has switched a client's webhook off: a metric over the log line that says so. */
export class SwitchedOffAlarm extends Construct {
  constructor(scope: Construct, id: string, props: { settings: Settings; logGroup: ILogGroup }) {
    super(scope, id);
    const { settings, logGroup } = props;
    const filter = new MetricFilter(this, 'Filter', {
      logGroup,
      filterPattern: FilterPattern.stringValue('$.event', '=', 'webhook.switched_off'),
      metricNamespace: resourceName(settings.stage, 'webhooks'),
      metricName: 'SwitchedOff',
      metricValue: '1',
    });
    addAlarm(this, settings, {
      purpose: 'webhook-switched-off',
      metric: filter.metric({ period: Duration.minutes(5), statistic: 'Sum' }),
      above: 0,
      whoIsHurt: 'Clients whose receiver answered 410 or failed for five days: they are told nothing any more.',
      whatToDo:
        'Find the client in the lines webhook.switched_off of events-deliver and tell it: it switches its webhook on with PUT /v1/webhook/config, and npm run events -- replay sends what it missed.',
    });
  }
}

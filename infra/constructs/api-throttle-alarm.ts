import { Duration } from 'aws-cdk-lib';
import { FilterPattern, LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { accessLogGroupName, resourceName } from '../names.ts';
import type { Settings } from '../settings.ts';
import { addAlarm } from './alarm.ts';

/**
 * Rings when the gateway itself keeps refusing requests with 429. HTTP APIs have no such metric, so a filter reads the
 * access log; a function's own 429 has an integration status there. Under a flood the log may be incomplete.
 */
export class ApiThrottleAlarm extends Construct {
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const filter = new MetricFilter(this, 'Filter', {
      logGroup: LogGroup.fromLogGroupName(this, 'AccessLog', accessLogGroupName(settings.stage)),
      filterPattern: FilterPattern.all(
        FilterPattern.stringValue('$.status', '=', '429'),
        FilterPattern.stringValue('$.integrationStatus', '=', '-'),
      ),
      // A filter takes dimensions only from the log, so the metric's name contains the stage.
      metricNamespace: 'TemplateMessaging/Api',
      metricName: resourceName(settings.stage, 'api-throttled'),
      metricValue: '1',
    });
    addAlarm(this, settings, {
      purpose: 'api-throttled',
      severity: 'ticket',
      section: 'requests',
      metric: filter.metric({ statistic: 'Sum', period: Duration.minutes(5) }),
      above: 20,
      periods: 2,
      whoIsHurt: 'Callers of the API: the gateway refused more than 20 requests in 5 minutes with 429, and goes on.',
      whatToDo:
        'Find the route and the caller in the access log (status 429: routeKey, clientId, sourceIp). A flood at POST /login, /health or /r takes nothing from clients, and passwords stay slow to guess: see what it costs (infra/README.md, What an attack costs). All callers together are more than the stage allows: raise stageRatePerSecond and stageBurst.',
    });
  }
}

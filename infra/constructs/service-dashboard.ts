import { Duration } from 'aws-cdk-lib';
import { Dashboard, GraphWidget, type IMetric, type IWidget, TextWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { platformCallsThrottled, platformErrorsByCode, serviceMetric, throttledRequests } from '../metrics.ts';
import { queuePurposes, resourceName } from '../names.ts';
import type { QueueName } from '../queues.ts';
import type { Settings } from '../settings.ts';
import type { StatefulStack } from '../stateful-stack.ts';
import type { ServiceApi } from './service-api.ts';

export interface ServiceDashboardProps {
  readonly settings: Settings;
  readonly state: Pick<StatefulStack, 'queues' | 'tables'>;
  readonly api: ServiceApi;
  readonly functions: ReadonlyMap<string, IFunction>;
}

const over = { period: Duration.minutes(5), statistic: 'Sum' };
const highest = { period: Duration.minutes(5), statistic: 'Maximum' };
const rowWidth = 24;

/**
 * Shows the health of the service on one page, from recipients down to parts. A new queue, route, function or table
 * appears by itself.
 */
export class ServiceDashboard extends Construct {
  constructor(scope: Construct, id: string, props: ServiceDashboardProps) {
    super(scope, id);
    const { settings, api, functions, state } = props;
    new Dashboard(this, 'Dashboard', {
      dashboardName: resourceName(settings.stage, 'health'),
      defaultInterval: Duration.hours(12),
      widgets: [
        section('Messages'),
        messageGraphs(settings),
        section('Queues'),
        queueGraphs(state),
        section('Platform and synchronization'),
        platformGraphs(settings),
        section('Routes'),
        ...inRows(api.routes.map((route) => routeGraph(api, route))),
        section('Functions'),
        functionGraphs(functions),
        section('Tables and access'),
        tableGraphs(settings, state),
      ],
    });
  }
}

function section(title: string): IWidget[] {
  return [new TextWidget({ markdown: `## ${title}`, width: rowWidth, height: 1 })];
}

function graph(title: string, left: readonly IMetric[], width = 8): GraphWidget {
  return new GraphWidget({ title, left: [...left], width, height: 6, leftYAxis: { min: 0 } });
}

function messageGraphs(settings: Settings): IWidget[] {
  const metric = (name: Parameters<typeof serviceMetric>[1]) => serviceMetric(settings, name);
  return [
    graph(
      'Recipients accepted, messages sent',
      [metric('RecipientsAccepted'), metric('MessagesSent'), metric('MessagesHeld')],
      12,
    ),
    graph('Not sent', [metric('MessagesFailed'), metric('MessagesExpired'), metric('MessagesUnknown')], 12),
    graph('Receipts', [metric('ReceiptsRecorded'), metric('ReceiptsDropped'), metric('MessagesResolved')], 12),
    graph(
      'Dispatches due each minute, and of these overdue',
      [metric('BacklogDue'), metric('BacklogOverdue'), metric('SenderFailures')],
      12,
    ),
    graph('One-time codes called, and of these late', [metric('CodesCalled'), metric('CodesLate')], 12),
  ];
}

function queueGraphs({ queues }: ServiceDashboardProps['state']): IWidget[] {
  const named = Object.entries(queues).map(
    ([name, { queue, deadLetters }]) => ({ label: queuePurposes[name as QueueName], queue, deadLetters }) as const,
  );
  return [
    graph(
      'Age of the oldest message, seconds',
      named.map(({ queue, label }) => queue.metricApproximateAgeOfOldestMessage({ ...highest, label })),
    ),
    graph(
      'Messages waiting',
      named.map(({ queue, label }) => queue.metricApproximateNumberOfMessagesVisible({ ...highest, label })),
    ),
    graph(
      'Dead letters',
      named.map(({ deadLetters, label }) =>
        deadLetters.metricApproximateNumberOfMessagesVisible({ ...highest, label }),
      ),
    ),
  ];
}

function platformGraphs(settings: Settings): IWidget[] {
  const metric = (name: Parameters<typeof serviceMetric>[1]) => serviceMetric(settings, name);
  return [
    graph('Platform errors by code', [platformErrorsByCode(settings)]),
    graph('Platform calls limited or refused', [
      platformCallsThrottled(settings),
      metric('PlatformCredentialRefused'),
      metric('PlatformDown'),
      metric('RequestsFailedByPlatform'),
      metric('SendsFailedByPlatform'),
    ]),
    graph('Holds, and numbers that fell', [
      metric('HoldsOpened'),
      metric('HoldsStanding'),
      metric('CategoryHoldsStanding'),
      metric('NumbersFallen'),
    ]),
    graph('Templates', [
      metric('SyncsCompleted'),
      metric('SyncTemplatesChanged'),
      metric('SyncWabasFailed'),
      metric('HintTurns'),
      metric('HintReadingsFailed'),
      metric('TemplatesSkipped'),
      metric('TemplatesCreated'),
    ]),
    graph('What the platform tells', [
      metric('PlatformWebhooksReceived'),
      metric('ReceiptsExpected'),
      metric('ReceiptsQueued'),
      metric('PlatformPersonWordsRead'),
      metric('PlatformStatusesForeign'),
      metric('PlatformUpdatesDropped'),
      metric('PlatformUpdatesPassedOver'),
      metric('PlatformSignaturesRefused'),
    ]),
    graph('Webhooks', [
      metric('EventsNotQueued'),
      metric('WebhookDeliveries'),
      metric('WebhookFailures'),
      metric('WebhookEventsAbandoned'),
      metric('WebhooksSwitchedOff'),
    ]),
  ];
}

function routeGraph(api: ServiceApi, route: ServiceApi['routes'][number]): IWidget {
  return new GraphWidget({
    title: `${route.method} ${route.path}`,
    left: ['p50', 'p95', 'p99'].map((statistic) => api.routeMetric(route, 'Latency', statistic)),
    leftYAxis: { min: 0, label: 'ms', showUnits: false },
    right: ['4xx', '5xx'].map((name) => api.routeMetric(route, name, 'Sum')),
    rightYAxis: { min: 0, label: 'answers', showUnits: false },
    width: 8,
    height: 6,
  });
}

function functionGraphs(functions: ServiceDashboardProps['functions']): IWidget[] {
  const each = (metricOf: (lambda: IFunction, label: string) => IMetric) =>
    [...functions].map(([name, lambda]) => metricOf(lambda, name));
  return [
    // The authorizer refuses a bad token by an error, so its line includes those.
    graph(
      'Function errors',
      each((lambda, label) => lambda.metricErrors({ ...over, label })),
    ),
    graph(
      'Function throttles',
      each((lambda, label) => lambda.metricThrottles({ ...over, label })),
    ),
    graph(
      'Function duration, p95',
      each((lambda, label) => lambda.metricDuration({ ...over, statistic: 'p95', label })),
    ),
  ];
}

function tableGraphs(settings: Settings, { tables }: ServiceDashboardProps['state']): IWidget[] {
  const throttled = Object.entries(tables).map(
    ([name, { tableName }]) => [name, throttledRequests(tableName)] as const,
  );
  return [
    graph(
      'Throttled reads by table',
      throttled.map(([label, { reads }]) => reads.with({ label })),
    ),
    graph(
      'Throttled writes by table',
      throttled.map(([label, { writes }]) => writes.with({ label })),
    ),
    graph('Logins refused; not judged, counted or kept', [
      serviceMetric(settings, 'LoginFailures'),
      serviceMetric(settings, 'AuthorizerFailures'),
      serviceMetric(settings, 'RequestsNotBudgeted'),
      serviceMetric(settings, 'AuditNotWritten'),
    ]),
  ];
}

function inRows(widgets: readonly IWidget[]): IWidget[][] {
  const perRow = 3;
  return Array.from({ length: Math.ceil(widgets.length / perRow) }, (_, row) =>
    widgets.slice(row * perRow, (row + 1) * perRow),
  );
}

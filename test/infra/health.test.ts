import { describe, expect, it } from 'vitest';
import { functions } from '../../infra/functions.ts';
import { throttledCodes } from '../../infra/metrics.ts';
import { routes } from '../../infra/routes.ts';
import { metricNames } from '../../lib/observe/metrics.ts';
import { throttledMetricCodes } from '../../lib/platform/failure.ts';
import { stacksOf } from '../support/stack-templates.ts';

const service = stacksOf('whole');

/** Writes logical ids in place of references. */
function joined(body: unknown): string {
  const parts = (body as { 'Fn::Join': [string, unknown[]] })['Fn::Join'][1];
  return parts.map((part) => (typeof part === 'string' ? part : placeholder(part))).join('');
}

function placeholder(reference: unknown): string {
  if ((reference as { Ref?: string }).Ref === 'AWS::Region') return 'eu-west-1';
  return service.target(reference);
}

interface Widget {
  readonly type: string;
  readonly properties: { readonly title?: string; readonly markdown?: string; readonly metrics?: unknown[][] };
}

const [dashboard] = service.all('AWS::CloudWatch::Dashboard');
const widgets: Widget[] = JSON.parse(joined(dashboard?.properties.DashboardBody)).widgets;
const metricsOf = (title: string) => {
  const widget = widgets.find(({ properties }) => properties.title === title);
  if (widget === undefined) throw new Error(`the dashboard has no graph ${title}`);
  return (widget.properties.metrics ?? []).map((metric) => metric.filter((part) => typeof part === 'string'));
};
const own = 'TemplateMessaging';
const mine = (name: string) => [own, name, 'service', 'template-messaging-test-service'];

describe('the dashboard', () => {
  it('is named by the stage and has a heading for every part', () => {
    expect(dashboard?.properties.DashboardName).toBe('template-messaging-test-health');
    expect(widgets.flatMap(({ properties }) => properties.markdown ?? [])).toEqual([
      '## Messages',
      '## Queues',
      '## Platform and synchronization',
      '## Routes',
      '## Functions',
      '## Tables and access',
    ]);
  });

  it('has a graph for every metric that the functions count', () => {
    const shown = widgets.flatMap(({ properties }) =>
      (properties.metrics ?? []).flatMap((metric) => {
        const [first, name] = metric as [string | { readonly expression: string }, string];
        if (first === own) return [name];
        return typeof first === 'string'
          ? []
          : [...first.expression.matchAll(/MetricName="(\w+)"/g)].map(([, of]) => of);
      }),
    );
    expect([...new Set(shown)].sort()).toEqual([...metricNames].sort());
  });

  it('shows what became of messages, as the functions count it', () => {
    expect(metricsOf('Recipients accepted, messages sent')).toEqual([
      mine('RecipientsAccepted'),
      mine('MessagesSent'),
      mine('MessagesHeld'),
    ]);
    expect(metricsOf('Not sent')).toEqual([mine('MessagesFailed'), mine('MessagesExpired'), mine('MessagesUnknown')]);
  });

  it('finds every code of a platform error by itself', () => {
    const widget = widgets.find(({ properties }) => properties.title === 'Platform errors by code');
    expect(widget?.properties.metrics).toMatchObject([
      [
        {
          expression: `SEARCH('{${own},service,code} service="template-messaging-test-service" MetricName="PlatformErrors"', 'Sum', 300)`,
        },
      ],
    ]);
  });

  it('shows what was throttled as the sum of the codes that such calls are counted under', () => {
    expect([...throttledCodes]).toEqual(throttledMetricCodes);
    const widget = widgets.find(({ properties }) => properties.title === 'Platform calls limited or refused');
    const codes = throttledMetricCodes.map((code) => `"${code}"`).join(' OR ');
    const search = `{${own},service,code} service="template-messaging-test-service" MetricName="PlatformErrors" code=(${codes})`;
    expect(widget?.properties.metrics?.[0]).toMatchObject([{ expression: `SUM(SEARCH('${search}', 'Sum', 300))` }]);
  });

  it.each(routes.filter(({ operation }) => operation in functions).map((route) => [route] as const))(
    'shows latency and refusals of $method $path',
    ({ method, path }) => {
      const [api] = service.all('AWS::ApiGatewayV2::Api');
      const dimensions = ['ApiId', api?.id, 'Method', method, 'Resource', path, 'Stage', '$default'];
      const shown = metricsOf(`${method} ${path}`);
      expect(shown).toEqual(
        ['Latency', 'Latency', 'Latency', '4xx', '5xx'].map((name) => ['AWS/ApiGateway', name, ...dimensions]),
      );
    },
  );

  const idsOf = (type: string) => service.all(type).map(({ id }) => id);
  const isDead = (id: string) => id.includes('DeadLetters');
  const [dead, live] = [true, false].map((is) => idsOf('AWS::SQS::Queue').filter((id) => isDead(id) === is));
  it.each([
    ['Age of the oldest message, seconds', 'SQS ApproximateAgeOfOldestMessage QueueName', live],
    ['Messages waiting', 'SQS ApproximateNumberOfMessagesVisible QueueName', live],
    ['Dead letters', 'SQS ApproximateNumberOfMessagesVisible QueueName', dead],
    ['Function errors', 'Lambda Errors FunctionName', idsOf('AWS::Lambda::Function')],
    ['Function throttles', 'Lambda Throttles FunctionName', idsOf('AWS::Lambda::Function')],
    ['Function duration, p95', 'Lambda Duration FunctionName', idsOf('AWS::Lambda::Function')],
    ['Throttled reads by table', 'DynamoDB ReadThrottleEvents TableName', idsOf('AWS::DynamoDB::Table')],
    ['Throttled writes by table', 'DynamoDB WriteThrottleEvents TableName', idsOf('AWS::DynamoDB::Table')],
  ])('%s: of all there are', (title, metric, ids = []) => {
    expect(ids.length).toBeGreaterThan(7);
    const all = ids.map((id) => [...`AWS/${metric}`.split(' '), id]);
    expect(metricsOf(title)).toEqual(expect.arrayContaining(all));
  });
});

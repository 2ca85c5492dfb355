import { describe, expect, it } from 'vitest';
import { functions } from '../../infra/functions.ts';
import { throttledCodes } from '../../infra/metrics.ts';
import { purposeOf, queuePurposes, resourceName } from '../../infra/names.ts';
import { routes } from '../../infra/routes.ts';
import { tables } from '../../infra/tables.ts';
import { metricNames } from '../../lib/observe/metrics.ts';
import { throttledMetricCodes } from '../../lib/platform/failure.ts';
import { documentOf, namesIn, sectionsOf, tableRows } from '../support/documents.ts';
import { stacksOf } from '../support/stack-templates.ts';

const service = stacksOf('whole');
const runBook = documentOf('infra/operate/README.md');

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

interface AlarmMetric {
  readonly Metric: { readonly MetricName: string };
  readonly Period: number;
  readonly Stat: string;
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
const idOf = (type: string, property: string, purpose: string) =>
  service.all(type).find(({ properties }) => properties[property] === resourceName('test', purpose))?.id;

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

  it('shows age, depth and dead letters of every queue', () => {
    for (const purpose of Object.values(queuePurposes)) {
      for (const [title, metric, name] of [
        ['Age of the oldest message, seconds', 'ApproximateAgeOfOldestMessage', purpose],
        ['Messages waiting', 'ApproximateNumberOfMessagesVisible', purpose],
        ['Dead letters', 'ApproximateNumberOfMessagesVisible', `${purpose}-dead`],
      ] as const) {
        const id = idOf('AWS::SQS::Queue', 'QueueName', name);
        expect(metricsOf(title)).toContainEqual(['AWS/SQS', metric, 'QueueName', id]);
      }
    }
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

  it.each(Object.keys(functions))('shows errors, throttles and duration of %s', (name) => {
    const id = idOf('AWS::Lambda::Function', 'FunctionName', name);
    for (const [title, metric] of [
      ['Function errors', 'Errors'],
      ['Function throttles', 'Throttles'],
      ['Function duration, p95', 'Duration'],
    ] as const) {
      expect(metricsOf(title)).toContainEqual(['AWS/Lambda', metric, 'FunctionName', id]);
    }
  });

  it.each(Object.keys(tables))('shows what DynamoDB throttled of %s', (name) => {
    const id = idOf('AWS::DynamoDB::Table', 'TableName', name);
    expect(metricsOf('Throttled reads by table')).toContainEqual([
      'AWS/DynamoDB',
      'ReadThrottleEvents',
      'TableName',
      id,
    ]);
    expect(metricsOf('Throttled writes by table')).toContainEqual([
      'AWS/DynamoDB',
      'WriteThrottleEvents',
      'TableName',
      id,
    ]);
  });
});

describe('alarms', () => {
  const alarms = service.all('AWS::CloudWatch::Alarm').map(({ properties }) => properties);
  const composites = service.all('AWS::CloudWatch::CompositeAlarm').map(({ properties }) => properties);
  const nameOf = ({ AlarmName }: { AlarmName: string }) => AlarmName.replace('template-messaging-test-', '');
  /** A composite alarm notifies, and not the alarm below it. */
  const purposes = [...alarms, ...composites]
    .map(nameOf)
    .filter((name) => !/-seen$|-burn-.+-(?:long|short)$/.test(name));
  const placeholders: Readonly<Record<string, readonly string[]>> = {
    '<queue>': Object.values(queuePurposes),
    '<worker>': Object.keys(functions).filter((name) => functions[name]?.consumes !== undefined),
    '<table>': Object.keys(tables),
    '<canary>': Object.keys(functions).filter((name) => functions[name]?.canary !== undefined),
  };
  const namesOf = (written: string) => {
    const found = Object.keys(placeholders).find((each) => written.includes(each));
    return found === undefined ? [written] : (placeholders[found] ?? []).map((name) => written.replace(found, name));
  };
  /** The first cell of a row in the run book names its alarms, and in parentheses whom the rest concerns. */
  const alarmsIn = (cell: string) => namesIn(cell.replace(/\(.*\)/, '')).flatMap(namesOf);

  it('are those that the run book explains, each once', () => {
    const explained = [...sectionsOf(runBook)].flatMap(([heading, text]) =>
      heading.startsWith('Alarms of ') ? tableRows(text, '| Alarm |') : [],
    );
    expect(explained.flatMap(([cell = '']) => alarmsIn(cell)).sort()).toEqual(purposes.sort());
  });

  it('have the severity that the run book says', () => {
    const told = new Map([...alarms, ...composites].map((each) => [nameOf(each), each.AlarmDescription.split(':')[0]]));
    const tables = [...sectionsOf(runBook)].filter(([heading]) => heading.startsWith('Alarms of '));
    for (const [name = '', severity] of tables.flatMap(([, text]) => tableRows(text, '| Alarm |'))) {
      const severities = new Set(alarmsIn(name).map((each) => told.get(each)));
      expect([name, [...severities].sort().join(' or ')]).toEqual([name, severity]);
    }
  });

  it('name the affected users and the next step, in at least two sentences, and ring for missing data only for schedules', () => {
    expect(alarms.length).toBeGreaterThan(10);
    for (const alarm of [...alarms, ...composites]) {
      expect(alarm.AlarmDescription.length).toBeLessThanOrEqual(1_024);
      expect(alarm.AlarmDescription).toMatch(
        /^(page|ticket): (Clients|Recipients|Callers|Everybody) .+\. [A-Z].+\. Run book: \S+$/,
      );
    }
    for (const { AlarmName, TreatMissingData } of alarms) {
      const isSilence = ['backlog-overdue', 'sweep-missing', 'pricing-refresh-missing'].includes(
        purposeOf('test', AlarmName),
      );
      expect(TreatMissingData).toBe(isSilence ? 'breaching' : 'notBreaching');
    }
  });

  it('ring at the first refused credential or hold (D46), within a quarter of an hour', () => {
    for (const [MetricName, Period] of [
      ['PlatformCredentialRefused', 300],
      ['AuthorizerFailures', 300],
      ['HoldsStanding', 900],
      ['CategoryHoldsStanding', 900],
    ] as const) {
      expect(alarms.find((alarm) => alarm.MetricName === MetricName)).toMatchObject({
        Namespace: own,
        Dimensions: [{ Name: 'service', Value: 'template-messaging-test-service' }],
        Statistic: 'Sum',
        ...{ Threshold: 0, EvaluationPeriods: 1, Period },
      });
    }
  });

  it('do not ring for one unknown outcome, because a receipt settles most of them', () => {
    const alarm = alarms.find(({ MetricName }) => MetricName === 'MessagesUnknown');
    expect(alarm).toMatchObject({ Threshold: 10, Period: 3_600, EvaluationPeriods: 1 });
  });

  it('ring for receipts that do not come only where they were to come, and messages left, over a whole hour (D38)', () => {
    const alarm = alarms.find(({ AlarmName }) => AlarmName === resourceName('test', 'receipts-missing'));
    expect(alarm).toMatchObject({
      ...{ Threshold: 0, EvaluationPeriods: 1 },
      EvaluationWindow: { WallClockWindow: { Timezone: 'UTC' } },
    });
    const [math, ...metrics] = alarm?.Metrics ?? [];
    expect(math.Expression).toBe('IF(FILL(expected, 0) >= 10 AND FILL(told, 0) == 0, 1, 0)');
    const shown = metrics.map(({ Id, MetricStat }: { Id: string; MetricStat: AlarmMetric }) => [
      Id,
      MetricStat.Metric.MetricName,
      MetricStat.Period,
      MetricStat.Stat,
    ]);
    expect(shown).toEqual([
      ['expected', 'ReceiptsExpected', 3_600, 'Sum'],
      ['told', 'ReceiptsQueued', 3_600, 'Sum'],
    ]);
  });

  it('look at what the whole account has left, by the quota that was told', () => {
    const [alarm] = stacksOf('chosen')
      .all('AWS::CloudWatch::Alarm')
      .filter(({ properties }) => properties.MetricName === 'ClaimedAccountConcurrency');
    expect(alarm?.properties).toMatchObject({ Namespace: 'AWS/Lambda', Statistic: 'Maximum', Threshold: 1_600 });
    expect(alarm?.properties).not.toHaveProperty('Dimensions');
  });

  it("count what the gateway refused by itself, and not a function's own 429", () => {
    const [filter, ...more] = service.all('AWS::Logs::MetricFilter').map(({ properties }) => properties);
    expect(more).toEqual([]);
    expect(filter.FilterPattern).toBe('{ ($.status = "429") && ($.integrationStatus = "-") }');
    const [transformation] = filter.MetricTransformations;
    const alarm = alarms.find(({ AlarmName }) => AlarmName === resourceName('test', 'api-throttled'));
    expect(alarm).toMatchObject({
      Namespace: transformation.MetricNamespace,
      MetricName: transformation.MetricName,
      Statistic: 'Sum',
    });
    const [stage] = service.all('AWS::ApiGatewayV2::Stage').map(({ properties }) => properties.AccessLogSettings);
    expect(JSON.parse(stage.Format)).toMatchObject({ status: '$context.status', integrationStatus: expect.anything() });
    expect(JSON.stringify(stage.DestinationArn)).toContain(filter.LogGroupName);
    expect(service.stateful.map(({ properties }) => properties.LogGroupName)).toContain(filter.LogGroupName);
  });

  it('ring for refused signatures only when they go on, and not for a single one', () => {
    const alarm = alarms.find(({ MetricName }) => MetricName === 'PlatformSignaturesRefused');
    expect(alarm).toMatchObject({ Threshold: 5, EvaluationPeriods: 2, Period: 300, Statistic: 'Sum' });
  });

  it('ring for a share only where there is enough to take a share of', () => {
    const expressionOf = (purpose: string) =>
      alarms
        .find(({ AlarmName }) => AlarmName === resourceName('test', purpose))
        ?.Metrics.find(({ Expression }: { Expression?: string }) => Expression !== undefined).Expression;
    const all = '(FILL(part0, 0) + FILL(part1, 0) + FILL(part2, 0) + FILL(rest0, 0) + FILL(rest1, 0))';
    expect(expressionOf('messages-failed-share-seen')).toBe(
      `IF(${all.slice(1, -1)} >= 50, 100 * (FILL(part0, 0) + FILL(part1, 0) + FILL(part2, 0)) / ${all}, 0)`,
    );
    expect(expressionOf('api-5xx-share')).toBe(
      'IF(FILL(all, 0) >= 100, 100 * (FILL(part, 0) - FILL(excused, 0)) / FILL(all, 0), 0)',
    );
  });
});

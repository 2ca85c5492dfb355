import { describe, expect, it } from 'vitest';
import { burns } from '../../infra/constructs/objectives.ts';
import { functions } from '../../infra/functions.ts';
import { queuePurposes, resourceName } from '../../infra/names.ts';
import { type QueueName, queues } from '../../infra/queues.ts';
import { routes } from '../../infra/routes.ts';
import { tables } from '../../infra/tables.ts';
import {
  type FunctionTrouble,
  unalarmedDeadLetterAge,
  unalarmedEndpoints,
  unalarmedFunctions,
  unalarmedHolds,
  unalarmedSchedules,
} from '../../infra/unalarmed.ts';
import { standingMetricOf } from '../../lib/messages/holds/open-hold.ts';
import type { HoldScope } from '../../lib/messages/holds/scope.ts';
import { documentOf, namesIn, sectionsOf, tableRows } from '../support/documents.ts';
import { pageTopicArn, ticketTopicArn } from '../support/setting-choices.ts';
import { stacksOf } from '../support/stack-templates.ts';

/*
 * No failure stays unseen, and each alarm is in the run book; templates/plain.txt says what each watches, which cause
 * silences it, and when it rings.
 */

const service = stacksOf('whole');
const alarms = service.all('AWS::CloudWatch::Alarm');
const composites = service.all('AWS::CloudWatch::CompositeAlarm');
const shortened = (name: unknown) => String(name).replace('template-messaging-test-', '');
const purposeOf = ({ AlarmName }: { AlarmName: string }) => shortened(AlarmName);
const alarmNamed = (purpose: string) =>
  [...composites, ...alarms].find(({ properties }) => purposeOf(properties) === purpose)?.properties;

/** An alarm watches a metric directly or in an expression. */
const watched = alarms.flatMap(({ properties }) =>
  (properties.Metrics ?? [{ MetricStat: { Metric: properties } }]).flatMap(
    ({ MetricStat: of }: { MetricStat?: { Metric: Record<string, unknown> } }) =>
      of === undefined ? [] : [{ name: of.Metric['MetricName'], dimensions: of.Metric['Dimensions'] ?? [] }],
  ),
);

/** An alarm on a version of a function does not count as an alarm on the function. */
function isWatched(metricName: string, dimension: string, value: string): boolean {
  return watched.some(({ name, dimensions }) => {
    const [first, ...others] = dimensions as { Name: string; Value: unknown }[];
    if (name !== metricName || first?.Name !== dimension || others.length > 0) return false;
    return first.Value === value || (typeof first.Value === 'object' && service.target(first.Value) === value);
  });
}
const isCounted = (metric: string) => isWatched(metric, 'service', 'template-messaging-test-service');

describe('everything has an alarm, or a line that says why not', () => {
  const deployed = service.all('AWS::Lambda::Function');
  const operations = new Set(routes.map(({ operation }) => operation));
  const troubles: readonly FunctionTrouble[] = ['Errors', 'Throttles', 'Duration'];

  it.each(deployed.map(({ id, properties }) => [shortened(properties.FunctionName), id] as const))(
    'the function %s: errors, throttles, duration',
    (name, id) => {
      const reasons = operations.has(name) ? unalarmedEndpoints : (unalarmedFunctions[name] ?? {});
      const unseen = troubles.filter((trouble) => !isWatched(trouble, 'FunctionName', id));
      expect(unseen).toEqual(Object.keys(reasons));
    },
  );

  it.each(service.all('AWS::SQS::Queue').map(({ properties }) => String(properties.QueueName)))(
    'the queue %s: how old, and how many that were given up',
    (name) => {
      const isDead = name.endsWith('-dead');
      expect(isWatched('ApproximateAgeOfOldestMessage', 'QueueName', name)).toBe(!isDead);
      expect(isWatched('ApproximateNumberOfMessagesVisible', 'QueueName', name)).toBe(isDead);
      expect(unalarmedDeadLetterAge).toContain('dead-letters');
    },
  );

  it('each schedule: that nothing comes any more, also when it is disabled', () => {
    const schedules = [...service.all('AWS::Events::Rule'), ...service.all('AWS::Scheduler::Schedule')];
    const unseen = schedules.filter(
      ({ properties: { Targets: [target] = [] } }) =>
        !alarms.some(
          ({ properties: { MetricName, ComparisonOperator, Threshold, TreatMissingData, Dimensions } }) =>
            [MetricName, ComparisonOperator, Threshold, TreatMissingData].join() ===
              'Invocations,LessThanThreshold,1,breaching' &&
            service.target(Dimensions[0].Value) === service.target(target?.Arn ?? { Ref: 'none' }),
        ),
    );
    expect(unseen.map(({ properties }) => shortened(properties.Name))).toEqual(Object.keys(unalarmedSchedules));
    expect(schedules.length).toBeGreaterThan(unseen.length);
  });

  it.each(Object.keys(tables))('the table %s: what was throttled', (name) => {
    for (const metric of ['ReadThrottleEvents', 'WriteThrottleEvents']) {
      expect(isWatched(metric, 'TableName', resourceName('test', name))).toBe(true);
    }
  });

  // A new kind of the type makes this a compile error.
  const scopes: Readonly<Record<HoldScope extends `${infer Kind}:${string}` | infer Kind ? Kind : never, HoldScope>> = {
    waba: 'waba',
    utility: 'utility',
    number: 'number:1',
    marketing: 'marketing:1',
    edge: 'edge:1',
    template: 'template:a/en',
  } as never;
  it.each(Object.entries(scopes))('a hold of %s', (kind, scope) => {
    const metric = standingMetricOf(scope);
    expect(metric === undefined).toBe(kind in unalarmedHolds);
    if (metric !== undefined) expect(isCounted(metric)).toBe(true);
  });

  it.each(['PlatformDown', 'MessagesExpired', 'NumbersFallen', 'LoginFailures'])('%s', (metric) => {
    expect(isCounted(metric)).toBe(true);
  });
});

describe('the run book', () => {
  const runBook = sectionsOf(documentOf('infra/operate/README.md'));
  const rows = [...runBook].flatMap(([heading, text]) =>
    heading.startsWith('Alarms of ') ? tableRows(text, '| Alarm |') : [],
  );
  const having = (has: (name: string) => boolean) => Object.keys(functions).filter(has);
  const placeholders: Readonly<Record<string, readonly string[]>> = {
    '<queue>': Object.values(queuePurposes),
    '<worker>': having((name) => functions[name]?.consumes !== undefined),
    '<table>': Object.keys(tables),
    '<canary>': having((name) => functions[name]?.canary !== undefined),
  };
  const namesOf = (written: string) => {
    const found = Object.keys(placeholders).find((each) => written.includes(each)) ?? '';
    return (placeholders[found] ?? ['']).map((name) => written.replace(found, name));
  };
  /** The first cell of a row in the run book names its alarms, and in parentheses whom the rest concerns. */
  const alarmsIn = (cell = '') => namesIn(cell.replace(/\(.*\)/, '')).flatMap(namesOf);

  it('explains each alarm once; a composite one notifies, and not the alarm below it', () => {
    const purposes = [...alarms, ...composites]
      .map(({ properties }) => purposeOf(properties))
      .filter((name) => !/-seen$|-burn-.+-(?:long|short)$/.test(name));
    expect(rows.flatMap(([cell]) => alarmsIn(cell)).toSorted()).toEqual(purposes.toSorted());
  });

  it('says the severity of each', () => {
    for (const [name = '', severity] of rows) {
      const severities = new Set(alarmsIn(name).map((each) => alarmNamed(each)?.AlarmDescription.split(':')[0]));
      expect([name, [...severities].sort().join(' or ')]).toEqual([name, severity]);
    }
  });

  const anchors = [...runBook.keys()].map((heading) => heading.toLowerCase().replaceAll(' ', '-'));
  it.each([...alarms, ...composites])(
    '$properties.AlarmName says who is hurt, the next step and its paragraph, and reaches the topic of its severity',
    ({ id, properties }) => {
      const [, severity, section = ''] =
        /^(page|ticket): (?:Clients|Recipients|Callers|Everybody) .+\. [A-Z].+\. Run book: infra\/operate\/README\.md#(\S+)$/.exec(
          properties.AlarmDescription,
        ) ?? [];
      expect(anchors).toContain(section);
      expect(properties.AlarmDescription.length).toBeLessThanOrEqual(1_024);
      if (service.edge.some((each) => each.id === id)) return;
      const isMeasure = composites.some((each) => JSON.stringify(each.properties.AlarmRule).includes(id));
      const topics = isMeasure ? undefined : [severity === 'page' ? pageTopicArn : ticketTopicArn];
      expect([properties.AlarmActions, properties.OKActions]).toEqual([topics, topics]);
    },
  );

  it.each(Object.keys(queues) as QueueName[])('the worker of %s rings as its queue does', (name) => {
    const worker = Object.entries(functions).find(([, { consumes }]) => consumes?.queue === name)?.[0];
    const ofQueue = ['dead-letters', 'age'].map((what) => `${queuePurposes[name]}-${what}`);
    for (const purpose of [`${worker}-errors`, `${worker}-throttles`, ...ofQueue]) {
      expect(alarmNamed(purpose)?.AlarmDescription).toMatch(new RegExp(`^${queues[name].severity}: `));
    }
  });
});

it('missing data rings for schedules alone', () => {
  const silences = alarms.filter(({ properties }) => properties.TreatMissingData !== 'notBreaching');
  expect(silences.map(({ properties }) => [purposeOf(properties), properties.TreatMissingData])).toEqual(
    ['sweep-missing', 'backlog-overdue', 'pricing-refresh-missing'].map((name) => [name, 'breaching']),
  );
});

it.each(['platform-down', 'platform-credential-refused'])('%s, the cause of others, is never silenced', (cause) => {
  expect(alarmNamed(cause)?.AlarmActions).toEqual([pageTopicArn]);
});

it('burns spend 2, 5 and 10 percent of a budget of 30 days in their long windows', () => {
  const spent = burns.map(({ rate, longMinutes }) => (100 * rate * longMinutes) / (30 * 24 * 60));
  expect(spent.map((percent) => Math.round(percent))).toEqual([2, 5, 10]);
});

it('the stacks are below what CloudFormation takes', () => {
  for (const stack of [service.stateful, service.stateless, service.edge])
    expect(stack.length).toBeLessThanOrEqual(450);
});

import { describe, expect, it } from 'vitest';
import { burns, leastBad } from '../../infra/constructs/objectives.ts';
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
import { documentOf, namesIn, sectionsOf } from '../support/documents.ts';
import { pageTopicArn, ticketTopicArn } from '../support/setting-choices.ts';
import { stacksOf } from '../support/stack-templates.ts';

/*
 * No failure stays unseen: these tests look for resources without an alarm, and check which alarm silences which, and
 * how fast budgets burn.
 */

const service = stacksOf('whole');
const alarms = service.all('AWS::CloudWatch::Alarm');
const composites = service.all('AWS::CloudWatch::CompositeAlarm');
const purposeOf = ({ AlarmName }: { AlarmName: string }) => AlarmName.replace('template-messaging-test-', '');
const alarmNamed = (purpose: string) => alarms.find(({ properties }) => purposeOf(properties) === purpose)?.properties;
const compositeNamed = (purpose: string) =>
  composites.find(({ properties }) => purposeOf(properties) === purpose)?.properties;

/** An alarm watches a metric directly or in an expression. */
const watched = alarms.flatMap(({ properties }) =>
  properties.Metrics === undefined
    ? [{ name: properties.MetricName, dimensions: properties.Dimensions ?? [] }]
    : properties.Metrics.flatMap(({ MetricStat }: { MetricStat?: { Metric: Record<string, unknown> } }) =>
        MetricStat === undefined
          ? []
          : [{ name: MetricStat.Metric['MetricName'], dimensions: MetricStat.Metric['Dimensions'] ?? [] }],
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

describe('everything has an alarm, or a line that says why not', () => {
  const deployed = service.all('AWS::Lambda::Function');
  const operations = new Set(routes.map(({ operation }) => operation));
  const troubles: readonly FunctionTrouble[] = ['Errors', 'Throttles', 'Duration'];

  it('walks every function there is', () => {
    expect(deployed.map(({ properties }) => purposeOf({ AlarmName: properties.FunctionName })).sort()).toEqual(
      Object.keys(functions).sort(),
    );
  });

  it.each(
    deployed.map((resource) => [purposeOf({ AlarmName: resource.properties.FunctionName }), resource.id] as const),
  )('the function %s: errors, throttles, duration', (name, id) => {
    const reasons = operations.has(name) ? unalarmedEndpoints : (unalarmedFunctions[name] ?? {});
    const unseen = troubles.filter((trouble) => !isWatched(trouble, 'FunctionName', id));
    expect(unseen).toEqual(Object.keys(reasons));
  });

  const names = service.all('AWS::SQS::Queue').map(({ properties }) => String(properties.QueueName));
  it('walks every queue there is', () => {
    expect(names).toHaveLength(2 * Object.keys(queues).length);
  });

  it.each(names)('the queue %s: how old, and how many that were given up', (name) => {
    const isDead = name.endsWith('-dead');
    expect(isWatched('ApproximateAgeOfOldestMessage', 'QueueName', name)).toBe(!isDead);
    expect(isWatched('ApproximateNumberOfMessagesVisible', 'QueueName', name)).toBe(isDead);
    expect(unalarmedDeadLetterAge).toContain('dead-letters');
  });

  const schedules = [...service.all('AWS::Events::Rule'), ...service.all('AWS::Scheduler::Schedule')];
  it.each(schedules.map(({ properties }) => [purposeOf({ AlarmName: properties.Name }), properties] as const))(
    'the schedule %s: that nothing comes any more, also when it is disabled',
    (purpose, { Targets: [target] = [] }) => {
      const watching = alarms.filter(
        ({ properties }) =>
          target !== undefined &&
          properties.MetricName === 'Invocations' &&
          service.target(properties.Dimensions[0].Value) === service.target(target.Arn),
      );
      expect(watching).toHaveLength(purpose in unalarmedSchedules ? 0 : 1);
      for (const { properties } of watching) {
        expect(properties).toMatchObject({
          ...{ ComparisonOperator: 'LessThanThreshold', Threshold: 1, TreatMissingData: 'breaching' },
        });
      }
    },
  );

  it('walks every schedule there is', () => {
    const purposes = schedules.map(({ properties }) => purposeOf({ AlarmName: properties.Name }));
    expect(purposes.sort()).toEqual(['messages-sweep', 'pricing-refresh', 'sync']);
    expect(purposes).toEqual(expect.arrayContaining(Object.keys(unalarmedSchedules)));
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
    if (metric !== undefined) expect(isWatched(metric, 'service', 'template-messaging-test-service')).toBe(true);
  });

  it.each(['PlatformDown', 'MessagesExpired', 'NumbersFallen', 'LoginFailures'])('%s', (metric) => {
    expect(isWatched(metric, 'service', 'template-messaging-test-service')).toBe(true);
  });
});

describe('severity', () => {
  const sections = [...sectionsOf(documentOf('infra/operate/README.md')).keys()].map((heading) =>
    heading.toLowerCase().replaceAll(' ', '-'),
  );

  it.each([...alarms, ...composites].filter(({ id }) => service.stateless.some((each) => each.id === id)))(
    '$properties.AlarmName says its severity and its paragraph, and reaches the topic of that severity',
    ({ properties }) => {
      const [, severity, section = ''] =
        /^(page|ticket): .+ Run book: infra\/operate\/README\.md#(.+)$/.exec(properties.AlarmDescription) ?? [];
      expect(sections).toContain(section);
      const isMeasure = composites.some((each) =>
        JSON.stringify(each.properties.AlarmRule).includes(
          alarms.find((alarm) => alarm.properties === properties)?.id ?? 'no alarm',
        ),
      );
      const topic = severity === 'page' ? pageTopicArn : ticketTopicArn;
      expect(properties.AlarmActions).toEqual(isMeasure ? undefined : [topic]);
      expect(properties.OKActions).toEqual(isMeasure ? undefined : [topic]);
    },
  );

  it.each(Object.keys(queues) as QueueName[])('the worker of %s rings as its queue does', (name) => {
    const worker = Object.entries(functions).find(([, { consumes }]) => consumes?.queue === name)?.[0];
    for (const purpose of [`${worker}-errors`, `${worker}-throttles`, `${queuePurposes[name]}-dead-letters`]) {
      expect(alarmNamed(purpose)?.AlarmDescription).toMatch(new RegExp(`^${queues[name].severity}: `));
    }
    const age = compositeNamed(`${queuePurposes[name]}-age`) ?? alarmNamed(`${queuePurposes[name]}-age`);
    expect(age?.AlarmDescription).toMatch(new RegExp(`^${queues[name].severity}: `));
  });
});

describe('one cause rings once', () => {
  const followers = composites.filter(({ properties }) => properties.ActionsSuppressor !== undefined);
  const outage = alarms.find(({ properties }) => purposeOf(properties) === 'platform-down');

  it('alarms that an outage of the platform causes wait for its end, and 15 minutes for the backlog', () => {
    expect(followers.map(({ properties }) => purposeOf(properties)).sort()).toEqual([
      'api-5xx',
      'category-holds',
      'dispatch-age',
      'hint-readings-failed',
      'holds',
      'messages-expired',
      'messages-failed-share',
      'outcomes-unknown',
      'sync-wabas-failed',
      'urgent-age',
    ]);
    for (const { properties } of followers) {
      expect(service.target(properties.ActionsSuppressor)).toBe(outage?.id);
      expect(properties).toMatchObject({ ActionsSuppressorWaitPeriod: 120, ActionsSuppressorExtensionPeriod: 900 });
      const seen = alarms.find((each) => purposeOf(each.properties) === `${purposeOf(properties)}-seen`);
      expect(JSON.stringify(properties.AlarmRule)).toBe(
        JSON.stringify({ 'Fn::Join': ['', ['ALARM("', { 'Fn::GetAtt': [seen?.id, 'Arn'] }, '")']] }),
      );
    }
  });

  it('the cause itself is never silenced, and only the cause silences others', () => {
    expect(alarmNamed('platform-down')?.AlarmActions).toEqual([pageTopicArn]);
    expect(alarmNamed('platform-credential-refused')?.AlarmActions).toEqual([pageTopicArn]);
  });
});

describe('burn rates', () => {
  const cases = (['acceptance', 'delivery', 'codes'] as const).flatMap((name) =>
    burns.map((burn) => [name, burn] as const),
  );

  it('spend 2, 5 and 10 percent of a budget of 30 days in their long windows', () => {
    const spent = burns.map(({ rate, longMinutes }) => (100 * rate * longMinutes) / (30 * 24 * 60));
    expect(spent.map((percent) => Math.round(percent))).toEqual([2, 5, 10]);
  });

  it.each(cases)('%s, $name: both windows have to burn', (name, burn) => {
    const purpose = `${name}-burn-${burn.name}`;
    const { AlarmRule, AlarmDescription } = compositeNamed(purpose);
    expect(AlarmDescription).toMatch(new RegExp(`^${burn.severity}: `));
    expect(JSON.stringify(AlarmRule)).toMatch(/^\{"Fn::Join":\["",\["\(ALARM\(.+ AND ALARM\(/);
    for (const [window, minutes] of [
      ['long', burn.longMinutes],
      ['short', burn.shortMinutes],
    ] as const) {
      const alarm = alarmNamed(`${purpose}-${window}`);
      expect(alarm).toMatchObject({ Threshold: burn.rate, ComparisonOperator: 'GreaterThanThreshold' });
      const [math, ...metrics] = alarm.Metrics;
      const least = window === 'long' ? leastBad : 1;
      const bad = name === 'acceptance' ? '(FILL(bad0, 0) + FILL(bad1, 0) - FILL(excused, 0))' : '(FILL(bad0, 0))';
      const all = name === 'acceptance' ? '(FILL(all0, 0) + FILL(all1, 0))' : '(FILL(all0, 0))';
      const scale = name === 'acceptance' ? 1_000 : 100;
      expect(math.Expression).toBe(`IF(${bad} >= ${least}, ${scale} * ${bad} / ${all}, 0)`);
      const shown = metrics.map(
        ({ Id, MetricStat }: { Id: string; MetricStat: { Metric: { MetricName: string }; Period: number } }) => [
          Id,
          MetricStat.Metric.MetricName,
          MetricStat.Period,
        ],
      );
      const seconds = 60 * minutes;
      expect(shown).toEqual(
        name === 'acceptance'
          ? [
              ['bad0', '5xx', seconds],
              ['bad1', '5xx', seconds],
              ['all0', 'Count', seconds],
              ['all1', 'Count', seconds],
              ['excused', 'SendsFailedByPlatform', seconds],
            ]
          : [
              ['bad0', name === 'codes' ? 'CodesLate' : 'BacklogOverdue', seconds],
              ['all0', name === 'codes' ? 'CodesCalled' : 'BacklogDue', seconds],
            ],
      );
    }
  });
});

describe('how many', () => {
  it('the stacks are below what CloudFormation takes', () => {
    for (const stack of [service.stateful, service.stateless, service.edge]) {
      expect(stack.length).toBeLessThanOrEqual(450);
    }
  });

  it('the run book says the number that are paid for', () => {
    const plain = stacksOf('plain');
    const metrics = plain
      .all('AWS::CloudWatch::Alarm')
      .map(({ properties }) => properties.Metrics?.filter((each: object) => 'MetricStat' in each).length ?? 1);
    const sum = metrics.reduce((total, each) => total + each, 0);
    const combined = plain.all('AWS::CloudWatch::CompositeAlarm').length;
    const text = sectionsOf(documentOf('infra/operate/README.md')).get('Alarms')?.replaceAll(/\s+/g, ' ');
    expect(text).toContain(`${metrics.length} alarms on ${sum} metrics and ${combined} composite ones`);
    expect(namesIn(text ?? '')).toEqual(expect.arrayContaining(['page', 'ticket']));
  });
});

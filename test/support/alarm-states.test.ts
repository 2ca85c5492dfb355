import { describe, expect, test } from 'vitest';
import { alarmNamed, type Datum, measuredBy, standingOf } from './alarm-states.ts';

const service = { Name: 'service', Value: 'template-messaging-local-service' };

const properties = {
  AlarmName: 'refused',
  AlarmDescription: 'page: Clients. Do this. Run book: here',
  Namespace: 'TemplateMessaging',
  MetricName: 'Refused',
  Dimensions: [service],
  Statistic: 'Sum',
  Period: 300,
  EvaluationPeriods: 1,
  Threshold: 0,
  ComparisonOperator: 'GreaterThanThreshold',
  TreatMissingData: 'notBreaching',
};

function stackOf(changes: object, more: object = {}) {
  const resources = {
    Alarm1: { Type: 'AWS::CloudWatch::Alarm', Properties: { ...properties, ...changes } },
    ...more,
  };
  return [{ name: 'Stateless', resources, parameters: {}, conditions: {}, mappings: {}, outputs: [] }];
}

const minuteMs = 60_000;
const nowMs = 100 * minuteMs;
const at = (minutesAgo: number, value: number): Datum => ({
  namespace: 'TemplateMessaging',
  metric: 'Refused',
  dimensions: 'service=template-messaging-local-service',
  atMs: nowMs - minutesAgo * minuteMs,
  value,
});

describe('an alarm as the template has it', () => {
  test.each([
    ['nothing was measured', {}, [], [undefined], false],
    ['above the threshold', {}, [at(0, 1), at(4, 2)], [3], true],
    ['not above it', { Threshold: 3 }, [at(0, 1), at(4, 2)], [3], false],
    ['before the period', {}, [at(5, 9)], [undefined], false],
    ['the highest of a period', { Statistic: 'Maximum', Threshold: 2 }, [at(0, 1), at(4, 2)], [2], false],
    ['one of two periods', { EvaluationPeriods: 2 }, [at(1, 1)], [1, undefined], false],
    ['two of two', { EvaluationPeriods: 2 }, [at(1, 1), at(6, 1)], [1, 1], true],
    ['two of three', { EvaluationPeriods: 3, DatapointsToAlarm: 2 }, [at(1, 1), at(11, 1)], [1, undefined, 1], true],
    ['another metric', {}, [{ ...at(0, 1), metric: 'Other' }], [undefined], false],
    ['another deployment', {}, [{ ...at(0, 1), dimensions: 'service=other' }], [undefined], false],
  ])('%s', (_, changes, data, values, rings) => {
    expect(standingOf(alarmNamed('refused', stackOf(changes)), data, { nowMs })).toEqual({ rings, values });
  });

  test('in compressed time a period is as much shorter', () => {
    const alarm = alarmNamed('refused', stackOf({}));
    expect(standingOf(alarm, [at(1, 1)], { nowMs, secondMs: 250 }).rings).toBe(true);
    expect(standingOf(alarm, [at(2, 1)], { nowMs, secondMs: 250 }).rings).toBe(false);
  });

  test('a composite alarm over one rings as that one does; over several, or by other statistics, none is evaluated', () => {
    const composite = (...ids: string[]) => ({
      Composite: {
        Type: 'AWS::CloudWatch::CompositeAlarm',
        Properties: {
          AlarmName: 'told',
          AlarmDescription: 'page: All. Run book: here',
          AlarmRule: { 'Fn::Join': ['', ids.map((id) => ({ 'Fn::GetAtt': [id, 'Arn'] }))] },
        },
      },
      Alarm2: { Type: 'AWS::CloudWatch::Alarm', Properties: { ...properties, AlarmName: 'other' } },
    });
    expect(alarmNamed('told', stackOf({}, composite('Alarm1')))).toMatchObject({ name: 'told', metric: 'Refused' });
    expect(() => alarmNamed('told', stackOf({}, composite('Alarm1', 'Alarm2')))).toThrow('looks at 2 alarms');
    expect(() => alarmNamed('refused', stackOf({ Statistic: 'Average' }))).toThrow();
    expect(() => alarmNamed('refused', stackOf({ Metrics: [], Namespace: undefined }))).toThrow();
    expect(() => alarmNamed('none', stackOf({}))).toThrow('no alarm none');
  });
});

test('a line in embedded metric format tells each metric, under its own dimensions', () => {
  const line = JSON.stringify({
    _aws: {
      Timestamp: 5,
      CloudWatchMetrics: [
        { Namespace: 'N', Dimensions: [['service']], Metrics: [{ Name: 'Sent' }] },
        { Namespace: 'N', Dimensions: [['service', 'code']], Metrics: [{ Name: 'Errors' }] },
      ],
    },
    ...{ service: 's', code: '190', Sent: 3, Errors: [1, 2] },
  });
  const own = { namespace: 'N', atMs: 5 };
  expect(measuredBy(line)).toEqual([
    { ...own, metric: 'Sent', dimensions: 'service=s', value: 3 },
    { ...own, metric: 'Errors', dimensions: 'code=190,service=s', value: 1 },
    { ...own, metric: 'Errors', dimensions: 'code=190,service=s', value: 2 },
  ]);
  expect(measuredBy('{"event":"send.batch"}')).toEqual([]);
});

import { describe, expect, it } from 'vitest';
import { resourceName } from '../../infra/names.ts';
import { synthesize } from '../support/synthesized.ts';

const named = (service: ReturnType<typeof synthesize>) =>
  service
    .all('AWS::Lambda::Function')
    .filter(({ properties }) => properties.FunctionName === resourceName('test', 'pricing-refresh'));

describe('refreshing the price rates', () => {
  it('is not there without a source', () => {
    const service = synthesize({ stage: 'test' });
    expect(named(service)).toEqual([]);
    expect(service.all('AWS::Events::Rule')).toEqual([]);
  });

  it('is called twice a day and has an alarm that says who and what', () => {
    const rateSourceUrl = 'https://rates.example.com/usd.json';
    const service = synthesize({ stage: 'test', rateSourceUrl });
    const [refresh] = named(service);
    expect(refresh?.properties.Environment.Variables.RATE_SOURCE_URL).toBe(rateSourceUrl);
    const [rule, ...others] = service.all('AWS::Events::Rule');
    expect(others).toEqual([]);
    expect(rule?.properties).toMatchObject({ ScheduleExpression: 'rate(12 hours)', State: 'ENABLED' });
    expect(rule?.properties.Targets.map(({ Arn }: { Arn: unknown }) => service.target(Arn))).toEqual([refresh?.id]);
    const alarm = service
      .all('AWS::CloudWatch::Alarm')
      .find(({ properties }) => properties.AlarmName === resourceName('test', 'pricing-refresh-errors'));
    expect(alarm?.properties).toMatchObject({
      MetricName: 'Errors',
      Threshold: 0,
      AlarmDescription: expect.stringMatching(/last good rates.*pricing\.refresh_failed/s),
    });
    expect(service.target(alarm?.properties.Dimensions[0].Value)).toBe(refresh?.id);
  });

  it.each(['http://rates.example.com/', 'rates', 'https://u:p@rates.example.com/', 'https://rates.example.com:8443/'])(
    'takes no %s for a source',
    (rateSourceUrl) => {
      expect(() => synthesize({ stage: 'test', rateSourceUrl })).toThrow('rateSourceUrl must be an https URL');
    },
  );
});

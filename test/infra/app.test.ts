import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import { functions } from '../../infra/functions.ts';
import { serviceApp } from '../../infra/service.ts';
import { stubBundles, synthesize } from '../support/synthesized.ts';

const places = { bundlesDirectory: 'none', outputDirectory: 'none' };
const publicAddress = {
  domainName: 'api.example.com',
  certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/0a1b-2c3d',
  hostedZoneId: 'Z0123456789ABC',
  edge: true,
  edgeCertificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/4e5f-6a7b',
};
const topic = 'arn:aws:sns:eu-west-1:123456789012:alarms';

describe('context values', () => {
  const prefix = 'the context value';

  it.each([
    ['stage', 'Prod'],
    ['stage', 'a-stage-name-too-long'],
    ['platformBaseUrl', 'http://example.com'],
    ['platformBaseUrl', 'https://example.com/path'],
    ['platformBaseUrl', 'no address'],
    ['domainName', 'https://api.example.com'],
    ['domainName', 'Api.example.com'],
    ['domainName', 'example'],
    ['domainName', 'api.example.com.'],
    ['domainName', '-api.example.com'],
    ['domainName', '203.0.113.7'],
    ['domainName', `${'a.'.repeat(95)}com`],
    ['certificateArn', 'api.example.com'],
    ['hostedZoneId', 'example.com'],
    ['edge', 'yes'],
    ['edge', 1],
    ['edgeCertificateArn', 'arn:aws:acm:eu-west-1:123456789012:certificate/0a1b-2c3d'],
    ['edgeKeyVersion', 0],
    ['edgeRatePerMinute', 9],
    ['edgeLoginRatePerMinute', '9'],
    ['redirectBaseUrl', 'http://example.com/r'],
    ['redirectBaseUrl', 'https://example.com/r/'],
    ['redirectBaseUrl', 'https://example.com/'],
    ['redirectBaseUrl', 'https://example.com/r?to=x'],
    ['redirectBaseUrl', 'https://example.com/r#'],
    ['redirectBaseUrl', 'https://user@example.com/r'],
    ['redirectBaseUrl', 'https://Example.com/r'],
    ['redirectBaseUrl', 'https://example.com/{{1}}'],
    ['redirectBaseUrl', `https://example.com/${'r'.repeat(181)}`],
    ['redirectBaseUrl', '/r'],
    ['redirectBaseUrl', ''],
    ['platformVersion', '25'],
    ['syncLockScope', 'all'],
    ['syncSchedule', '6 hours'],
    ['syncSchedule', 'rate(0 hours)'],
    ['syncSchedule', 'cron(0 3 * * * *)'],
    ['syncSchedule', true],
    ['rateSourceUrl', 'http://rates.example.com/usd.json'],
    ['dispatchMaximumConcurrency', '9'],
    ['dispatchMaximumConcurrency', 10.5],
    ['dispatchMaximumConcurrency', '0x20'],
    ['dispatchMaximumConcurrency', 1001],
    ['authorizerReservedConcurrency', 0],
    ['dispatchReservedConcurrency', 9],
    ['accountConcurrency', 'all'],
    ['protected', 'yes'],
    ['protected', 1],
    ['stageRatePerSecond', 0],
    ['stageRatePerSecond', 10_001],
    ['stageBurst', '0'],
    ['stageBurst', 5_001],
    ['loginRatePerSecond', 0],
    ['loginRatePerSecond', 201],
    ['clientRatePerMinute', '-1'],
    ['clientRatePerMinute', 1_000_000],
    ['loginBurst', '1.5'],
    ['loginBurst', 401],
    ['logRetentionDays', 31],
    ['alarmTopicArn', 'alarms'],
    ['edgeAlarmTopicArn', 'arn:aws:sns:eu-west-1:123456789012:alarms'],
    ['tokenIssuer', ''],
    ['tokenAudience', 'with a space'],
  ])('%s = %j is refused in one sentence', (name, value) => {
    expect(() => synthesize({ [name]: value })).toThrow(new RegExp(`^${prefix} ${name} must be .+, received `));
  });

  it.each([
    ['Stage', 'there is no context value Stage: did you mean stage?'],
    ['alarmsTopicArn', 'there is no context value alarmsTopicArn: did you mean alarmTopicArn?'],
    ['rateSource', 'there is no context value rateSource: did you mean rateSourceUrl?'],
    ['colour', expect.stringMatching(/^there is no context value colour: the names are stage, .+, tokenAudience$/)],
  ])('%s, which is none, is refused with what may have been meant', (name, sentence) => {
    expect(() => synthesize({ [name]: 'x' })).toThrow(expect.objectContaining({ message: sentence }));
  });

  it('may stand beside those of the CDK and of libraries', () => {
    const names = ['@aws-cdk/core:stackRelativeExports', 'aws:cdk:enable-path-metadata', 'cli-telemetry'];
    const lookedUp = 'availability-zones:account=123456789012:region=eu-west-1';
    expect(() =>
      synthesize({ ...Object.fromEntries(names.map((name) => [name, true])), [lookedUp]: [] }),
    ).not.toThrow();
  });

  it('arrive in the functions, numbers also as the text that the command line gives', () => {
    const service = synthesize({
      platformBaseUrl: 'http://127.0.0.1:3001',
      platformVersion: 'v26.0',
      syncLockScope: 'client',
      dispatchMaximumConcurrency: '120',
      clientRatePerMinute: '0',
      logRetentionDays: '365',
      tokenIssuer: 'https://issuer.example',
    });
    const environments = service
      .all('AWS::Lambda::Function')
      .map(({ properties }) => properties.Environment?.Variables);
    expect(environments).toContainEqual(
      expect.objectContaining({
        PLATFORM_BASE_URL: 'http://127.0.0.1:3001',
        PLATFORM_VERSION: 'v26.0',
        SYNC_LOCK_SCOPE: 'client',
      }),
    );
    expect(environments).toContainEqual(expect.objectContaining({ TOKEN_ISSUER: 'https://issuer.example' }));
    expect(environments).toContainEqual(expect.objectContaining({ CLIENT_RATE_PER_MINUTE: '0' }));
    const concurrencies = service
      .all('AWS::Lambda::EventSourceMapping')
      .map(({ properties }) => properties.ScalingConfig.MaximumConcurrency);
    expect(concurrencies).toContain(120);
    for (const { properties } of service.all('AWS::Logs::LogGroup')) expect(properties.RetentionInDays).toBe(365);
  });
});

it.each(['https://go.example.com', 'https://example.com/a/r', 'https://example.com:8443/r', 'http://127.0.0.1:3000/r'])(
  'redirectBaseUrl may be %s, and reaches the functions as it is',
  (redirectBaseUrl) => {
    const environments = synthesize({ redirectBaseUrl })
      .all('AWS::Lambda::Function')
      .map(({ properties }) => properties.Environment?.Variables);
    expect(environments).toContainEqual(expect.objectContaining({ REDIRECT_BASE_URL: redirectBaseUrl }));
  },
);

describe('what was built', () => {
  const without = (missing: string) => Object.keys(functions).filter((name) => name !== missing);

  it.each(['authorizer', 'templates-sync-worker', 'messages-fan-out', 'messages-dispatch'])(
    'a missing %s is refused: it belongs to no route that could come later',
    (name) => {
      expect(() => synthesize({}, without(name))).toThrow(`holds no bundle of ${name}: run npm run build first`);
    },
  );

  it('a bundle without a shape is refused', () => {
    expect(() => synthesize({}, [...Object.keys(functions), 'surprise'])).toThrow(
      'the function surprise has no entry in infra/functions.ts',
    );
  });
});

describe('alarms', () => {
  it.each(['us-east-1', 'eu-west-2'])('of stacks in %s cannot tell a topic in eu-west-1', (region) => {
    expect(() => serviceApp({ ...places, region, context: { alarmTopicArn: topic } })).toThrow(
      `the context value alarmTopicArn names a topic in eu-west-1, and the stacks go to ${region}`,
    );
  });

  it.each(['eu-west-1', undefined])('of stacks in %s may', (region) => {
    const { bundlesDirectory, outputDirectory, done } = stubBundles();
    try {
      const context = { alarmTopicArn: topic };
      expect(() => serviceApp({ bundlesDirectory, outputDirectory, region, context })).not.toThrow();
    } finally {
      done();
    }
  });

  it('name who is hurt and what to do, and reach the topic when there is one', () => {
    const rateSourceUrl = 'https://rates.example.com/usd.json';
    const alarms = synthesize({ alarmTopicArn: topic, rateSourceUrl }).all('AWS::CloudWatch::Alarm');
    expect(alarms.length).toBeGreaterThan(0);
    for (const { properties } of alarms) {
      expect(properties.AlarmDescription).toMatch(/^(Clients|Recipients|Callers|Everybody|Whoever) .+\. .+\.$/);
      expect(properties.AlarmActions).toEqual([topic]);
      expect(properties.OKActions).toEqual([topic]);
    }
  });
});

describe('rule packs (R45)', () => {
  // `npm test` synthesizes the deployed app as well, without what is left out by default.
  it('of CloudFormation are kept by every part that a context value brings', () => {
    const everything = {
      ...publicAddress,
      redirectBaseUrl: 'https://go.example.com',
      rateSourceUrl: 'https://rates.example.com/usd.json',
      syncSchedule: 'cron(0/30 8-17 ? * MON-FRI *)',
      alarmTopicArn: topic,
      logRetentionDays: 365,
      dispatchMaximumConcurrency: 120,
      loginRatePerSecond: 40,
      loginBurst: 80,
    };
    expect(() => synthesize(everything, Object.keys(functions), true)).not.toThrow();
  });

  it.each([
    ['AwsSolutions', AwsSolutionsChecks],
    ['Serverless', ServerlessChecks],
  ])('%s finds nothing that is not answered with a reason', (_, Pack) => {
    const { app } = synthesize({
      ...publicAddress,
      redirectBaseUrl: 'https://go.example.com',
      rateSourceUrl: 'https://rates.example.com/usd.json',
    });
    expect(new Pack(app).validateScope(app).violations).toEqual([]);
  });
});

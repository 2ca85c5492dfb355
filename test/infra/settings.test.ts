import { RootConstruct } from 'constructs';
import { describe, expect, it } from 'vitest';
import { checkConcurrency, endpointConcurrency } from '../../infra/concurrency.ts';
import type { FunctionShape } from '../../infra/function-shapes/shape.ts';
import { functions } from '../../infra/functions.ts';
import { checkPublicAddress } from '../../infra/public-address.ts';
import { isScheduleExpression } from '../../infra/schedule-expression.ts';
import { checkAlarmTopics, type Settings, settingsFrom } from '../../infra/settings.ts';
import { pageTopicArn, settingChoices, ticketTopicArn } from '../support/setting-choices.ts';

/* Context values are checked alone and in combination; other files test their effect on templates. */

function settings(context: Readonly<Record<string, unknown>> = {}): Settings {
  const { node } = new RootConstruct();
  for (const [name, value] of Object.entries(context)) node.setContext(name, value);
  return settingsFrom(node);
}

const page = 'https://app.example.com';

describe('context values', () => {
  const wrong: Readonly<Record<string, readonly unknown[]>> = {
    stage: ['Prod', 'a-stage-name-too-long'],
    platformBaseUrl: ['http://example.com', 'https://example.com/path', 'no address'],
    domainName: [
      'https://api.example.com',
      'Api.example.com',
      'example',
      'api.example.com.',
      '-api.example.com',
      '203.0.113.7',
      `${'a.'.repeat(95)}com`,
    ],
    certificateArn: ['api.example.com'],
    hostedZoneId: ['example.com'],
    edge: ['yes', 1],
    edgeCertificateArn: ['arn:aws:acm:eu-west-1:123456789012:certificate/0a1b-2c3d'],
    edgeKeyVersion: [0],
    edgeRatePerMinute: [9],
    edgeLoginRatePerMinute: ['9'],
    edgeWebhookRatePerMinute: [9],
    loginReservedConcurrency: [0],
    webhookReservedConcurrency: ['0'],
    redirectBaseUrl: [
      'http://example.com/r',
      'https://example.com/r/',
      'https://example.com/',
      'https://example.com/r?to=x',
      'https://example.com/r#',
      'https://user@example.com/r',
      'https://Example.com/r',
      'https://example.com/{{1}}',
      `https://example.com/${'r'.repeat(181)}`,
      '/r',
      '',
    ],
    platformVersion: ['25'],
    syncLockScope: ['all'],
    syncSchedule: ['6 hours', 'rate(0 hours)', 'cron(0 3 * * * *)', true],
    rateSourceUrl: [
      'http://rates.example.com/',
      'rates',
      'https://u:p@rates.example.com/',
      'https://rates.example.com:8443/',
    ],
    dispatchMaximumConcurrency: ['99', 10.5, '0x20', 1001],
    authorizerReservedConcurrency: [0],
    dispatchReservedConcurrency: [99],
    accountConcurrency: ['all'],
    protected: ['yes', 1],
    stageRatePerSecond: [0, 10_001],
    stageBurst: ['0', 5_001],
    loginRatePerSecond: [0, 1_001],
    clientRatePerMinute: ['-1', 1_000_000],
    loginBurst: ['1.5', 2_001],
    logRetentionDays: [31],
    encryptionKeyArn: ['arn:aws:kms:eu-west-1:123456789012:alias/mine'],
    pageTopicArn: ['alarms'],
    ticketTopicArn: ['alarms'],
    edgePageTopicArn: ['arn:aws:sns:eu-west-1:123456789012:alarms'],
    edgeTicketTopicArn: ['arn:aws:sns:eu-west-1:123456789012:alarms'],
    tokenIssuer: [''],
    tokenAudience: ['with a space'],
  };
  it.each(Object.entries(wrong).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
    '%s = %j is refused in one sentence',
    (name, value) => {
      expect(() => settings({ [name]: value })).toThrow(new RegExp(`^the context value ${name} must be .+, received `));
    },
  );

  it.each([
    ['Stage', 'there is no context value Stage: did you mean stage?'],
    ['pagesTopicArn', 'there is no context value pagesTopicArn: did you mean pageTopicArn?'],
    ['rateSource', 'there is no context value rateSource: did you mean rateSourceUrl?'],
    ['colour', expect.stringMatching(/^there is no context value colour: the names are stage, .+, tokenAudience$/)],
  ])('%s, which is none, is refused with what may have been meant', (name, sentence) => {
    expect(() => settings({ [name]: 'x' })).toThrow(expect.objectContaining({ message: sentence }));
  });

  it('may stand beside those of the CDK and of libraries', () => {
    const names = ['@aws-cdk/core:stackRelativeExports', 'aws:cdk:enable-path-metadata', 'cli-telemetry'];
    const lookedUp = 'availability-zones:account=123456789012:region=eu-west-1';
    expect(() => settings({ ...Object.fromEntries(names.map((name) => [name, true])), [lookedUp]: [] })).not.toThrow();
  });

  it.each([
    'https://go.example.com',
    'https://example.com/a/r',
    'https://example.com:8443/r',
    'http://127.0.0.1:3000/r',
  ])('redirectBaseUrl may be %s', (redirectBaseUrl) =>
    expect(settings({ redirectBaseUrl })).toMatchObject({ redirectBaseUrl }),
  );

  it('that are true or false may be written as text', () => {
    const [typed, written] = [false, 'false'].map((no) => settings({ edge: no, canary: no, protected: no }));
    expect(written).toEqual(typed);
  });

  it.each([undefined, '*', 'https://app.example.com:8443', 'http://127.0.0.1:3001', 'http://[::1]:3001'])(
    'corsOrigins may be %s',
    (corsOrigins) => {
      const { corsOrigins: taken } = settings(corsOrigins === undefined ? {} : { corsOrigins });
      expect(taken).toEqual(corsOrigins === undefined ? undefined : [corsOrigins]);
    },
  );

  it.each([
    '',
    ',',
    `${page},`,
    'app.example.com',
    `${page}/`,
    `${page}/shop`,
    `${page}?a=1`,
    'https://app.example.com:443',
    'https://App.example.com',
    'https://user@app.example.com',
    'https://*.example.com',
    'https://*',
    `${page},*`,
    `${page},${page}`,
    'http://app.example.com',
    'null',
    'file://',
    true,
    [page],
  ])('corsOrigins may not be %j', (corsOrigins) => {
    expect(() => settings({ corsOrigins })).toThrow(
      /^the context value corsOrigins must be origins without path, apart by commas and none twice, .+, received /,
    );
  });
});

describe('a region', () => {
  const address = settings(settingChoices.address);

  it.each(['us-east-1', 'eu-west-2'])('%s has no topic and no certificate of eu-west-1', (region) => {
    for (const [name, arn] of Object.entries({ pageTopicArn, ticketTopicArn })) {
      expect(() => checkAlarmTopics(settings({ [name]: arn }), region)).toThrow(
        `the context value ${name} names a topic in eu-west-1, and the stacks go to ${region}`,
      );
    }
    expect(() => checkPublicAddress(address, region)).toThrow(
      `the context value certificateArn names a certificate in eu-west-1, and the stacks go to ${region}`,
    );
  });

  it.each(['eu-west-1', undefined])('%s may have them', (region) => {
    expect(() => checkAlarmTopics(settings({ pageTopicArn, ticketTopicArn }), region)).not.toThrow();
    expect(() => checkPublicAddress(address, region)).not.toThrow();
  });
});

describe('half a public address', () => {
  const { domainName, certificateArn, hostedZoneId, edgeCertificateArn } = settingChoices.address;

  it.each([
    ['certificateArn', 'domainName', { certificateArn }],
    ['hostedZoneId', 'domainName', { hostedZoneId }],
    ['domainName', 'certificateArn', { domainName }],
    ['edge', 'domainName', { edge: true, edgeCertificateArn }],
    ['edge', 'edgeCertificateArn', { edge: true, domainName, certificateArn }],
  ] as const)('%s without %s is refused in one sentence', (name, other, context) => {
    expect(() => checkPublicAddress(settings(context), undefined)).toThrow(
      `the context value ${name} needs ${other} beside it`,
    );
  });
});

const shape = { timeoutSeconds: 1, memoryMb: 128 };
const consumes = { queue: 'sync', batchSize: 1, maximumConcurrency: 30 } as const;
const shapes: Readonly<Record<string, FunctionShape>> = {
  endpoint: shape,
  authorizer: { ...shape, reservedConcurrency: 'authorizerReservedConcurrency' },
  worker: { ...shape, consumes },
  dispatcher: {
    ...shape,
    consumes: { ...consumes, maximumConcurrency: 'dispatchMaximumConcurrency' },
    reservedConcurrency: 'dispatchReservedConcurrency',
  },
};

function check(context: Readonly<Record<string, number>>): void {
  checkConcurrency(shapes, settings(context));
}

const numbers = {
  authorizerReservedConcurrency: 20,
  dispatchMaximumConcurrency: 140,
  dispatchReservedConcurrency: 150,
  accountConcurrency: 20 + 150 + 30 + endpointConcurrency,
};

describe('what the account has', () => {
  it('is enough when all of it is used', () => {
    expect(() => check(numbers)).not.toThrow();
  });

  it.each([
    ['reserved', { authorizerReservedConcurrency: 21 }],
    ['reserved', { dispatchReservedConcurrency: 151 }],
    ['in the account', { accountConcurrency: 299 }],
  ])('is not enough with one more or less %s', (_, change) => {
    expect(() => check({ ...numbers, ...change })).toThrow(
      /^the context value accountConcurrency is \d+, and \d+ are needed: \d+ reserved, 30 for .+, 100 for the endpoints; [^.]+$/,
    );
  });

  it('is 1,000 unless told, which the defaults leave room in', () => {
    expect(() => checkConcurrency(functions, settings())).not.toThrow();
    expect(() => checkConcurrency(functions, settings({ accountConcurrency: 400 }))).toThrow('are needed');
  });
});

describe('a share of its own', () => {
  it('is as large as the number of workers, unless told', () => {
    const { dispatchReservedConcurrency } = settings({ dispatchMaximumConcurrency: 170 });
    expect(dispatchReservedConcurrency).toBe(170);
  });

  it('is never smaller than the number of workers that the queue may start', () => {
    expect(() => check({ ...numbers, dispatchReservedConcurrency: 140 })).not.toThrow();
    expect(() => check({ ...numbers, dispatchReservedConcurrency: 139 })).toThrow(
      'the context value dispatchReservedConcurrency is 139, and the queue of dispatcher may start 140 workers',
    );
  });
});

describe('a schedule', () => {
  it.each([
    'rate(1 minute)',
    'rate(6 hours)',
    'rate(30 days)',
    'cron(0 3 * * ? *)',
    'cron(0/30 8-17 ? * MON-FRI *)',
    'cron(0 3,15 1 JAN,JUL ? 2026-2030)',
    'cron(*/10 * L * ? *)',
    'cron(0 9 15W * ? *)',
    'cron(0 9 LW * ? *)',
    'cron(0 9 ? * 6L *)',
    'cron(0 9 ? * 2#1 2199)',
  ])('%s is a schedule', (text) => {
    expect(isScheduleExpression(text)).toBe(true);
  });

  it.each([
    ['', 'nothing'],
    ['6 hours', 'no expression'],
    ['at(2026-12-01T00:00:00)', 'once, and never again'],
    ['rate(1 minutes)', 'a unit that does not agree'],
    ['rate(2 minute)', 'a unit that does not agree'],
    ['rate(0 hours)', 'no time'],
    ['rate(06 hours)', 'a leading zero'],
    ['rate(2 weeks)', 'no such unit'],
    ['rate(2  hours)', 'two spaces'],
    ['cron(0 3 * * * *)', 'days of the month and of the week'],
    ['cron(0 3 ? * ? *)', 'neither'],
    ['cron(0 3 1 * MON *)', 'both'],
    ['cron(0 3 * * ?)', 'five fields'],
    ['cron(0 3 * * ? * *)', 'seven fields'],
    ['cron(60 3 * * ? *)', 'no such minute'],
    ['cron(0 24 * * ? *)', 'no such hour'],
    ['cron(0 3 0 * ? *)', 'no such day'],
    ['cron(0 3 32 * ? *)', 'no such day'],
    ['cron(0 3 * 13 ? *)', 'no such month'],
    ['cron(0 3 * MAI ? *)', 'no such month'],
    ['cron(0 3 ? * 0 *)', 'weeks begin with 1, Sunday'],
    ['cron(0 3 ? * 8 *)', 'no such day of the week'],
    ['cron(0 3 ? * 2#6 *)', 'a sixth Monday'],
    ['cron(0 3 * * ? 1969)', 'no such year'],
    ['cron(0 17-8 * * ? *)', 'a range that goes back'],
    ['cron(0 8- * * ? *)', 'half a range'],
    ['cron(0 8-9-10 * * ? *)', 'a range of three'],
    ['cron(0/0 3 * * ? *)', 'a step of nothing'],
    ['cron(0/5/5 3 * * ? *)', 'two steps'],
    ['cron(0,, 3 * * ? *)', 'an empty part'],
    ['cron(? 3 * * ? *)', 'any minute'],
    ['cron(L 3 * * ? *)', 'a last minute'],
    [' cron(0 3 * * ? *)', 'a space before'],
  ])('%j is none: %s', (text) => {
    expect(isScheduleExpression(text)).toBe(false);
  });
});

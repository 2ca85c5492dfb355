import { describe, expect, test } from 'vitest';
import {
  alarmFindings,
  appFindings,
  clockFinding,
  clockToleranceMs,
  keyFindings,
  platformFindings,
  stackFinding,
} from '../../../infra/operate/stage/doctor-rules.ts';
import type { StoredKeySets } from '../../../infra/operate/token-keys.ts';
import type { SigningKeySet, VerificationKeySet } from '../../../lib/access/tokens/token-keys.ts';
import { webhookFields } from '../../../lib/platform/webhook/fields.ts';

describe('a stack', () => {
  const deploy = 'npm run deploy -- -c stage=prod';
  test.each([
    [undefined, 'bad', deploy],
    ['REVIEW_IN_PROGRESS', 'bad', deploy],
    ['DELETE_COMPLETE', 'bad', deploy],
    ['CREATE_COMPLETE', 'good', 'CREATE_COMPLETE'],
    ['UPDATE_COMPLETE', 'good', 'UPDATE_COMPLETE'],
    ['IMPORT_COMPLETE', 'good', 'IMPORT_COMPLETE'],
    ['UPDATE_ROLLBACK_COMPLETE', 'bad', 'describe-stack-events --stack-name template-messaging-prod-stateless'],
    ['UPDATE_IN_PROGRESS', 'bad', 'look again'],
    ['UPDATE_COMPLETE_CLEANUP_IN_PROGRESS', 'bad', 'look again'],
    ['ROLLBACK_COMPLETE', 'bad', 'infra/RECOVERY.md'],
    ['ROLLBACK_FAILED', 'bad', 'infra/RECOVERY.md'],
    ['UPDATE_ROLLBACK_FAILED', 'bad', 'infra/RECOVERY.md'],
    ['DELETE_FAILED', 'bad', 'infra/RECOVERY.md'],
    ['CREATE_FAILED', 'bad', 'infra/RECOVERY.md'],
  ] as const)('%s: %s, %s', (status, state, says) => {
    const finding = stackFinding('prod', 'stateless', status === undefined ? undefined : { status });
    expect(finding).toEqual({ state, text: expect.stringContaining(says) });
    expect(finding.text).toMatch(/^stack template-messaging-prod-stateless: /);
  });
});

test('the clock may be half a minute off, in both directions, and no more', () => {
  for (const side of [-1, 1]) {
    expect(clockFinding(1_000_000 + side * clockToleranceMs, 1_000_000).state).toBe('good');
    expect(clockFinding(1_000_000 + side * (clockToleranceMs + 1), 1_000_000).state).toBe('bad');
  }
  expect(clockFinding(90_000, 0).text).toContain('90 s ahead of the service');
  expect(clockFinding(0, 90_000).text).toContain('90 s behind the service');
});

const key = (kid: string) => ({ kty: 'EC', crv: 'P-256', x: 'x', y: 'y', kid }) as const;
const signing: SigningKeySet = { keys: [{ ...key('a'), d: 'd' }] };
const verification: VerificationKeySet = { keys: [{ ...key('a'), published_at: 1 }] };

test.each<[StoredKeySets, number, boolean, string[]]>([
  [{ signing, verification }, 1, true, ['good', 'good', 'good']],
  [{ signing: undefined, verification }, 1, true, ['bad', 'good', 'good']],
  [{ signing, verification: undefined }, 1, true, ['bad', 'good', 'good']],
  [{ signing: { keys: [...signing.keys, { ...key('b'), d: 'd' }] }, verification }, 1, true, ['bad', 'good', 'good']],
  [{ signing, verification }, 0, true, ['good', 'bad', 'good']],
  [{ signing, verification }, 1, false, ['good', 'good', 'bad']],
])('keys %#', (stored, sealingKeys, hasPersonKey, states) => {
  const findings = keyFindings(stored, { sealingKeys, hasPersonKey });
  expect(findings.map(({ state }) => state)).toEqual(states);
  for (const { state, text } of findings) if (state === 'bad') expect(text).toContain('infra/ops provision');
});

describe('alarms', () => {
  const arn = 'arn:aws:sns:eu-west-1:123456789012:alarms';
  const alarm = { name: 'template-messaging-prod-api-5xx', actionsEnabled: true, actions: [arn] };
  const topic = { arn, confirmed: 1, pending: 0 };
  test.each([
    ['all is well', [alarm], [topic], ['good', 'good'], ''],
    ['there are none', [], [], ['bad'], 'npm run deploy -- -c stage=prod'],
    [
      'one tells by a composite one',
      [
        { ...alarm, actions: [] },
        { ...alarm, name: 'both', rule: `ALARM("${alarm.name}")` },
      ],
      [topic],
      ['good', 'good'],
      '',
    ],
    ['one has no topic', [alarm, { ...alarm, actions: [] }], [topic], ['bad', 'good'], '1 of 2 have no topic to tell'],
    ['one is off', [{ ...alarm, actionsEnabled: false }], [topic], ['bad', 'good'], `--alarm-names ${alarm.name}`],
    [
      'no address is subscribed',
      [alarm],
      [{ ...topic, confirmed: 0 }],
      ['good', 'bad'],
      `aws sns subscribe --topic-arn ${arn}`,
    ],
    [
      'no address has confirmed',
      [alarm],
      [{ arn, confirmed: 0, pending: 2 }],
      ['good', 'bad'],
      'no address has confirmed',
    ],
  ] as const)('%s', (_, alarms, topics, states, says) => {
    const findings = alarmFindings('prod', alarms, topics);
    expect(findings.map(({ state }) => state)).toEqual(states);
    expect(findings.map(({ text }) => text).join()).toContain(says);
  });
});

describe('the platform', () => {
  const waba = { wabaId: '200000000000001', credential: 'main', appId: '5', subscribed: ['5'] };
  const { subscribed: _, ...unasked } = waba;
  test.each([
    ['all is well', [waba], ['good', 'good'], 'reads 1 WABA'],
    ['nothing is provisioned', [], ['bad'], 'infra/ops provision'],
    [
      'a token is refused',
      [{ ...unasked, failure: { refused: true, text: 'platform call refused, code 190' } }],
      ['bad'],
      'WABA 200000000000001: platform call refused, code 190; provision a token',
    ],
    ['no answer', [{ ...unasked, failure: { refused: false, text: 'no' } }], ['bad'], 'status page'],
    ['another app is subscribed', [{ ...waba, subscribed: ['6'] }], ['good', 'bad'], 'not subscribed to its app: 2000'],
    ['under no app', [{ ...waba, appId: undefined }], ['good', 'skipped'], 'their messages stay "sent": 2000'],
  ] as const)('%s', (_name, wabas, states, says) => {
    const findings = platformFindings(wabas);
    expect(findings.map(({ state }) => state)).toEqual(states);
    expect(findings.map(({ text }) => text).join()).toContain(says);
  });

  test('one line for each credential, and no more than five WABAs named', () => {
    const many = Array.from({ length: 7 }, (_, at) => ({ ...waba, wabaId: `w${at}`, subscribed: [] }));
    const findings = platformFindings([...many, { ...waba, credential: 'other' }]);
    expect(findings.map(({ text }) => text.split(':')[0])).toEqual([
      'platform credential main',
      'platform credential other',
      'webhook subscription',
      'webhook subscription',
    ]);
    expect(findings[3]?.text).toContain('w0, w1, w2, w3, w4 and 2 more;');
  });
});

test.each([
  ['told everything', { fields: [...webhookFields, 'flows'] }, 'good', 'platform app 5 is told all 10'],
  ['told less', { fields: webhookFields.slice(2) }, 'bad', 'is not told messages, standby; choose them'],
  ['without an address', { fields: undefined }, 'bad', 'has no address to call'],
  ['its secret is another', { failure: { refused: true, text: 'no' } }, 'bad', 'no; provision the secret'],
  ['no answer', { failure: { refused: false, text: 'no' } }, 'bad', 'no; look at the platform’s status page'],
] as const)('an app: %s', (_, app, state, says) => {
  const findings = appFindings([{ appId: '5', ...app }]);
  expect(findings.map((finding) => finding.state)).toEqual([state]);
  expect(findings[0]?.text).toContain(says);
});

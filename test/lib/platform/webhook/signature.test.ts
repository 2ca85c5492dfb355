import { expect, test } from 'vitest';
import { type PlatformApp, platformApps } from '../../../../lib/platform/webhook/apps.ts';
import { isVerifyToken, signingApp } from '../../../../lib/platform/webhook/signature.ts';
import { platformJson, signatureOf, signedWebhook } from '../../../support/platform-webhook.ts';

const apps: readonly PlatformApp[] = platformApps(
  JSON.stringify({
    '1': { appSecret: 'secret-of-one', verifyToken: 'token-of-one', wabas: ['11'] },
    '2': { appSecret: 'new-of-two', previousAppSecret: 'old-of-two', verifyToken: 'token-of-two', wabas: ['21', '22'] },
  }),
);
const body = platformJson({ text: 'añejo \u{1f355} 日本', list: [1, 2] });
const good = signatureOf(body, 'secret-of-one');

test.each<readonly [string, string | undefined, string | undefined]>([
  ['the secret of the first app', good, '1'],
  ['the new secret of an app that has two', signatureOf(body, 'new-of-two'), '2'],
  ['its previous secret', signatureOf(body, 'old-of-two'), '2'],
  ['in capitals', `sha256=${good.slice(7).toUpperCase()}`, '1'],
  ['a secret of no app', signatureOf(body, 'stale-of-two'), undefined],
  ['no signature', undefined, undefined],
  ['an empty one', '', undefined],
  ['one without its algorithm', good.slice(7), undefined],
  ['another algorithm', good.replace('sha256', 'sha1'), undefined],
  ['one digit short', good.slice(0, -1), undefined],
  ['one digit long', `${good}0`, undefined],
  ['with what is no digit', `${good.slice(0, -1)}g`, undefined],
  ['two of them', `${good},${good}`, undefined],
  ['of other text', signatureOf(`${body} `, 'secret-of-one'), undefined],
])('signed with %s', (_, signature, appId) => {
  expect(signingApp(apps, body, signature)?.appId).toBe(appId);
  expect(signingApp(apps, Buffer.from(body), signature)?.appId).toBe(appId);
});

test('the signature is of the bytes as they came: escapes resolved or blanks moved are another text', () => {
  const { body: escaped, headers } = signedWebhook({ text: 'ñ' }, 'secret-of-one');
  expect(escaped).toContain('\\u00f1');
  const signature = headers['x-hub-signature-256'];
  expect(signingApp(apps, escaped, signature)?.appId).toBe('1');
  expect(signingApp(apps, JSON.stringify(JSON.parse(escaped)), signature)).toBeUndefined();
});

test('without apps no signature is valid', () => {
  expect(signingApp([], body, good)).toBeUndefined();
});

test.each([
  ['token-of-one', true],
  ['token-of-two', true],
  ['token-of-on', false],
  ['', false],
  [undefined, false],
])('the verify token %j is known: %s', (token, known) => {
  expect(isVerifyToken(apps, token)).toBe(known);
});

test.each(['', 'not json', '[]', 'null', '{"1":{"appSecret":"canary-secret"}}', '{"1":{"appSecret":"canary-secret"'])(
  'a secret that holds no apps is an error that quotes nothing of it: %j',
  (text) => {
    expect(() => platformApps(text)).toThrow(/^the secret holds no platform apps that can be read$/);
  },
);

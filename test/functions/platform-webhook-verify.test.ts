import { expect, test } from 'vitest';
import { platformWebhookVerify } from '../../functions/platform-webhook-verify.ts';
import { platformApps } from '../../lib/platform/webhook/apps.ts';
import { makeHttpEvent } from '../support/http-event.ts';
import { demoApp } from '../support/platform-webhook.ts';

const { appId, secret: appSecret, verifyToken, wabas } = demoApp;
const apps = platformApps(JSON.stringify({ [appId]: { appSecret, verifyToken, wabas } }));
const page = platformWebhookVerify({ apps: async () => apps });
const context = { getRemainingTimeInMillis: () => 29_000 } as never;
const handshake = { 'hub.mode': 'subscribe', 'hub.verify_token': verifyToken, 'hub.challenge': '1158201444' };

test('the handshake is answered with its challenge as plain text (D38)', async () => {
  const answer = await page(makeHttpEvent({ query: handshake }), context);
  expect(answer).toMatchObject({ statusCode: 200, body: '1158201444' });
  expect(answer.headers).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
  });
});

const { 'hub.challenge': _, ...withoutChallenge } = handshake;
test.each<readonly [string, Readonly<Record<string, string>> | undefined]>([
  ['no query', undefined],
  ['another token', { ...handshake, 'hub.verify_token': 'demo-verify-toke' }],
  ['the secret as token', { ...handshake, 'hub.verify_token': appSecret }],
  ['no token', { ...handshake, 'hub.verify_token': '' }],
  ['another mode', { ...handshake, 'hub.mode': 'unsubscribe' }],
  ['no challenge', withoutChallenge],
  ['a challenge without end', { ...handshake, 'hub.challenge': 'x'.repeat(1_025) }],
])('%s is 403, and the challenge is not said again', async (_, query) => {
  const answer = await page(makeHttpEvent(query === undefined ? {} : { query }), context);
  expect(answer.statusCode).toBe(403);
  expect(JSON.parse(answer.body ?? '')).toMatchObject({ code: 'verification_refused' });
  expect(answer.body).not.toContain('1158201444');
});

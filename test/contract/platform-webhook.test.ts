import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { addressOf } from '../support/addresses.ts';
import { api, eventually } from '../support/api.ts';
import { demoApp, signatureOf, signedWebhook, statusChange, statusOf, webhookOf } from '../support/platform-webhook.ts';

/* The platform calls its webhook over HTTP (D38). test/functions/platform-webhook.queue.test.ts covers its queues. */

const path = '/platform/webhook';
const post = (webhook: { readonly body: string; readonly headers: Readonly<Record<string, string | undefined>> }) =>
  api(`POST ${path}`, webhook);
const handshake = (token: string) =>
  api(`GET ${path}?hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=1158201444`);

/** Returns statuses for messages of a dispatch that was never accepted. */
const statusesOf = (count: number) =>
  statusChange(
    '300000000000001',
    ...Array.from({ length: count }, (_, index) => statusOf(`01JD0000000000000000000000-${index}`)),
  );

test('the handshake of a known verify token is answered with its challenge, any other is 403', async () => {
  const reply = await handshake(demoApp.verifyToken);
  expect([reply.status, reply.text]).toEqual([200, '1158201444']);
  expect(reply.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  const refused = await handshake('another-token');
  expect(refused).toMatchObject({ status: 403, body: { code: 'verification_refused' } });
  expect((await api(`GET ${path}`)).status).toBe(403);
});

test('what an app has signed is 200, and its receipts are queued', async () => {
  const reply = await post(signedWebhook(webhookOf(demoApp.wabas[0], statusesOf(4_321))));
  expect(reply).toMatchObject({ status: 200, body: { received: true } });
  // No other test sends so many receipts at once.
  const line = '"ReceiptsQueued":4321';
  await eventually(
    'they are counted',
    async () => readFileSync(addressOf('functionLog'), 'utf8').includes(line) || undefined,
  );
});

test('what no app has signed is 401, whatever token comes with it', async () => {
  const { body } = signedWebhook(webhookOf(demoApp.wabas[0], statusesOf(1)));
  for (const signature of [undefined, signatureOf(`${body} `)]) {
    const headers = signature === undefined ? {} : { 'x-hub-signature-256': signature };
    expect(await post({ body, headers })).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
  }
});

test('a signed body is 413 over 4 MB', async () => {
  const large = 'x'.repeat(4_194_305);
  expect((await post({ body: large, headers: { 'x-hub-signature-256': signatureOf(large) } })).status).toBe(413);
});

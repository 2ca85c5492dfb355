import { request } from 'node:https';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type Delivery,
  type DeliveryAnswer,
  receiverUrl,
  startWebhookReceiver,
  trustedReceiver,
  type WebhookReceiver,
} from '../../infra/local/webhook-receiver.ts';
import { publicHttpsUrlFault } from '../../lib/http/public-url.ts';

const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const body = '{"type":"template.created","timestamp":"2026-11-20T12:00:00.000Z","data":{}}';
let deliveries: Delivery[];
let known: PromiseWithResolvers<string>;
let receiver: WebhookReceiver;
let answer: Promise<DeliveryAnswer> | undefined;

beforeEach(async () => {
  deliveries = [];
  answer = undefined;
  known = Promise.withResolvers<string>();
  receiver = await startWebhookReceiver(0, known.promise, (delivery) => {
    deliveries.push(delivery);
    return answer;
  });
});
afterEach(() => receiver.close());

function signed(signingSecret: string, at = new Date()): Record<string, string> {
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(signingSecret).sign('evt_1', at, body),
  };
}

/** Posts as the delivery does: it connects to the resolved address, and trusts the receiver's certificate. */
function post(headers: Record<string, string>, trusting = true): Promise<number | undefined> {
  const url = new URL(receiverUrl);
  const { port, ca } = trustedReceiver(receiver.port);
  const options = { host: '127.0.0.1', port, path: url.pathname, servername: url.hostname, method: 'POST', headers };
  return new Promise((resolve, reject) => {
    const outgoing = request({ ...options, agent: false, ...(trusting ? { ca } : {}) }, (reply) => {
      reply.resume();
      resolve(reply.statusCode);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

test('its address can be registered through the API like any other', () => {
  expect(publicHttpsUrlFault(receiverUrl)).toBeUndefined();
});

test('a delivery that is signed with the secret is verified and answered 204', async () => {
  known.resolve(secret);
  const headers = signed(secret);
  expect(await post(headers)).toBe(204);
  expect(deliveries).toEqual([{ webhookId: 'evt_1', verified: true, body, headers }]);
});

test('it is answered what its receiver says, unless the signature was wrong', async () => {
  known.resolve(secret);
  answer = Promise.resolve({ status: 500, retryAfter: '7' });
  expect(await post(signed(secret))).toBe(500);
  expect(await post({})).toBe(400);
});

test('a delivery before the secret is known waits for it', async () => {
  const answered = post(signed(secret));
  await new Promise((resolve) => setImmediate(resolve));
  expect(deliveries).toEqual([]);
  known.resolve(secret);
  expect(await answered).toBe(204);
});

test.each([
  ['another secret', signed(`whsec_${Buffer.alloc(32, 9).toString('base64')}`)],
  ['a time long ago', signed(secret, new Date(Date.now() - 3_600_000))],
  ['no headers', {}],
])('%s is told as not verified, and answered 400', async (_, headers) => {
  known.resolve(secret);
  expect(await post(headers)).toBe(400);
  expect(deliveries.map(({ verified }) => verified)).toEqual([false]);
});

test('a client does not trust its certificate unless it is configured to', async () => {
  known.resolve(secret);
  await expect(post(signed(secret), false)).rejects.toThrow(/self-signed|certificate/);
  expect(deliveries).toEqual([]);
});

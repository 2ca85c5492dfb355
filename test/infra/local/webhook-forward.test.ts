import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { forward } from '../../../infra/local/webhook-forward.ts';
import { printedAttempt } from '../../../infra/local/webhook-lines.ts';
import { closeAtOnce } from '../../../infra/loopback.ts';

const body = '{"type":"message.failed","timestamp":"2026-11-20T12:00:00.000Z","data":{"name":"café"}}';
const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': '1763640000', 'webhook-signature': 'v1,abc' };
const delivery = { webhookId: 'evt_1', verified: true, body, headers };

const open: { readonly close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const { close } of open.splice(0)) await close();
});

/** The developer's program never responds without an `answer`. */
async function program(answer?: { readonly status: number; readonly headers?: Record<string, string> }) {
  const seen: { readonly request: IncomingMessage; readonly body: string }[] = [];
  const server = createServer(async (request, response) => {
    seen.push({ request, body: await text(request) });
    if (answer !== undefined) response.writeHead(answer.status, answer.headers).end('its own words');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({ close: () => closeAtOnce(server) });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, seen };
}

test('the body and what signs it arrive as they are', async () => {
  const { url, seen } = await program({ status: 204 });
  expect(await forward(url, delivery)).toEqual({ status: 204 });
  expect(seen[0]?.body).toBe(body);
  expect(seen[0]?.request.headers).toMatchObject({ ...headers, 'content-type': 'application/json' });
});

test.each([
  [{ status: 500 }, { status: 500 }],
  [
    { status: 429, headers: { 'retry-after': '30' } },
    { status: 429, retryAfter: '30' },
  ],
  [{ status: 302, headers: { location: 'http://127.0.0.1:9/' } }, { status: 302 }],
])('the answer %j is handed back', async (given, heard) => {
  const { url } = await program(given);
  expect(await forward(url, delivery)).toEqual(heard);
});

test('without a listener, or without an answer in time, it is a 503 with the reason', async () => {
  const ended = await program({ status: 204 });
  await open.pop()?.close();
  expect(await forward(ended.url, delivery)).toEqual({ status: 503, fault: 'ECONNREFUSED' });
  const { url } = await program();
  expect(await forward(url, delivery, 50)).toEqual({ status: 503, fault: 'no answer in 0.05 s' });
});

test.each([
  [{ status: 204 }, '204 in 12 ms'],
  [{ status: 500 }, '500 in 12 ms, to be tried again'],
  [{ status: 429, retryAfter: '30' }, '429 in 12 ms, to be tried again after 30'],
  [{ status: 410 }, '410 in 12 ms: the webhook is switched off now'],
  [{ status: 503, fault: 'ECONNREFUSED' }, 'no answer (ECONNREFUSED), told the service 503'],
])('an attempt answered %j is one line', (answer, told) => {
  const line = printedAttempt(delivery, { attempt: 2, answer, tookMs: 12.3 }, Date.UTC(2026, 10, 20, 12, 0, 5));
  expect(line).toBe(`12:00:05 message.failed evt_1 attempt 2: ${told}`);
});

import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Context, SQSEvent } from 'aws-lambda';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sleep } from '../../lib/aws/pause.ts';
import { acceptanceStore } from '../../lib/messages/accept/acceptance-store.ts';
import { breakerStore } from '../../lib/messages/dispatch/breaker-store.ts';
import { messagesDispatch } from '../../lib/messages/dispatch/dispatch-handler.ts';
import { dispatchStore } from '../../lib/messages/dispatch/dispatch-store.ts';
import { platformMessages } from '../../lib/messages/dispatch/platform-messages.ts';
import { platformProbe } from '../../lib/messages/dispatch/platform-probe.ts';
import { dispatchQueue } from '../../lib/messages/fan-out/dispatch-queue.ts';
import { jobStateStore } from '../../lib/messages/job-state-store.ts';
import { outcomesStore } from '../../lib/messages/outcomes/outcomes-store.ts';
import { paceStore } from '../../lib/messages/pace/pace-store.ts';
import { urgentStore } from '../../lib/messages/pace/urgent-store.ts';
import { doubtStore } from '../../lib/messages/receipts/doubt-store.ts';
import { platformTransport } from '../../lib/platform/transport.ts';
import { type QueuedEvents, queuedEvents } from '../support/events.ts';
import { idlePaces } from '../support/idle-paces.ts';
import { freshQueue, freshTable, localDocumentClient, localQueueClient } from '../support/stores.ts';
import { dispatchMessage } from '../support/scenario-job.ts';

/** The platform over a real socket. What it does to a request is decided by the recipient. */
let platform: Server;
let table: string;
let queueUrl: string;
let events: QueuedEvents;
let posts: string[];
let connections: number;

beforeEach(async () => {
  table = await freshTable('messages');
  queueUrl = await freshQueue();
  events = await queuedEvents();
  posts = [];
  connections = 0;
  platform = createServer(async (request, reply) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    if (request.method === 'GET') {
      reply.end('{"id":"300000000000001"}');
      return;
    }
    const { to } = JSON.parse(text);
    posts.push(to);
    if (to === 'reset') request.socket.resetAndDestroy();
    else if (to === 'silent') return;
    else if (to === 'html') reply.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad gateway</html>');
    else if (to === 'refused') reply.writeHead(400).end('{"error":{"code":131026,"message":"undeliverable"}}');
    else if (to === 'throttled') reply.writeHead(429, { 'retry-after': '7' }).end();
    else reply.end(`{"messages":[{"id":"platform-${to}"}]}`);
  });
  platform.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => platform.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  platform.closeAllConnections();
  await new Promise((resolve) => platform.close(resolve));
});

/** The function as it is deployed, its ports pointed at the emulators and the platform above. */
function deployed(port = (platform.address() as AddressInfo).port) {
  const transport = platformTransport({ baseUrl: `http://127.0.0.1:${port}`, version: 'v25.0', timeoutMs: 500 });
  // Stands still, so that a slow machine misses no slot.
  const atMs = Date.now();
  const nowMs = () => atMs;
  return messagesDispatch({
    claims: dispatchStore({ client: localDocumentClient(), table, nowMs }),
    doubts: doubtStore(localDocumentClient(), table),
    paces: paceStore({ client: localDocumentClient(), table, nowMs, newWriter: randomUUID }),
    tenths: urgentStore(localDocumentClient(), table),
    jobStates: jobStateStore(localDocumentClient(), table),
    straightJobs: acceptanceStore(localDocumentClient(), table, nowMs),
    newHolds: idlePaces.newHolds,
    ready: idlePaces.ready,
    breakers: breakerStore({ client: localDocumentClient(), table, nowMs }),
    probe: platformProbe(transport, async () => ({ accessToken: 'token' })),
    queue: dispatchQueue(localQueueClient(), queueUrl),
    events: events.sink,
    send: platformMessages(transport, async () => ({ accessToken: 'token' })),
    nowMs,
    random: Math.random,
    pause: sleep,
    log: () => undefined,
  });
}

const context = { getRemainingTimeInMillis: () => 60_000 } as Context;

function eventOf(...recipients: string[]): SQSEvent {
  return {
    Records: recipients.map((to, index) => ({
      messageId: `message-${index}`,
      receiptHandle: `receipt-${index}`,
      body: JSON.stringify(
        dispatchMessage(index, { acceptedAtMs: Date.now(), limitPerSecond: 1_000, request: { to } }),
      ),
    })),
  } as SQSEvent;
}

async function outcome(index: number) {
  const client = localDocumentClient();
  const reader = outcomesStore({ client, table, nowMs: Date.now, pause: async () => undefined });
  return await reader.ofMessage({ jobId: 'J', index });
}

test('a batch in which every message meets another fate: each ends for itself (R18)', async () => {
  const handle = deployed();
  const event = eventOf('good', 'reset', 'silent', 'html', 'refused', 'throttled');
  expect(await handle(event, context)).toEqual({ batchItemFailures: [] });
  expect(await outcome(0)).toMatchObject({ state: 'sent', platformMessageId: 'platform-good' });
  expect(await outcome(1)).toMatchObject({ state: 'unknown', code: 'no_answer' });
  expect(await outcome(2)).toMatchObject({ state: 'unknown', code: 'no_answer' });
  expect(await outcome(3)).toMatchObject({ state: 'unknown', code: 'http_502' });
  expect(await outcome(4)).toMatchObject({ state: 'failed', code: '131026', reason: 'undeliverable' });
  expect(await outcome(5)).toMatchObject({ state: 'pending' });
  const told = await events.arrived();
  expect(told.map(({ type, data }) => [type, 'to' in data && data.to])).toEqual([
    ['message.failed', 'refused'],
    ['message.unknown', 'reset'],
    ['message.unknown', 'silent'],
    ['message.unknown', 'html'],
  ]);
  // All of it once more, as after lost acknowledgements: only the throttled one may be tried, the first has to wait.
  const again = await handle(event, context);
  expect(again.batchItemFailures).toEqual([{ itemIdentifier: 'message-0' }]);
  expect((await events.arrived()).map(({ id }) => id).sort()).toEqual(told.map(({ id }) => id).sort());
  expect(posts.filter((to) => to !== 'throttled').sort()).toEqual(['good', 'html', 'refused', 'reset', 'silent']);
});

test('a platform that cannot be reached has taken nothing: the message waits for another try', async () => {
  const handle = deployed(9);
  expect(await handle(eventOf('good'), context)).toEqual({ batchItemFailures: [] });
  expect(await outcome(0)).toMatchObject({ state: 'pending' });
  expect(posts).toEqual([]);
});

test('a record that nobody can read is the only one reported (R18)', async () => {
  const handle = deployed();
  const event = eventOf('good', 'also-good');
  event.Records.push({ ...event.Records[0], messageId: 'poison', body: '{"jobId":' } as SQSEvent['Records'][number]);
  expect(await handle(event, context)).toEqual({ batchItemFailures: [{ itemIdentifier: 'poison' }] });
  expect(posts).toHaveLength(2);
});

test('a connection that is awake serves the next invocation too', async () => {
  const handle = deployed();
  await handle(eventOf('good'), context);
  const { Records } = eventOf('first', 'second');
  await handle({ Records: Records.slice(1) }, context);
  expect(posts).toEqual(['good', 'second']);
  expect(connections).toBe(1);
});

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Context, SQSEvent } from 'aws-lambda';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { tableOf } from '../../lib/aws/table.ts';
import { smallRequestBody } from '../../lib/messages/accept/hand-over.ts';
import { outcomesStore } from '../../lib/messages/report/outcomes-store.ts';
import { platformMessages, platformProbe } from '../../lib/messages/send/platform-messages.ts';
import { smallRequestsHandler } from '../../lib/messages/sender/small-request-handler.ts';
import { platformTransport } from '../../lib/platform/transport.ts';
import { type QueuedEvents, queuedEvents } from '../support/events.ts';
import { makeDispatch } from '../support/made-dispatches.ts';
import { scenarioHead, startMs } from '../support/scenario-dispatch.ts';
import { freshQueue, freshTable, localDocumentClient, localQueueClient } from '../support/stores.ts';
import { tableSmallRequests } from '../support/table-small-requests.ts';
import { livingFor, TableWorkers } from '../support/table-workers.ts';

/** The platform answers over a real socket. */
let platform: Server;
let table: string;
let queueUrl: string;
let workers: TableWorkers;
let events: QueuedEvents;
let posts: string[];
let connections: number;

/** The recipient selects the fault of a request. */
async function answer(request: IncomingMessage, reply: ServerResponse): Promise<void> {
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
}

beforeEach(async () => {
  table = await freshTable('messages');
  queueUrl = await freshQueue();
  workers = new TableWorkers(startMs);
  events = await queuedEvents();
  posts = [];
  connections = 0;
  platform = createServer(answer);
  platform.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => platform.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  platform.closeAllConnections();
  await new Promise((resolve) => platform.close(resolve));
});

/** Wires the worker of small requests as deployed, with its ports at the emulators and the platform above. */
function deployed(port = (platform.address() as AddressInfo).port) {
  const transport = platformTransport({ baseUrl: `http://127.0.0.1:${port}`, version: 'v25.0', timeoutMs: 500 });
  const credentialOf = async () => ({ accessToken: 'token' });
  const world = { client: localDocumentClient(), table, queue: localQueueClient(), queueUrl };
  const given = {
    events: events.sink,
    probe: platformProbe(transport, credentialOf),
    send: platformMessages(transport, credentialOf),
    random: Math.random,
  };
  const { living } = livingFor(Number.POSITIVE_INFINITY);
  const handle = smallRequestsHandler(tableSmallRequests(world, given, { workers, living }));
  return (event: SQSEvent) => workers.pass(handle(event, context));
}

const context = { getRemainingTimeInMillis: () => 60_000 } as Context;

/** Returns a delivery for each request: dispatch `J0` and its recipients, `J1`, and so on. */
async function eventOf(...requests: string[][]): Promise<SQSEvent> {
  const records = requests.map(async (recipients, at) => {
    const dispatch = makeDispatch(
      recipients.map((to) => ({ to, params: { buttons: ['1'] } })),
      { ...scenarioHead, dispatchId: `J${at}`, total: recipients.length },
    );
    const body = await smallRequestBody(dispatch, async () => 1_000);
    return { messageId: `message-${at}`, receiptHandle: `receipt-${at}`, body };
  });
  return { Records: await Promise.all(records) } as unknown as SQSEvent;
}

async function outcome(index: number) {
  const client = localDocumentClient();
  const nowMs = () => workers.time.nowMs;
  const reader = outcomesStore(tableOf(client, table, { nowMs, pause: async () => undefined }));
  return await reader.ofMessage({ dispatchId: 'J0', index });
}

test('a request in which every message meets another fate: each ends for itself (R18)', async () => {
  const handle = deployed();
  const event = await eventOf(['good', 'reset', 'silent', 'html', 'refused', 'throttled']);
  expect(await handle(event)).toEqual({ batchItemFailures: [] });
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
  // The second delivery is that after a lost acknowledgement: the message to be tried again is the sender's.
  await handle(event);
  expect((await events.arrived()).map(({ type }) => type)).not.toContain('dispatch.completed');
  expect(posts.toSorted()).toEqual(['good', 'html', 'refused', 'reset', 'silent', 'throttled']);
});

test('a platform that cannot be reached has taken nothing: the message waits for another try', async () => {
  const handle = deployed(9);
  expect(await handle(await eventOf(['good']))).toEqual({ batchItemFailures: [] });
  expect(await outcome(0)).toMatchObject({ state: 'pending' });
  expect(posts).toEqual([]);
});

test('a record that cannot be read is the only one reported (R18)', async () => {
  const handle = deployed();
  const event = await eventOf(['good'], ['also-good']);
  event.Records.push({
    ...event.Records[0],
    messageId: 'poison',
    body: '{"dispatchId":',
  } as SQSEvent['Records'][number]);
  expect(await handle(event)).toEqual({ batchItemFailures: [{ itemIdentifier: 'poison' }] });
  expect(posts).toHaveLength(2);
});

test('a connection that is awake serves the next invocation too', async () => {
  const handle = deployed();
  const [first, second] = (await eventOf(['good'], ['second'])).Records;
  for (const record of [first, second]) await handle({ Records: record === undefined ? [] : [record] });
  expect(posts).toEqual(['good', 'second']);
  expect(connections).toBe(1);
});

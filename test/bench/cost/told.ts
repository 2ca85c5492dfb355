import type { SQSClient } from '@aws-sdk/client-sqs';
import type { RunningStack } from '../../../infra/local/stack.ts';
import { auditWriter } from '../../../lib/audit/audit-store.ts';
import { tableOf } from '../../../lib/aws/table.ts';
import { noteSentOf } from '../../../lib/messages/inbound/sent-ids.ts';
import { sentIdWriter } from '../../../lib/messages/inbound/sent-ids-store.ts';
import { receiptQueue } from '../../../lib/messages/receipts/receipt-queue.ts';
import { receiveWebhook } from '../../../lib/messages/receipts/receive-webhook.ts';
import { metered } from '../../../lib/observe/metrics.ts';
import { platformApps } from '../../../lib/platform/webhook/apps.ts';
import { deliverBatch } from '../../../lib/webhooks/delivery/deliver.ts';
import { deliveryStateStore } from '../../../lib/webhooks/delivery/delivery-state-store.ts';
import { encodeEvent } from '../../../lib/webhooks/event-queue.ts';
import { eventRecordStore } from '../../../lib/webhooks/event-record-store.ts';
import { recordInBulk } from '../../support/bulk-receipts.ts';
import { DeliveryWorld, makeEvent } from '../../support/delivery-world.ts';
import { MemoryEvents } from '../../support/memory-events.ts';
import { demoApp, signedWebhook, statusChange, statusOf, webhookOf } from '../../support/platform-webhook.ts';
import { meterRequests } from '../../support/request-meter.ts';
import { bytesWritten } from '../../support/written-bytes.ts';
import { benchTable } from '../template-tables.ts';
import * as assumed from './assumed.ts';
import { type Counts, lambdaTime, times, together } from './price.ts';

/** SQS gives and takes ten messages in a request; a run of receipts gets 500. */
const messagesOfRequest = 10;
const receiptMessages = 1_000;

async function processorMsOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * Returns the cost of one of a message's three receipts, where the platform posts so many together and the client has
 * no webhook.
 */
export async function costOfReceipt(stack: RunningStack, posted: number): Promise<Counts> {
  const { documentClient: client, tableName: table } = await benchTable(stack, `cost-receipts-${posted}`, 'messages');
  const events = new MemoryEvents();
  const bulk = {
    client,
    table,
    dispatchId: 'RECEIPTS',
    messages: receiptMessages,
    events,
    wanted: async () => new Set<never>(),
  };
  let recorded: Awaited<ReturnType<typeof recordInBulk>> | undefined;
  const processorMs = await processorMsOf(async () => {
    recorded = await recordInBulk({ ...bulk, together: posted, undoubled: true });
  });
  if (recorded === undefined || recorded.lost > 0) throw new Error('receipts were lost');
  const { receipts, runs, cost } = recorded;
  const { writeUnits, readUnits, roundTrips } = cost;
  const posts = receipts / posted;
  const memoryMb = assumed.memoryOf('messages-receipts');
  const recording: Counts = {
    writeUnits,
    readUnits,
    invocations: runs,
    ...lambdaTime({ memoryMb, waitedMs: roundTrips * assumed.storeMs, processorMs }),
    // Each post is received and deleted.
    queueRequests: 2 * Math.ceil(posts / messagesOfRequest),
    logBytes: runs * assumed.invocationLogBytes,
  };
  return together(times(recording, 1 / receipts), times(await costOfPost(posted), 1 / posted));
}

/** Returns what `/platform/webhook` takes for one post. */
async function costOfPost(statuses: number): Promise<Counts> {
  const changes = Array.from({ length: statuses }, (_, index) =>
    statusChange('300000000000001', statusOf(`01JD0000000000000000000000-${index}`)),
  );
  const { body, headers } = signedWebhook(webhookOf(demoApp.wabas[0], ...changes));
  const { appId, secret, verifyToken, wabas } = demoApp;
  const apps = platformApps(JSON.stringify({ [appId]: { appSecret: secret, verifyToken, wabas } }));
  let queueRequests = 0;
  const send = async () => {
    queueRequests += 1;
    return {};
  };
  const ports = {
    apps: async () => apps,
    receipts: receiptQueue({ send } as unknown as SQSClient, 'receipts'),
    hints: { send: async () => undefined },
    inbound: { send: async () => undefined },
    nowMs: Date.now,
  };
  const take = () => metered(() => receiveWebhook({ body, signature: headers['x-hub-signature-256'] }, ports));
  const rounds = 50;
  await bytesWritten(take);
  queueRequests = 0;
  let processorMs = 0;
  const logBytes = await bytesWritten(async () => {
    processorMs = await processorMsOf(async () => {
      for (let round = 0; round < rounds; round += 1) await take();
    });
  });
  const waitedMs = (queueRequests / rounds) * assumed.queueMs;
  return {
    apiRequests: 1,
    invocations: 1,
    queueRequests: queueRequests / rounds,
    ...lambdaTime({
      memoryMb: assumed.memoryOf('platform-webhook-receive'),
      waitedMs,
      processorMs: processorMs / rounds,
    }),
    logBytes: logBytes / rounds + assumed.accessLogBytes + assumed.invocationLogBytes,
  };
}

const chunksNoted = 20;
const messagesOfChunk = 30;

/**
 * Returns the extra cost of a message that heeds opt-outs or whose client subscribes to `message.replied`: its entry in
 * the index of platform ids, written for thirty at once. A worker also reads the subscription once a minute.
 */
export async function costOfNotedMessage(stack: RunningStack): Promise<Counts> {
  const { documentClient, tableName } = await benchTable(stack, 'cost-noted', 'messages');
  const meter = meterRequests(documentClient);
  const note = noteSentOf({
    wanted: async () => new Set(['message.replied'] as const),
    keep: sentIdWriter(tableOf(documentClient, tableName, { pause: async () => undefined })),
    nowMs: () => 0,
    log: () => undefined,
  });
  const chunk = { dispatchId: 'NOTED', clientId: 1_001, wabaId: '1', phoneNumberId: '2', acceptedAtMs: Date.now() };
  let roundTrips = 0;
  let writeUnits = 0;
  const processorMs = await processorMsOf(async () => {
    for (let at = 0; at < chunksNoted; at += 1) {
      const endings = Array.from({ length: messagesOfChunk }, (_, place) => {
        const index = at * messagesOfChunk + place;
        return { recipient: { index }, outcome: { state: 'sent', platformMessageId: `wamid.${index}` } };
      });
      await note(chunk, endings);
      const cost = meter.taken();
      roundTrips += cost.roundTrips;
      writeUnits += cost.writeUnits;
    }
  });
  const counts: Counts = {
    writeUnits,
    readUnits: 1,
    ...lambdaTime({
      memoryMb: assumed.memoryOf('messages-dispatch'),
      waitedMs: (roundTrips + 1) * assumed.storeMs,
      processorMs,
    }),
  };
  return times(counts, 1 / (chunksNoted * messagesOfChunk));
}

const eventRuns = 20;

/** Delivers events in runs of ten to a receiver that answers. The handshakes of the posts do not count. */
export async function costOfEvent(stack: RunningStack): Promise<Counts> {
  const { documentClient: client, tableName: table } = await benchTable(stack, 'cost-events', 'webhooks');
  const meter = meterRequests(client);
  const world = new DeliveryWorld();
  world.subscribe(1_001);
  const plain = world.ports();
  let configurationsRead = 0;
  const ports = {
    ...plain,
    records: eventRecordStore(client, table),
    states: deliveryStateStore({ client, table, pause: async () => undefined }),
    receivers: {
      ...plain.receivers,
      find: async (clientId: number) => {
        configurationsRead += 1;
        return await plain.receivers.find(clientId);
      },
    },
  };
  let logBytes = 0;
  const processorMs = await processorMsOf(async () => {
    for (let run = 0; run < eventRuns; run += 1) {
      const batch = Array.from({ length: messagesOfRequest }, (_, at) => {
        return { messageId: String(at), body: encodeEvent(makeEvent(1_001, run * messagesOfRequest + at)) };
      });
      logBytes += await bytesWritten(() => metered(() => deliverBatch(batch, ports)));
    }
  });
  logBytes += Buffer.byteLength(world.logged.map((line) => JSON.stringify(line)).join('\n'));
  const { readUnits, writeUnits, roundTrips } = meter.taken();
  const counts: Counts = {
    readUnits: readUnits + configurationsRead,
    writeUnits,
    invocations: eventRuns,
    // Ten events at a time are sent, received and deleted.
    queueRequests: 3 * eventRuns,
    ...lambdaTime({
      memoryMb: assumed.memoryOf('events-deliver'),
      waitedMs: roundTrips * assumed.storeMs + eventRuns * assumed.receiverMs,
      processorMs,
    }),
    logBytes: logBytes + eventRuns * assumed.invocationLogBytes,
  };
  return times(counts, 1 / (eventRuns * messagesOfRequest));
}

const linesWritten = 20;

/** A request waits until its line of the audit is written. */
export async function costOfAuditLine(stack: RunningStack): Promise<Counts> {
  const { documentClient: client, tableName: table } = await benchTable(stack, 'cost-audit', 'audit');
  const meter = meterRequests(client);
  const append = auditWriter(client, table);
  const on = { wabaId: '200000000000001', documentIds: ['abcdefghijklmnop-rt-0'] };
  const processorMs = await processorMsOf(async () => {
    for (let line = 0; line < linesWritten; line += 1) {
      const made = { atMs: line, id: String(line).padStart(26, '0') };
      await append({ whose: 1_001, who: 'supervisor1001', what: 'template.edited', on, outcome: 'done', ...made });
    }
  });
  const { writeUnits, roundTrips } = meter.taken();
  const time = { memoryMb: assumed.memoryOf('templates-status'), waitedMs: roundTrips * assumed.storeMs, processorMs };
  return times({ writeUnits, ...lambdaTime(time) }, 1 / linesWritten);
}

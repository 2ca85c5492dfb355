import { type Message, ReceiveMessageCommand, type SendMessageCommandInput } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { type QueuedChunk, QueuedChunkSchema } from '../../../../lib/messages/dispatch/chunk.ts';
import { waveQueue } from '../../../../lib/messages/fan-out/wave-queue.ts';
import { chunkQueue } from '../../../../lib/messages/send/chunk-queue.ts';
import { injectFaults } from '../../../support/faults.ts';
import { freshQueue, localQueueClient } from '../../../support/stores.ts';

const chunk: QueuedChunk = {
  version: 1,
  ...{
    dispatchId: 'J',
    clientId: 1001,
    wabaId: '2',
    phoneNumberId: '3',
    credential: 'main',
    path: 'messages',
    category: 'MARKETING',
  },
  ...{ acceptedAtMs: 1_800_000_000_000, limitPerSecond: 80, lane: 'J' },
  about: { did: '5491100000001', template: { name: 'order_update', language: 'en_US' } },
  slices: [{ try: 1, size: 10, recipients: [{ index: 3, to: '5491100000000', request: { text: '🙂' } }] }],
};

async function received(client: ReturnType<typeof localQueueClient>, QueueUrl: string): Promise<readonly Message[]> {
  const read = { QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 0, VisibilityTimeout: 60 };
  return (await client.send(new ReceiveMessageCommand(read))).Messages ?? [];
}

test.each([
  ['a straight code goes back to the queue of small requests (D44)', { straight: true, urgent: true }, 'urgent'],
  ['unless it is to wait for no number that is slow', { straight: true, urgent: true }, 'dispatch', 'dispatches'],
  ['a small request that is no code goes to that of dispatches', { straight: true }, 'dispatch'],
  ['so does a chunk of a dispatch of codes', { urgent: true }, 'dispatch'],
  ['so does any other', {}, 'dispatch'],
] as const)('%s, in the group of its client', async (_, facts, target, to?: 'dispatches') => {
  const client = localQueueClient();
  const urls = { urgent: await freshQueue(), dispatch: await freshQueue() };
  const groups: unknown[] = [];
  // The test reads the group from the request: the emulator drops it for standard queues.
  client.middlewareStack.add(
    (next) => (args) => {
      const { MessageGroupId, DelaySeconds } = args.input as SendMessageCommandInput;
      if (MessageGroupId !== undefined) groups.push([MessageGroupId, DelaySeconds]);
      return next(args);
    },
    { step: 'initialize' },
  );
  const sent = { ...chunk, ...facts };
  await chunkQueue(client, { own: urls.urgent, dispatch: urls.dispatch }).sendLater(sent, 0, to);
  const found = { urgent: await received(client, urls.urgent), dispatch: await received(client, urls.dispatch) };
  const [message] = found[target];
  expect(v.parse(QueuedChunkSchema, JSON.parse(message?.Body ?? ''))).toEqual(sent);
  expect([found.urgent.length + found.dispatch.length, groups]).toEqual([1, [['1001', 0]]]);
});

test('deliveries of its own queue come again after the time that was set, and not before', async () => {
  const client = localQueueClient();
  const url = await freshQueue();
  const queue = chunkQueue(client, { own: url, dispatch: url });
  await queue.sendLater(chunk, 0);
  await queue.sendLater(chunk, 0);
  const handles = async () => (await received(client, url)).map(({ ReceiptHandle = '' }) => ReceiptHandle);
  const [first = '', second = ''] = await handles();
  await queue.postpone(first, 0);
  const [third = '', ...others] = await handles();
  expect(others).toEqual([]);
  await queue.hold([second, third], 0);
  const both = await handles();
  expect(both).toHaveLength(2);
  await queue.hold(both, 3_600);
  expect(await handles()).toEqual([]);
});

test('the fan-out packs chunks by ten, and is told which ones the queue refuses', async () => {
  const client = localQueueClient();
  const url = await freshQueue();
  const sink = waveQueue(client, url);
  const entries = Array.from({ length: 11 }, (_, at) => ({ body: `chunk ${at}`, group: '1001', delaySeconds: 0 }));
  const batches = sink.pack(entries);
  expect(batches.map(({ length }) => length)).toEqual([10, 1]);
  injectFaults(client, ({ number }) => (number === 0 ? { kind: 'partial_batch', count: 3 } : undefined));
  const refused = await sink.sendBatch(batches[0] ?? []);
  const bodies = (await received(client, url)).map(({ Body }) => Body);
  expect([refused.length, bodies.length]).toEqual([3, 7]);
  expect(new Set([...bodies, ...refused.map(({ body }) => body)])).toEqual(
    new Set(entries.slice(0, 10).map(({ body }) => body)),
  );
});

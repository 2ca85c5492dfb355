import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { queuedMessage } from '../../../lib/aws/queued-message.ts';
import { HintMessageSchema, hintMessageVersion } from '../../../lib/hints/hint.ts';
import { decodeSendJobMessage } from '../../../lib/messages/accept/send-job.ts';
import { DispatchMessageSchema, dispatchMessageVersion } from '../../../lib/messages/job.ts';
import { ReceiptMessageSchema, receiptMessageVersion } from '../../../lib/messages/receipts/receipt.ts';
import { QueuedWatchSchema, watchVersion } from '../../../lib/messages/rounds/watch-message.ts';
import { decodeSync } from '../../../lib/templates/sync/sync-message.ts';
import { decodeQueued } from '../../../lib/webhooks/delivery/pending.ts';
import { eventTypes } from '../../../lib/webhooks/event.ts';
import { type QueuedBodies, queuedBodies } from '../../support/queued-bodies.ts';

/*
 * Queues outlive versions: what a released one has written is read by every later one (D47). Read here are what today's code
 * queues, and the fixture of each released version, which fixtures/write-released.ts writes once, when it is released.
 */

const readDispatchMessage = (body: string) =>
  v.parse(DispatchMessageSchema, queuedMessage(body, dispatchMessageVersion));

/** How every queue is read by its consumer. */
const readers: Readonly<Record<keyof QueuedBodies, (body: string) => unknown>> = {
  sendJobs: decodeSendJobMessage,
  dispatchMessages: readDispatchMessage,
  urgentMessages: readDispatchMessage,
  watches: (body) => v.parse(QueuedWatchSchema, queuedMessage(body, watchVersion)),
  events: (body) => {
    const { isFresh, pending } = decodeQueued(body, 0);
    return isFresh ? pending.event : pending;
  },
  syncs: decodeSync,
  receipts: (body) => v.parse(ReceiptMessageSchema, queuedMessage(body, receiptMessageVersion)),
  hints: (body) => v.parse(HintMessageSchema, queuedMessage(body, hintMessageVersion)),
};
const queues = Object.keys(readers) as (keyof typeof readers)[];

const today = await queuedBodies();
const folder = join(import.meta.dirname, 'fixtures');
const released = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name): [string, QueuedBodies] => [name, JSON.parse(readFileSync(join(folder, name), 'utf8'))]);

describe.each([['today', today] as const, ...released])('what is queued, %s (D47)', (_, bodies) => {
  test.each(queues)('as %s is read as it was written', (queue) => {
    const plain = bodies[queue].filter((body) => !body.includes('"brotli"'));
    expect(plain).not.toEqual([]);
    for (const body of plain) {
      const { version, ...message } = JSON.parse(body);
      expect({ version, ...(readers[queue](body) as object) }).toEqual({ version, ...message });
    }
  });

  test('a compressed job has its recipients', () => {
    const [compressed = ''] = bodies.sendJobs.filter((body) => body.includes('"brotli"'));
    expect(decodeSendJobMessage(compressed)).toMatchObject({ head: { total: 4 }, firstIndex: 0 });
    expect(decodeSendJobMessage(compressed).recipients).toHaveLength(4);
  });
});

test('every kind of event is among those that are queued today', () => {
  const kinds = today.events.map((body) => decodeQueued(body, 0).pending.event.type);
  expect(new Set(kinds)).toEqual(new Set(eventTypes));
});

describe('the version of a message (D47)', () => {
  test.each(queues)('%s carry it, and neither a later one, nor none, nor what is no version is read', (queue) => {
    for (const body of today[queue]) {
      const message = JSON.parse(body);
      expect(message).toMatchObject({ version: 1 });
      const of = (version: unknown) => () => readers[queue](JSON.stringify({ ...message, version }));
      expect(of(1)).not.toThrow();
      expect(of(2)).toThrow(expect.objectContaining({ name: 'LaterVersion' }));
      for (const version of [undefined, 0, '1']) {
        expect(of(version)).toThrow(expect.objectContaining({ name: 'ValiError' }));
      }
    }
  });

  test('is seen inside a compressed job', () => {
    const inner = Buffer.from(JSON.stringify({ version: 2 }));
    const body = JSON.stringify({ version: 1, brotli: brotliCompressSync(inner).toString('base64') });
    expect(() => decodeSendJobMessage(body)).toThrow(expect.objectContaining({ name: 'LaterVersion' }));
  });
});

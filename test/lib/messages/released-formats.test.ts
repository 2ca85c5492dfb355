import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { queuedMessage } from '../../../lib/aws/queued-message.ts';
import { HintMessageSchema, hintMessageVersion } from '../../../lib/hints/hint-message.ts';
import { decodeSenderWake } from '../../../lib/messages/dispatch/sender-wake.ts';
import { decodeSmallRequest } from '../../../lib/messages/dispatch/small-request-message.ts';
import { InboundMessageSchema, inboundMessageVersion } from '../../../lib/messages/inbound/inbound-message.ts';
import { ReceiptMessageSchema, receiptMessageVersion } from '../../../lib/messages/receipts/receipt.ts';
import { CountMessageSchema, countVersion } from '../../../lib/messages/spend/later-counts.ts';
import { decodeSync } from '../../../lib/templates/sync/sync-message.ts';
import { decodeQueued } from '../../../lib/webhooks/delivery/pending.ts';
import { eventTypes } from '../../../lib/webhooks/event.ts';
import { type QueuedBodies, queuedBodies } from '../../support/queued-bodies.ts';

/**
 * Every later version reads what a released version has queued (D47): today's messages, and one fixture for each
 * release, which fixtures/write-released.ts wrote.
 */

const readers: Readonly<Record<keyof QueuedBodies, (body: string) => unknown>> = {
  wakes: decodeSenderWake,
  smallRequests: decodeSmallRequest,
  counts: (body) => v.parse(CountMessageSchema, queuedMessage(body, countVersion)),
  events: decodeQueued,
  syncs: decodeSync,
  receipts: (body) => v.parse(ReceiptMessageSchema, queuedMessage(body, receiptMessageVersion)),
  hints: (body) => v.parse(HintMessageSchema, queuedMessage(body, hintMessageVersion)),
  inbound: (body) => v.parse(InboundMessageSchema, queuedMessage(body, inboundMessageVersion)),
};
const queues = Object.keys(readers) as (keyof typeof readers)[];

const today = await queuedBodies();
const folder = join(import.meta.dirname, 'fixtures');
const released = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name): [string, QueuedBodies] => [name, JSON.parse(readFileSync(join(folder, name), 'utf8'))]);

describe.each([['today', today] as const, ...released])('what is queued, %s (D47)', (_, bodies) => {
  test.each(queues)('as %s is read as it was written', (queue) => {
    expect(bodies[queue]).not.toEqual([]);
    for (const body of bodies[queue]) {
      const { version, ...message } = JSON.parse(body);
      expect({ version, ...(readers[queue](body) as object) }).toEqual({ version, ...message });
    }
  });
});

test('every kind of event is among those that are queued today', () => {
  const kinds = today.events.map(decodeQueued).flatMap((queued) => ('type' in queued ? queued.type : []));
  const missing = eventTypes.filter((type) => !new Set<string>(kinds).has(type));
  expect(missing, 'add an event of the kind to test/support/queued-bodies.ts').toEqual([]);
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
});

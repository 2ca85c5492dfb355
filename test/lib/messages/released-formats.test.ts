import { brotliCompressSync } from 'node:zlib';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { queuedMessage } from '../../../lib/aws/queued-message.ts';
import { HintMessageSchema, hintMessageVersion } from '../../../lib/hints/hint.ts';
import { decodeSendJobMessage } from '../../../lib/messages/accept/send-job.ts';
import { QueuedWatchSchema, watchVersion } from '../../../lib/messages/fan-out/watch-message.ts';
import { DispatchMessageSchema, dispatchIdOf, dispatchMessageVersion } from '../../../lib/messages/job.ts';
import { ReceiptMessageSchema, receiptMessageVersion } from '../../../lib/messages/receipts/receipt.ts';
import { composeMessage } from '../../../lib/messages/request/compose.ts';
import { decodeSync } from '../../../lib/templates/sync/sync-message.ts';
import { decodeQueued } from '../../../lib/webhooks/delivery/pending.ts';
import { eventTypes } from '../../../lib/webhooks/event.ts';
import { acceptedJobs, queuedBodies } from '../../support/queued-bodies.ts';
import * as decoders from './fixtures/decoders-0.1.0.mjs';
import released from './fixtures/released-0.1.0.json' with { type: 'json' };
import released2 from './fixtures/released-0.2.0.json' with { type: 'json' };

/*
 * Queues outlive versions: what a released one has written is read by every later one (D47). The fixture holds bodies that
 * the code of 0.1.0 wrote to each of its queues: jobs of every template of the demo data, one that needed compression and
 * parts of a larger one; messages to recipients, one of them tried before; every kind of event, one of them tried before;
 * a synchronization at its start, at a checkpoint and in a walk. That of 0.2.0 is written by fixtures/write-released.ts and has
 * every queue.
 */

const { sendJobs, dispatchMessages, events, syncs } = released;
const messages = dispatchMessages.map((body) => v.parse(DispatchMessageSchema, JSON.parse(body)));
const jobs = sendJobs.map((body) => ({ body, job: decodeSendJobMessage(body) }));

describe('jobs that 0.1.0 has accepted', () => {
  test.each(
    jobs.filter(({ body }) => !body.startsWith('{"brotli"')).map(({ body, job }) => [job.head.templateName, body]),
  )('%s is read as it was written', (_name, body) => {
    expect(decodeSendJobMessage(body)).toEqual(JSON.parse(body));
  });

  test.each(
    jobs
      .filter(({ job: { part, head } }) => part === undefined && head.total < 100)
      .map(({ job }): [string, typeof job] => [job.head.templateName, job]),
  )('%s is composed into the messages that it became', (_name, job) => {
    const composed = job.recipients.map((recipient, index) => {
      const dispatchId = dispatchIdOf({ jobId: job.head.jobId, index });
      return composeMessage(job.plan, recipient, dispatchId);
    });
    const before = messages
      .filter(({ jobId, attempt }) => jobId === job.head.jobId && attempt === 0)
      .map(({ request }) => request);
    expect(composed).toEqual(before.map(withUrlValueAsGiven));
  });

  test('one that was compressed has all its recipients', () => {
    const [compressed] = jobs.filter(({ job }) => job.head.total === 8_000);
    expect(compressed?.body).toMatch(/^\{"brotli"/);
    expect(compressed?.job.recipients).toHaveLength(8_000);
  });

  test('parts say which they are, compressed or not', () => {
    const parts = jobs.map(({ job }) => job).filter(({ part }) => part !== undefined);
    expect(parts).toHaveLength(2);
    for (const { part, firstIndex, recipients } of parts) {
      expect({ part, firstIndex, recipients: recipients.length }).toEqual({
        part: { number: 2, of: 2 },
        firstIndex: 2,
        recipients: 2,
      });
    }
  });
});

test('messages that 0.1.0 has queued are read as they were written', () => {
  expect(messages).toEqual(dispatchMessages.map((body) => JSON.parse(body)));
  expect(messages.map(({ attempt }) => attempt)).toEqual([...Array.from({ length: 10 }, () => 0), 3]);
});

test('events that 0.1.0 has queued are read as they were written, every kind that it had', () => {
  const nowMs = 1_795_315_200_000;
  const read = events.map((body) => ({ body: JSON.parse(body), ...decodeQueued(body, nowMs) }));
  for (const { body, isFresh, pending } of read) expect(isFresh ? pending.event : pending).toEqual(body);
  expect(read.filter(({ isFresh }) => !isFresh).map(({ pending }) => pending.attempts)).toEqual([2]);
  const kinds = read.map(({ pending }) => pending.event.type);
  expect(new Set(kinds)).toEqual(
    new Set([
      ...['template.created', 'template.status_changed', 'template.deleted', 'sync.completed'],
      ...['message.failed', 'message.expired', 'message.unknown'],
    ]),
  );
  expect(eventTypes).toEqual(expect.arrayContaining(kinds));
});

test('synchronizations that 0.1.0 has queued go on where they stood', () => {
  const read = syncs.map((body) => ({ body: JSON.parse(body), message: decodeSync(body) }));
  expect(read).toHaveLength(3);
  // What was not counted yet counts from nothing.
  for (const { body, message } of read) expect(message).toMatchObject(body);
});

/** 0.1.0 encoded URL values whole; a job that waits is composed by today's rule (D37). */
function withUrlValueAsGiven(request: unknown): unknown {
  return JSON.parse(JSON.stringify(request).replace('orders%2FA-1%3Fx%3D1', 'orders/A-1?x=1'));
}

const readDispatchMessage = (body: string) =>
  v.parse(DispatchMessageSchema, queuedMessage(body, dispatchMessageVersion));

/** How every queue is read, by whoever consumes it. */
const readers: Readonly<Record<keyof typeof released2, (body: string) => unknown>> = {
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

describe.each(queues)('what 0.2.0 has queued as %s (D47)', (queue) => {
  const bodies: readonly string[] = released2[queue];

  test('is there', () => expect(bodies).not.toEqual([]));

  test.each(bodies.filter((body) => !body.includes('"brotli"')))('is read as it was written: %.100s', (body) => {
    const { version, ...message } = JSON.parse(body);
    expect(version).toBeGreaterThanOrEqual(1);
    expect({ version, ...(readers[queue](body) as object) }).toEqual({ version, ...message });
  });
});

test('every kind of event is among those that 0.2.0 has queued, and a compressed job has its recipients', () => {
  const kinds = released2.events.map((body) => decodeQueued(body, 0).pending.event.type);
  expect(new Set(kinds)).toEqual(new Set(eventTypes));
  const [compressed = ''] = released2.sendJobs.filter((body) => body.includes('"brotli"'));
  expect(decodeSendJobMessage(compressed)).toMatchObject({ head: { total: 4 }, firstIndex: 0 });
});

describe('what today is queued', async () => {
  const today = await queuedBodies(acceptedJobs(sendJobs));

  test.each(queues)('%s carry their version, and a later one is not read (D47)', (queue) => {
    for (const body of today[queue]) {
      const message = JSON.parse(body);
      expect(message).toEqual({ ...message, version: expect.any(Number) });
      expect(() => readers[queue](body)).not.toThrow();
      const later = JSON.stringify({ ...message, version: 1_000 });
      expect(() => readers[queue](later)).toThrow(expect.objectContaining({ name: 'LaterVersion' }));
    }
  });

  test('a later version inside a compressed job is seen', () => {
    const inner = Buffer.from(JSON.stringify({ version: 1_000 }));
    const body = JSON.stringify({ version: 1, brotli: brotliCompressSync(inner).toString('base64') });
    expect(() => decodeSendJobMessage(body)).toThrow(expect.objectContaining({ name: 'LaterVersion' }));
  });

  /* A deployment swaps functions one by one, so messages cross: 0.1.0's consumers meet today's senders. */
  test('jobs are read by 0.1.0, with all their recipients', () => {
    for (const body of today.sendJobs) {
      const { head, firstIndex, recipients } = decodeSendJobMessage(body);
      const read = decoders.decodeSendJobMessage(body);
      expect(read).toMatchObject({ head: { jobId: head.jobId }, firstIndex });
      expect(read.recipients).toEqual(recipients);
    }
  });

  test('messages to recipients are read by 0.1.0: what it posts, to whom, under which claim', () => {
    for (const body of today.dispatchMessages) {
      const { jobId, index, clientId, credential, phoneNumberId, path, request, expiresAtMs } = JSON.parse(body);
      const needed = { jobId, index, clientId, credential, phoneNumberId, path, request };
      expect(decoders.decodeDispatchMessage(body)).toMatchObject(needed);
      expect(decoders.decodeDispatchMessage(body)['expiresAtMs']).toBe(expiresAtMs);
    }
  });

  test('synchronizations and walks are read by 0.1.0', () => {
    for (const body of today.syncs) {
      const { version: _, counts, ...message } = JSON.parse(body);
      expect(decoders.decodeSync(body)).toMatchObject(message);
    }
  });

  test("of events 0.1.0 reads the kinds that it had; the others come again until its function is today's", () => {
    const unread = today.events.flatMap((body) => {
      const { isFresh, pending } = decodeQueued(body, 0);
      try {
        const read = decoders.decodeQueued(body, 0);
        expect(read).toMatchObject({
          isFresh,
          pending: { attempts: pending.attempts, event: { id: pending.event.id } },
        });
        return [];
      } catch (error) {
        expect(error).toMatchObject({ name: 'ValiError' });
        return [pending.event.type];
      }
    });
    expect(unread).toEqual([
      ...['message.held', 'message.sent', 'message.delivered', 'message.read', 'message.resolved'],
      ...['dispatch.parked', 'dispatch.resumed', 'dispatch.completed'],
    ]);
  });
});

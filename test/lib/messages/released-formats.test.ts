import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { decodeSendJobMessage } from '../../../lib/messages/accept/send-job.ts';
import { QueuedWatchSchema } from '../../../lib/messages/fan-out/watch-message.ts';
import { DispatchMessageSchema, dispatchIdOf } from '../../../lib/messages/job.ts';
import { composeMessage } from '../../../lib/messages/request/compose.ts';
import { QueuedSyncSchema } from '../../../lib/templates/sync/sync-message.ts';
import { decodeQueued } from '../../../lib/webhooks/delivery/pending.ts';
import { eventTypes } from '../../../lib/webhooks/event.ts';
import released from './fixtures/released-0.1.0.json' with { type: 'json' };
import watches from './fixtures/watches.json' with { type: 'json' };

/*
 * Queues outlive versions: what a released one has written is read by every later one (D47). The fixture holds bodies that
 * the code of 0.1.0 wrote to each of its queues: jobs of every template of the demo data, one that needed compression and
 * parts of a larger one; messages to recipients, one of them tried before; every kind of event, one of them tried before;
 * a synchronization at its start, at a checkpoint and in a walk.
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
  const read = syncs.map((body) => ({ body: JSON.parse(body), message: v.parse(QueuedSyncSchema, JSON.parse(body)) }));
  expect(read).toHaveLength(3);
  // What was not counted yet counts from nothing.
  for (const { body, message } of read) expect(message).toMatchObject(body);
});

/** 0.1.0 encoded URL values whole; a job that waits is composed by today's rule (D37). */
function withUrlValueAsGiven(request: unknown): unknown {
  return JSON.parse(JSON.stringify(request).replace('orders%2FA-1%3Fx%3D1', 'orders/A-1?x=1'));
}

test.each(watches.map((body) => [`version ${body.version}`, body] as const))(
  'a watch of %s is read as it was written',
  (_, body) => {
    expect(v.parse(QueuedWatchSchema, body)).toEqual(body);
  },
);

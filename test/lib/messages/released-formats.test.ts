import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { decodeSendJobMessage } from '../../../lib/messages/accept/send-job.ts';
import { DispatchMessageSchema, dispatchIdOf } from '../../../lib/messages/job.ts';
import { composeMessage } from '../../../lib/messages/request/compose.ts';
import queued from './fixtures/queued-before-held.json' with { type: 'json' };

/*
 * Queues outlive versions: what an earlier one has accepted is read by every later one (D47). The fixture holds the bodies
 * that the service wrote to its queues while it sent each template of the demo data, before messages named flow buttons.
 */

const dispatchMessages = queued.dispatchMessages.map((body) => v.parse(DispatchMessageSchema, JSON.parse(body)));

describe('jobs that were accepted before', () => {
  test.each(queued.sendJobs.map((body) => [decodeSendJobMessage(body).head.templateName, body]))(
    '%s is read as it was written, and composed into the messages that it became',
    (_name, body) => {
      const job = decodeSendJobMessage(body);
      expect(job).toEqual(JSON.parse(body));
      const composed = job.recipients.map((recipient, index) => {
        const dispatchId = dispatchIdOf({ jobId: job.head.jobId, index });
        return composeMessage(job.plan, recipient, dispatchId);
      });
      const before = dispatchMessages.filter(({ jobId }) => jobId === job.head.jobId).map(({ request }) => request);
      expect(composed).toEqual(before.map(withUrlValueAsGiven));
    },
  );
});

test('messages that were queued before are read as they were written', () => {
  expect(dispatchMessages).toEqual(queued.dispatchMessages.map((body) => JSON.parse(body)));
  expect(dispatchMessages).toHaveLength(10);
});

/** URL values were encoded whole when the fixture was taken; a job that waits is composed by today's rule (D37). */
function withUrlValueAsGiven(request: unknown): unknown {
  return JSON.parse(JSON.stringify(request).replace('orders%2FA-1%3Fx%3D1', 'orders/A-1?x=1'));
}

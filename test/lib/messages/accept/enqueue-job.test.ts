import * as v from 'valibot';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { queueMessageMaxBytes } from '../../../../lib/aws/queue-body.ts';
import { type EnqueuePorts, enqueueJob, enqueueStraight } from '../../../../lib/messages/accept/enqueue-job.ts';
import { encodeSendJob } from '../../../../lib/messages/accept/send-job.ts';
import { straightSend } from '../../../../lib/messages/accept/straight-send.ts';
import { DispatchMessageSchema, type JobHead } from '../../../../lib/messages/job.ts';
import { headOfStraight } from '../../../../lib/messages/straight-message.ts';
import { makeJob, makeRecipients } from '../../../support/send-jobs.ts';

afterEach(() => vi.restoreAllMocks());

const inParts = makeJob(makeRecipients(10_000, 250), { jobId: 'J' });

/** Answers only when it is given up. */
function hung(signal?: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('given up'))));
}

/** The limits of the waits that were begun; each passes at once. */
function passingLimits(): number[] {
  const limits: number[] = [];
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    limits.push(ms);
    const ended = new AbortController();
    setTimeout(() => ended.abort(), 50);
    return ended.signal;
  });
  return limits;
}

function ports(acceptance: EnqueuePorts['acceptance']): EnqueuePorts {
  const queue = { send: async () => undefined };
  return { queue, straightQueue: queue, urgentQueue: queue, acceptance, remainingMs: () => 29_000 };
}

test('a commit that hangs is taken back before the edge answers by itself', async () => {
  const limits = passingLimits();
  const acceptance = {
    commit: (_: string, signal: AbortSignal) => hung(signal),
    withdraw: async () => 'withdrawn' as const,
  };
  await expect(enqueueJob(inParts, ports(acceptance))).rejects.toMatchObject({ code: 'dispatch_unavailable' });
  expect(limits).toEqual([6_000, 3_000]);
});

test('a withdrawal that hangs ends in not knowing, and says so', async () => {
  passingLimits();
  const acceptance = {
    commit: () => Promise.reject(new Error('conflict')),
    withdraw: (_: string, signal?: AbortSignal) => hung(signal),
  };
  await expect(enqueueJob(inParts, ports(acceptance))).rejects.toMatchObject({
    code: 'dispatch_undecided',
    message: expect.stringContaining('only a request with an Idempotency-Key can safely be repeated'),
  });
});

/** What is asked of queue and records, in order; the queue refuses from the nth message on. */
function recording({ remainingMs = 29_000, refusedFrom = Number.POSITIVE_INFINITY, begun = false } = {}) {
  const calls: string[] = [];
  const queue = (name: string) => ({
    send: async (_message: string, group: string) => {
      if (calls.length + 1 >= refusedFrom) throw refused;
      calls.push(`${name} for ${group}`);
    },
  });
  const ports: EnqueuePorts = {
    queue: queue('send'),
    straightQueue: queue('send straight'),
    urgentQueue: queue('send urgently'),
    acceptance: {
      commit: async (jobId) => void calls.push(`commit ${jobId}`),
      withdraw: async (jobId) => {
        calls.push(`withdraw ${jobId}`);
        return begun ? 'begun' : 'withdrawn';
      },
    },
    remainingMs: () => remainingMs,
  };
  return { calls, ports };
}

const refused = new Error('refused');
const single = makeJob(makeRecipients(3), { jobId: 'J', clientId: 1002 });

test('a job of one message needs no commit; one in parts is committed when all of them are queued', async () => {
  const one = recording();
  await enqueueJob(single, one.ports);
  expect(one.calls).toEqual(['send for 1002']);
  const several = recording();
  await enqueueJob(inParts, several.ports);
  const parts = encodeSendJob(inParts).length;
  expect(parts).toBeGreaterThan(1);
  expect(several.calls).toEqual([...Array(parts).fill('send for 1001'), 'commit J']);
});

test('what the queue did not confirm is taken back, and refused when nothing of it was begun (R20)', async () => {
  const { calls, ports } = recording({ refusedFrom: 2 });
  await expect(enqueueJob(inParts, ports)).rejects.toMatchObject({
    code: 'dispatch_unavailable',
    message: 'the messages could not be queued; none of them will be sent',
    cause: refused,
  });
  expect(calls).toEqual(['send for 1001', 'withdraw J']);
  const begun = recording({ refusedFrom: 1, begun: true });
  await enqueueJob(single, begun.ports);
  expect(begun.calls).toEqual(['withdraw J']);
});

test('without the time to queue it, take it back and answer nothing is queued', async () => {
  const late = recording({ remainingMs: 13_499 });
  await expect(enqueueJob(single, late.ports)).rejects.toMatchObject({
    code: 'dispatch_unavailable',
    cause: { message: 'too little time left to queue the job' },
  });
  expect(late.calls).toEqual([]);
  const inTime = recording({ remainingMs: 13_500 });
  await enqueueJob(single, inTime.ports);
  expect(inTime.calls).toEqual(['send for 1002']);
});

describe('a request of one recipient goes straight (D25)', () => {
  const straightOf = async (head: Partial<JobHead> = {}) => {
    const job = makeJob(makeRecipients(1), { jobId: 'J', clientId: 1002, ...head });
    const send = await straightSend(job, async () => 40);
    if (send === undefined) throw new Error('it goes as a job');
    return send;
  };

  test('to the workers, and one-time codes to theirs, without a job message', async () => {
    const one = recording();
    await enqueueStraight(await straightOf(), one.ports);
    expect(one.calls).toEqual(['send straight for 1002']);
    const code = recording();
    await enqueueStraight(await straightOf({ urgent: true }), code.ports);
    expect(code.calls).toEqual(['send urgently for 1002']);
  });

  test('what the queue did not confirm is taken back, and refused when nobody has begun it (R20)', async () => {
    const { calls, ports } = recording({ refusedFrom: 1 });
    await expect(enqueueStraight(await straightOf(), ports)).rejects.toMatchObject({ code: 'dispatch_unavailable' });
    expect(calls).toEqual(['withdraw J']);
    const begun = recording({ refusedFrom: 1, begun: true });
    await enqueueStraight(await straightOf(), begun.ports);
    expect(begun.calls).toEqual(['withdraw J']);
  });

  test('its message says all that the head of its job does, with the limit of its number as last read', async () => {
    const { message, body } = await straightOf({
      campaignId: 7,
      attends: { agent: 'Ana' },
      expiresAtMs: 9,
      urgent: true,
    });
    const { head } = makeJob(makeRecipients(1), { jobId: 'J', clientId: 1002 });
    const told = {
      ...head,
      campaignId: 7,
      attends: { agent: 'Ana' },
      expiresAtMs: 9,
      urgent: true,
      throughputPerSecond: 40,
    };
    expect(headOfStraight(message)).toEqual(told);
    expect(headOfStraight(v.parse(DispatchMessageSchema, JSON.parse(body)))).toEqual(told);
    expect(message).toMatchObject({ version: 1, straight: true, alone: true, limitPerSecond: 40 });
    expect(message.request).toMatchObject({ biz_opaque_callback_data: 'J-0' });
  });

  test('not what the fan-out has to work off: several, a dropped duplicate, what cannot be composed, what is too large', async () => {
    const limitOf = () => Promise.reject(new Error('asked for nothing'));
    const single = makeJob(makeRecipients(1), { jobId: 'J' });
    expect(await straightSend(makeJob(makeRecipients(2), { jobId: 'J' }), limitOf)).toBeUndefined();
    expect(await straightSend({ ...single, repeats: [[1, 0]] }, limitOf)).toBeUndefined();
    const wrong = { to: '5491100000001', params: { body: [] } };
    expect(await straightSend({ ...single, recipients: [wrong] }, limitOf)).toBeUndefined();
    const large = makeJob(makeRecipients(1, 1_100_000), { jobId: 'J' });
    expect(await straightSend(large, async () => 40)).toBeUndefined();
  });

  test('a message goes straight up to the very size that the queue takes', async () => {
    const straightOfText = async (textBytes: number) =>
      await straightSend(makeJob(makeRecipients(1, textBytes), { jobId: 'J' }), async () => 40);
    const restBytes = Buffer.byteLength((await straightOfText(0))?.body ?? '');
    const largest = await straightOfText(queueMessageMaxBytes - restBytes);
    expect(Buffer.byteLength(largest?.body ?? '')).toBe(queueMessageMaxBytes);
    expect(await straightOfText(queueMessageMaxBytes - restBytes + 1)).toBeUndefined();
  });
});

import { afterEach, expect, test, vi } from 'vitest';
import { type EnqueuePorts, enqueueJob } from '../../../../lib/messages/accept/enqueue-job.ts';
import { encodeSendJob } from '../../../../lib/messages/accept/send-job.ts';
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
  return { queue: { send: async () => undefined }, acceptance, remainingMs: () => 29_000 };
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
  const ports: EnqueuePorts = {
    queue: {
      send: async (_message, group) => {
        if (calls.length + 1 >= refusedFrom) throw refused;
        calls.push(`send for ${group}`);
      },
    },
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

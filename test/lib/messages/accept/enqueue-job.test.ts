import { afterEach, expect, test, vi } from 'vitest';
import { type EnqueuePorts, enqueueJob } from '../../../../lib/messages/accept/enqueue-job.ts';
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

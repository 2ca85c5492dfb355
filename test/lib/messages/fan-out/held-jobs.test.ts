import { describe, expect, test } from 'vitest';
import type { JobStop } from '../../../../lib/messages/job-state.ts';
import { fannedOut, fanOutJob, fanOutStartMs, fanOutWorld, queueThat } from '../../../support/fan-out-world.ts';

const minutes = 60_000;

describe('a stopped job (D46, D53)', () => {
  const stop: JobStop = { state: 'failed', code: 'cancelled', atMs: fanOutStartMs };

  test('queues nothing: each recipient ends as the stop says, and is told so once', async () => {
    const { ports, job, queued, failed, events, progress, watched } = fanOutWorld();
    job.state = { stop };
    expect(await fannedOut(fanOutJob(1_200), ports)).toEqual({ end: 'done' });
    expect([queued, progress.get(1)]).toEqual([[], 1_200]);
    expect(failed().map(({ key, state, code }) => [key.index, state, code])).toEqual(
      Array.from({ length: 1_200 }, (_, index) => [index, 'failed', 'cancelled']),
    );
    expect(events.sent.map(({ type }) => type)).toEqual(Array(1_200).fill('message.failed'));
    expect(new Set(events.sent.map(({ id }) => id)).size).toBe(1_200);
    expect(watched).toHaveLength(1);
  });

  test('that is stopped on the way queues no further wave', async () => {
    const { ports, job, queued, failed } = fanOutWorld();
    const sendBatch = ports.queue.sendBatch;
    const queue = queueThat((entries) => {
      job.state = { stop };
      return sendBatch(entries);
    });
    await fannedOut(fanOutJob(1_200), { ...ports, queue });
    expect([queued.length, failed().length]).toEqual([500, 700]);
    expect(failed()[0]?.key.index).toBe(500);
  });

  test('leaves to the worker what the worker has claimed, of a wave that was queued and not remembered', async () => {
    const { ports, job, claims, events } = fanOutWorld();
    job.state = { stop };
    const key = { jobId: 'J', index: 1 };
    claims.set('J-1', { key, state: 'sent', code: '', at: 'worker/0', claimedAtMs: fanOutStartMs, to: '1' });
    await fannedOut(fanOutJob(3), ports);
    expect(claims.get('J-1')?.state).toBe('sent');
    expect(events.sent.map(({ data }) => 'message_id' in data && data.message_id)).toEqual(['J-0', 'J-2']);
  });

  test('is told again, under the same ids, when that could not be told', async () => {
    const { ports, job, events, failed } = fanOutWorld();
    job.state = { stop };
    events.broken = true;
    await expect(fannedOut(fanOutJob(3), ports)).rejects.toThrow('event queue');
    events.broken = false;
    await fannedOut(fanOutJob(3), ports);
    expect([events.sent.length, failed().length]).toEqual([3, 3]);
  });

  test('of one recipient has ended with it', async () => {
    const { ports, job, events } = fanOutWorld();
    job.state = { stop: { ...stop, state: 'expired', code: 'template_paused' } };
    await fannedOut(fanOutJob(1), ports);
    expect(events.sent.map(({ type }) => type)).toEqual(['message.expired', 'dispatch.completed']);
    expect(events.sent[1]?.data).toMatchObject({ total: 1, counts: { expired: 1, pending: 0 } });
  });
});

describe('a parked job (D46)', () => {
  const parked = { code: 'template_paused', sinceMs: fanOutStartMs - 2 * minutes } as const;

  test('goes on circulating, and when it has resumed waits once more, behind what waits in the queue', async () => {
    const { ports, job, queued, sentAgain } = fanOutWorld();
    job.state = { parked };
    const sent = fanOutJob(20);
    expect(await fannedOut(sent, ports)).toEqual({ end: 'done' });
    expect(sentAgain).toEqual([{ job: { ...sent, round: 1, parkedSeconds: 30 }, delaySeconds: 30 }]);
    job.state = {};
    await fannedOut(sentAgain[0]?.job ?? sent, ports);
    expect(sentAgain[1]).toEqual({ job: { ...sent, round: 2 }, delaySeconds: 30 });
    expect(queued).toEqual([]);
    await fannedOut(sentAgain[1]?.job ?? sent, ports);
    expect(queued).toHaveLength(20);
  });

  test('that is parked on the way queues no further wave', async () => {
    const { ports, job, queued, sentAgain } = fanOutWorld();
    const sendBatch = ports.queue.sendBatch;
    const queue = queueThat((entries) => {
      job.state = { parked };
      return sendBatch(entries);
    });
    await fannedOut(fanOutJob(1_200), { ...ports, queue });
    expect([queued.length, sentAgain.length]).toEqual([500, 1]);
  });

  test('that nobody has ended expires after a day', async () => {
    const nowMs = () => parked.sinceMs + 24 * 60 * minutes;
    const { ports, job, failed } = fanOutWorld({ nowMs });
    job.state = { parked };
    await fannedOut(fanOutJob(2), ports);
    expect(failed().map(({ state, code }) => [state, code])).toEqual(Array(2).fill(['expired', 'template_paused']));
  });
});

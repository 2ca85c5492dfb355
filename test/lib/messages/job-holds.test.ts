import { expect, test } from 'vitest';
import { type HoldPorts, jobHolds } from '../../../lib/messages/job-holds.ts';

const nowMs = 1_800_000_000_000;
const message = { jobId: 'J', clientId: 1001, acceptedAtMs: nowMs - 60_000 };

function world(changes: Partial<HoldPorts['states']> = {}) {
  const calls: unknown[][] = [];
  const logged: string[] = [];
  const ports: HoldPorts = {
    states: {
      park: async (...args) => {
        calls.push(['park', ...args]);
        return true;
      },
      stop: async ({ jobId }, stop) => {
        calls.push(['stop', jobId, stop]);
        return true;
      },
      endPause: async (jobId) => void calls.push(['endPause', jobId]),
      ...changes,
    },
    watchParked: async ({ jobId }, sinceMs) => void calls.push(['watch', jobId, sinceMs]),
    nowMs: () => nowMs,
    log: (event) => void logged.push(event),
  };
  return { calls, logged, holds: jobHolds(ports), ports };
}

const waits = { kind: 'wait', delaySeconds: 15 };

test('132015 parks the job, once for a batch and after somebody watches it; the message waits (D46)', async () => {
  const { calls, logged, holds } = world();
  const refused = Array.from({ length: 10 }, () => holds.byRefusal(message, { code: 132015, reason: 'paused' }));
  expect(await Promise.all(refused)).toEqual(Array(10).fill(waits));
  expect(calls).toEqual([
    ['watch', 'J', nowMs],
    ['park', 'J', { code: 'template_paused', sinceMs: nowMs }],
  ]);
  expect(logged).toEqual(['job.parked']);
});

test('jobs of one batch are parked each for itself', async () => {
  const { calls, holds } = world();
  await holds.byRefusal(message, { code: 132015 });
  await holds.byRefusal({ ...message, jobId: 'K' }, { code: 132015 });
  expect(calls.map(([name, jobId]) => [name, jobId])).toEqual([
    ['watch', 'J'],
    ['park', 'J'],
    ['watch', 'K'],
    ['park', 'K'],
  ]);
});

test('132016 stops the job: this message and the rest fail with the code and the text of the platform (D46)', async () => {
  const { calls, holds } = world();
  const settlement = { state: 'failed', code: '132016', reason: 'Template is Disabled' };
  expect(await holds.byRefusal(message, { code: 132016, reason: 'Template is Disabled' })).toEqual({
    kind: 'settle',
    settlement,
  });
  expect(calls).toEqual([['stop', 'J', { ...settlement, atMs: nowMs }]]);
});

test('a message past its time does not wait', async () => {
  const { holds } = world();
  expect(await holds.byRefusal({ ...message, expiresAtMs: nowMs }, { code: 132015 })).toEqual({
    kind: 'settle',
    settlement: { state: 'expired', code: 'template_paused' },
  });
});

test.each([undefined, 132001, 131026])('code %s concerns the message alone', async (code) => {
  const { calls, holds } = world();
  expect(await holds.byRefusal(message, { code })).toBeUndefined();
  expect(calls).toEqual([]);
});

test('a message that was taken ends the pause of its job, once for a batch (D46)', async () => {
  const { calls, logged, holds } = world();
  await holds.taken(['J', 'K', 'J']);
  expect(calls).toEqual([
    ['endPause', 'J'],
    ['endPause', 'K'],
  ]);
  const broken = world({ endPause: async () => Promise.reject(new Error('unavailable')) });
  await broken.holds.taken(['J']);
  expect([logged, broken.logged]).toEqual([[], ['job.pause_not_ended']]);
});

test('who cannot write it down goes on as if: the next message that is refused does it', async () => {
  const fails = async () => Promise.reject(new Error('unavailable'));
  const { logged, ports } = world({ park: fails, stop: fails });
  expect(await jobHolds(ports).byRefusal(message, { code: 132015 })).toEqual(waits);
  expect(await jobHolds({ ...ports, watchParked: fails }).byRefusal(message, { code: 132015 })).toEqual(waits);
  expect(await jobHolds(ports).byRefusal(message, { code: 132016 })).toMatchObject({ kind: 'settle' });
  expect(logged).toEqual(['job.not_held', 'job.not_held', 'job.not_held']);
});

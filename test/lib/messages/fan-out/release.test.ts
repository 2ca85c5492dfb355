import { describe, expect, test } from 'vitest';
import type { SendJob } from '../../../../lib/messages/accept/send-job.ts';
import type { FanOutPorts } from '../../../../lib/messages/fan-out/fan-out.ts';
import { horizonMs, nextRoundSeconds, queueDelaySeconds, waveCount } from '../../../../lib/messages/fan-out/horizon.ts';
import { slotMsOf, type Turn } from '../../../../lib/messages/pace/schedule.ts';
import { fannedOut, fanOutJob, fanOutStartMs, fanOutWorld } from '../../../support/fan-out-world.ts';

const phone = '300000000000001';

/** Works off a job round after round, each when its message comes; `between` is told of each round's end. */
async function allRounds(
  job: SendJob,
  changes: Partial<FanOutPorts>,
  between: (world: World) => void = () => undefined,
) {
  const clock = { nowMs: fanOutStartMs };
  const world = { ...fanOutWorld({ nowMs: () => clock.nowMs, ...changes }), clock };
  let rounds = 0;
  for (let next: SendJob | undefined = job; next !== undefined; rounds += 1) {
    await fannedOut(next, world.ports);
    between(world);
    const sent = world.sentAnew.shift();
    next = sent?.job;
    clock.nowMs += (sent?.delaySeconds ?? 0) * 1_000;
  }
  return { ...world, rounds };
}

type World = ReturnType<typeof fanOutWorld> & { readonly clock: { nowMs: number } };

describe('the pace of a number (D43)', () => {
  test('a job is released as far as the horizon, round after round, and each recipient once', async () => {
    const ahead: number[] = [];
    const { queued, rounds, watched, paces } = await allRounds(
      fanOutJob(5_000),
      { limitOf: async () => 80 },
      (world) => {
        const schedule = scheduleOf(world);
        const last = world.queued.at(-1)?.turn;
        ahead.push((slotMsOf(schedule, last as Turn) ?? 0) - world.clock.nowMs);
      },
    );
    expect(queued.map(({ index }) => index)).toEqual(Array.from({ length: 5_000 }, (_, index) => index));
    expect(queued.map(({ turn }) => turn?.position)).toEqual(queued.map(({ index }) => index));
    // 5,000 at 72 a second are 69 s: a look every ten seconds, and never more than a wave beyond the twenty.
    expect(rounds).toBe(6);
    expect(Math.max(...ahead)).toBeLessThanOrEqual(21_200);
    expect(Math.min(...ahead.slice(0, -1))).toBeGreaterThanOrEqual(20_000);
    // Watched from when the last has left: 19.4 s after the last round.
    expect(watched.map(({ delaySeconds }) => delaySeconds)).toEqual([25]);
    expect(paces.stored.get(phone)?.schedule.nextPosition).toBe(5_000);
  });

  test('each waits in the queue until a moment before its slot', async () => {
    const { ports, queued, paces } = fanOutWorld({ limitOf: async () => 80 });
    await fannedOut(fanOutJob(5_000), ports);
    const schedule = paces.stored.get(phone)?.schedule;
    for (const { turn, delaySeconds } of queued) {
      const slotMs = schedule === undefined || turn === undefined ? 0 : (slotMsOf(schedule, turn) ?? 0);
      const early = slotMs - (fanOutStartMs + delaySeconds * 1_000);
      expect(early).toBeGreaterThanOrEqual(0);
      // Beside the second by which a delay is early, what ten slots take: a batch comes together.
      expect(early).toBeLessThan(2_126);
    }
    const batches = Array.from({ length: Math.ceil(queued.length / 10) }, (_, at) =>
      queued.slice(at * 10, at * 10 + 10),
    );
    expect(batches.every((batch) => new Set(batch.map(({ delaySeconds }) => delaySeconds)).size === 1)).toBe(true);
    expect(queued.length % 10).toBe(0);
  });

  test('where ten slots take longer than a second, each message comes for itself', async () => {
    const { ports, queued } = fanOutWorld({ limitOf: async () => 2 });
    await fannedOut(fanOutJob(200), ports);
    const [first = 0, ...others] = queued.slice(50, 60).map(({ delaySeconds }) => delaySeconds);
    expect(others.at(-1)).toBe(first + 5);
  });

  test('with a message that cannot be composed no slot is lost', async () => {
    const compose: FanOutPorts['compose'] = (_, { to }) => {
      if (to.endsWith('7')) throw new TypeError('bug');
      return { to };
    };
    const { ports, queued } = fanOutWorld({ limitOf: async () => 80, compose });
    await fannedOut(fanOutJob(500), ports);
    expect(queued.map(({ turn }) => turn?.position)).toEqual(Array.from({ length: 450 }, (_, at) => at));
  });

  test('few recipients are queued at once, without a turn; codes in their own queue (D44)', async () => {
    const { ports, queued, codes, paces, demands } = fanOutWorld();
    await fannedOut(fanOutJob(10), ports);
    await fannedOut(fanOutJob(2, { head: { jobId: 'K', urgent: true } }), { ...ports, jobs: fanOutWorld().ports.jobs });
    expect(queued.map(({ turn, delaySeconds, urgent }) => [turn, delaySeconds, urgent])).toEqual(
      Array(10).fill([undefined, 0, undefined]),
    );
    expect(codes.map(({ jobId, turn, urgent }) => [jobId, turn, urgent])).toEqual(
      Array(2).fill(['K', undefined, true]),
    );
    expect([paces.stored.size, demands]).toEqual([0, []]);
  });

  test('many codes of one job take turns like any other, in the queue of codes', async () => {
    const { ports, queued, codes } = fanOutWorld();
    await fannedOut(fanOutJob(11, { head: { urgent: true } }), ports);
    expect([queued.length, codes.map(({ turn }) => turn?.position)]).toEqual([
      0,
      Array.from({ length: 11 }, (_, at) => at),
    ]);
  });
});

function scheduleOf({ paces }: World) {
  const schedule = paces.stored.get(phone)?.schedule;
  if (schedule === undefined) throw new Error('nothing is reserved');
  return schedule;
}

describe('one person (platform reference, pair rate)', () => {
  test('gets 45 messages of a job at once, and then one in six seconds, which take no slot meanwhile', async () => {
    const recipients = Array.from({ length: 50 }, () => ({ to: '5491100000001' }));
    const { ports, queued, paces, watched } = fanOutWorld();
    await fannedOut(fanOutJob(50, { recipients }), ports);
    expect(queued.filter(({ turn }) => turn !== undefined)).toHaveLength(45);
    const waiting = queued
      .slice(45)
      .map(({ turn, notBeforeMs = 0, delaySeconds }) => [turn, notBeforeMs - fanOutStartMs, delaySeconds]);
    expect(waiting).toEqual([6, 12, 18, 24, 30].map((seconds) => [undefined, seconds * 1_000, seconds - 1]));
    expect(paces.stored.get(phone)?.schedule.nextPosition).toBe(45);
    expect(watched.map(({ delaySeconds }) => delaySeconds)).toEqual([35]);
  });
});

describe('the workers (D45)', () => {
  const limitOf = async () => 1_000;

  /** Another client wants as much of the workers. */
  const contended: FanOutPorts['demands'] = { tell: async (demand) => [demand, { ...demand, clientId: 1002 }] };

  test('are shared: a round releases what its client may use of them until the next', async () => {
    const { queued, rounds } = await allRounds(fanOutJob(3_000), {
      limitOf,
      demands: contended,
      workersPerSecond: 100,
    });
    expect(queued).toHaveLength(3_000);
    // 50 a second, ten seconds a round.
    expect(rounds).toBe(6);
  });

  test('are nobody else’s while a client is alone, and nobody waits where they suffice', async () => {
    expect((await allRounds(fanOutJob(3_000), { limitOf, workersPerSecond: 100 })).rounds).toBe(1);
    expect((await allRounds(fanOutJob(3_000), { limitOf, demands: contended, workersPerSecond: 1_800 })).rounds).toBe(
      1,
    );
  });

  test('are told what a client wants of a number, for as long as a round may take', async () => {
    const { ports, demands } = fanOutWorld({ limitOf: async () => 80 });
    await fannedOut(fanOutJob(100), ports);
    expect(demands).toEqual([{ clientId: 1001, phoneNumberId: phone, perSecond: 72, untilMs: fanOutStartMs + 20_000 }]);
  });
});

test.each([
  [1, 10],
  [20, 20],
  [80, 80],
  [200, 180],
  [1_000, 500],
])('at %i a second a wave is of %i', (perSecond, count) => {
  expect(waveCount(perSecond)).toBe(count);
});

test.each([
  [14, 1, 20_000, 10],
  [14, 0.01, 280_000, 60],
  [1_000, 0.1, 600_000, 60],
])(
  'with a slot every %d ms and a share of %d the horizon is %i ms, and the next round comes after %i s',
  (everyMs, share, ms, seconds) => {
    expect(horizonMs(everyMs, share)).toBeCloseTo(ms);
    expect(nextRoundSeconds(ms)).toBe(seconds);
  },
);

test.each([
  [0, 0],
  [1_999, 0],
  [2_000, 1],
  [5_999, 4],
  [2_000_000, 900],
])('a slot in %i ms is a delay of %i s', (aheadMs, seconds) => {
  expect(queueDelaySeconds(fanOutStartMs + aheadMs, fanOutStartMs)).toBe(seconds);
});

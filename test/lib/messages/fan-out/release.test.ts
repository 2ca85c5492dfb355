import { describe, expect, test } from 'vitest';
import type { SendJob } from '../../../../lib/messages/accept/send-job.ts';
import type { FanOutPorts } from '../../../../lib/messages/fan-out/fan-out.ts';
import { horizonMs, nextRoundSeconds, queueTimes, waveCount } from '../../../../lib/messages/rounds/horizon.ts';
import { unknownPace } from '../../../../lib/messages/pace/number-pace.ts';
import { slotMsOf, type Turn } from '../../../../lib/messages/pace/schedule.ts';
import { fannedOut, fanOutJob, fanOutStartMs, fanOutWorld, queueThat } from '../../../support/fan-out-world.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

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
    const sent = world.sentAgain.shift();
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
        const last = inOrder(world).at(-1)?.turn;
        ahead.push((slotMsOf(schedule, last as Turn) ?? 0) - world.clock.nowMs);
      },
    );
    expect(inOrder({ queued }).map(({ index }) => index)).toEqual(Array.from({ length: 5_000 }, (_, index) => index));
    expect(queued.map(({ turn }) => turn?.position)).toEqual(queued.map(({ index }) => index));
    // 5,000 at 72 a second are 69 s: a look every ten seconds, and never more than a batch beyond the twenty.
    expect(rounds).toBe(6);
    expect(Math.max(...ahead)).toBeLessThanOrEqual(20_139);
    expect(Math.min(...ahead.slice(0, -1))).toBeGreaterThanOrEqual(18_000);
    // Watched from when the last has left: 19.4 s after the last round.
    expect(watched.map(({ delaySeconds }) => delaySeconds)).toEqual([25]);
    expect(paces.stored.get(phone)?.schedule.nextPosition).toBe(5_000);
    // Nothing has come late: 0.05 ms a message.
    expect(paces.stored.get(phone)?.leadMs).toBe(850);
  });

  test('each waits in the queue until a moment before its slot', async () => {
    const clock = new VirtualClock(fanOutStartMs);
    const queuedMs: number[] = [];
    const { ports, queued, paces, accept } = fanOutWorld({
      ...{ limitOf: async () => 80, nowMs: clock.nowMs, pause: clock.pause },
      queue: queueThat(async (entries) => {
        for (const entry of entries) {
          accept(entry);
          queuedMs.push(clock.nowMs());
        }
        return [];
      }),
    });
    paces.stored.set(phone, { ...unknownPace, leadMs: 350 });
    await clock.run(fannedOut(fanOutJob(5_000), ports));
    const schedule = paces.stored.get(phone)?.schedule;
    for (const [at, { turn, delaySeconds }] of queued.entries()) {
      const slotMs = schedule === undefined || turn === undefined ? 0 : (slotMsOf(schedule, turn) ?? 0);
      const early = slotMs - ((queuedMs[at] ?? 0) + delaySeconds * 1_000);
      expect(early).toBeGreaterThanOrEqual(delaySeconds === 0 ? 0 : 349);
      // Beside the lead, what ten slots take: a batch comes together. What is due within a second comes at once.
      expect(early).toBeLessThan(350 + 126 + (delaySeconds === 0 ? 1_000 : 0));
    }
    // Four waves, and each waits for the right moments, a second at most.
    expect(clock.nowMs() - fanOutStartMs).toBeLessThan(4_000);
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
    const positions = inOrder({ queued }).map(({ turn }) => turn?.position);
    expect(positions).toEqual(Array.from({ length: 450 }, (_, at) => at));
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

/** As they stand in the job, whenever they were queued. */
function inOrder({ queued }: Pick<World, 'queued'>) {
  return queued.toSorted((one, other) => one.index - other.index);
}

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
    expect(waiting).toEqual([6, 12, 18, 24, 30].map((seconds) => [undefined, seconds * 1_000, seconds]));
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
  [1_999, 14, 1, 0],
  [2_000, 1_000, 0.1, 10],
  [20_000, 14, 1, 500],
  [5_600, 14, 1, 400],
  [5_601, 14, 1, 410],
  [280_000, 14, 0.01, 200],
  [20_000, 56, 1, 130],
  [20_000, 1_111, 1, 10],
  [20_000, 1.2, 1, 500],
])('for %i ms with a slot every %d ms and a share of %d a wave is of %i', (withinMs, everyMs, share, count) => {
  expect(waveCount(withinMs, everyMs, share)).toBe(count);
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

describe('when a wave is given to its queue', () => {
  const nowMs = fanOutStartMs;
  const slotsOf = (count: number, everyMs: number) => Array.from({ length: count }, (_, at) => nowMs + at * everyMs);

  test('each batch at the moment from which whole seconds lead to its time; at once what is due within them', () => {
    const slots = slotsOf(500, 14);
    const times = queueTimes(slots, nowMs, 350);
    for (const [at, { queueAtMs, delaySeconds }] of times.entries()) {
      const firstMs = slots[at - (at % 10)] ?? 0;
      const earlyMs = firstMs - (queueAtMs + 1_000 * delaySeconds);
      if (firstMs - nowMs < 1_350) expect([queueAtMs, delaySeconds]).toEqual([nowMs, 0]);
      else expect(earlyMs).toBeCloseTo(350);
      expect(queueAtMs - nowMs).toBeLessThan(1_000);
    }
    expect(new Set(times.map(({ queueAtMs }) => queueAtMs)).size).toBeGreaterThan(30);
  });

  test.each([
    ['a short wave', slotsOf(140, 14)],
    ['slots of which ten take longer than a second', slotsOf(100, 200)],
  ])('%s: all of it at once, for it would not be worth the wait', (_, slots) => {
    const times = queueTimes(slots, nowMs, 350);
    expect(times.every(({ queueAtMs }) => queueAtMs === nowMs)).toBe(true);
    expect(times.at(-1)?.delaySeconds).toBeGreaterThan(0);
  });
});

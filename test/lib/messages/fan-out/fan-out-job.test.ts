import { describe, expect, test } from 'vitest';
import { deliveryLeadMs } from '../../../../lib/messages/dispatch/chunk-time.ts';
import { claimed } from '../../../../lib/messages/dispatch/claims/slice.ts';
import type { JobStop } from '../../../../lib/messages/job-state.ts';
import type { Lot } from '../../../../lib/messages/lots.ts';
import { PaceContended } from '../../../../lib/messages/pace/number-paces.ts';
import { slotMsOf } from '../../../../lib/messages/pace/schedule.ts';
import { countedBy } from '../../../support/counted.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { fanOutWorld, nowMs, upTo } from './fan-out-world.ts';

const facts = { jobId: 'J', clientId: 1001 };
const sent = { ...facts, acceptedAtMs: nowMs };
const phone = '300000000000001';
const stopped: JobStop = { state: 'failed', code: 'cancelled', reason: 'told', atMs: nowMs };

test.each([1, 11, 30, 31, 600, 10_000])(
  '%i recipients are in the chunks once each, and the job is watched',
  async (count) => {
    const { fannedOut, indexes, watched, logged, queued } = fanOutWorld(count);
    expect(await fannedOut()).toBe('done');
    expect(indexes()).toEqual(upTo(count));
    expect(queued.every(({ slices }) => slices.flatMap(({ recipients }) => recipients).length <= 30)).toBe(true);
    expect([watched.length, logged]).toEqual([1, [['job.fanned_out', { ...facts, count }]]]);
  },
);

test('a job is released as far as the horizon, round after round, and then watched from when the last can have left', async () => {
  const clock = { nowMs };
  const world = fanOutWorld(5_000, { limitOf: async () => 80, nowMs: () => clock.nowMs });
  const { fannedOut, sentAgain, queued, paces, watched, indexes } = world;
  const ahead: number[] = [];
  let rounds = 0;
  for (let next: (typeof sentAgain)[number] | undefined = { message: sent, delaySeconds: 0 }; next !== undefined; ) {
    clock.nowMs += next.delaySeconds * 1_000;
    await fannedOut(next.message);
    rounds += 1;
    const schedule = paces.stored.get(phone)?.schedule;
    const positions = queued.flatMap(({ slices }) =>
      slices.map(({ position = 0, recipients }) => position + recipients.length - 1),
    );
    const last = { lane: 'J', clientId: 1001, position: Math.max(...positions) };
    if (schedule !== undefined) ahead.push((slotMsOf(schedule, last) ?? 0) - clock.nowMs);
    next = sentAgain.shift();
  }
  expect(indexes()).toEqual(upTo(5_000));
  // 5,000 messages at 72 a second take 69 s. The fan-out looks every ten seconds and queues at most a chunk beyond
  // twenty seconds.
  expect(rounds).toBe(6);
  expect(Math.max(...ahead)).toBeLessThanOrEqual(20_000 + 30 * 14);
  expect(Math.min(...ahead.slice(0, -1))).toBeGreaterThanOrEqual(18_000);
  expect(watched.map(({ delaySeconds }) => delaySeconds)).toEqual([5 + Math.ceil((ahead.at(-1) ?? 0) / 1_000)]);
});

test('its recipients are read once, and it begins once', async () => {
  const { fannedOut, ports, indexes, sentAgain } = fanOutWorld(1_700, { limitOf: async () => 80 });
  const asked: unknown[] = [];
  const jobs: typeof ports.jobs = {
    ...ports.jobs,
    begin: async (job) => {
      asked.push('begin');
      return await ports.jobs.begin(job);
    },
    recipientsFrom: async (...from) => {
      asked.push(from[1]);
      return await ports.jobs.recipientsFrom(...from);
    },
  };
  await fannedOut({}, { jobs });
  expect(asked).toEqual(['begin', 0, 500, 1_000]);
  asked.length = 0;
  const released = indexes().length;
  await fannedOut(sentAgain[0]?.message, { jobs, nowMs: () => nowMs + 10_000 });
  expect(asked).toEqual([released, 1_500]);
});

test('each chunk comes before the first slot of its slices', async () => {
  const { fannedOut, queued, paces } = fanOutWorld(400, { limitOf: async () => 80 });
  await fannedOut();
  const schedule = paces.stored.get(phone)?.schedule;
  for (const { slices, lane, delaySeconds } of queued) {
    const slots = slices.map(({ position = 0 }) => schedule && slotMsOf(schedule, { clientId: 1001, lane, position }));
    const first = Math.min(...slots.map((slotMs) => slotMs ?? 0));
    expect(delaySeconds).toBe(Math.max(0, Math.floor((first - deliveryLeadMs - nowMs) / 1_000)));
  }
  expect(queued.at(-1)?.delaySeconds).toBeGreaterThan(2);
});

test('a job that was never stored, or was taken back, is dropped with a word to the operator (D25)', async () => {
  const { fannedOut, table, queued, watched, logged } = fanOutWorld(20);
  expect(await fannedOut({ jobId: 'K' })).toBe('done');
  table.jobs.set('J', { withdrawn: true });
  expect(await fannedOut()).toBe('done');
  expect([queued, watched]).toEqual([[], []]);
  expect(logged).toEqual([
    ['job.never_accepted', { ...facts, jobId: 'K' }],
    ['job.withdrawn', facts],
  ]);
});

describe('persons and messages', () => {
  test('a person of whom there are many waits after the 45th message, six seconds more for each', async () => {
    const { fannedOut, recipientsQueued } = fanOutWorld(Array.from({ length: 48 }, () => ({ to: '5491100000001' })));
    await fannedOut();
    const waits = recipientsQueued().map(({ notBeforeMs }) => notBeforeMs && notBeforeMs - nowMs);
    expect(waits).toEqual([...Array(45).fill(undefined), 6_000, 12_000, 18_000]);
  });

  test('what cannot be composed, or is larger than any message, is carried without its request and logged', async () => {
    const { fannedOut, recipientsQueued, logged } = fanOutWorld(30, {
      compose: (_, { to }) => {
        if (to.endsWith('7')) throw new TypeError('bug');
        // Each of these letters takes twelve bytes in the queue.
        return { to, text: to.endsWith('8') ? '🙂'.repeat(9_000) : '' };
      },
    });
    await fannedOut();
    const without = recipientsQueued().filter(({ request }) => request === undefined);
    expect(without.map(({ index }) => index)).toEqual([7, 8, 17, 18, 27, 28]);
    expect(without[0]?.to).toBe('5490000000007');
    const failures = logged
      .filter(([event]) => event === 'job.not_composable')
      .map(([, { dispatchId, error }]) => [dispatchId, error]);
    expect(failures.slice(0, 2)).toEqual([
      ['J-7', 'TypeError'],
      ['J-8', 'MessageTooLarge'],
    ]);
  });
});

describe('rounds', () => {
  test.each([
    [45_000, 45],
    [1_001, 2],
    [-5_000, 1],
  ])('one that another run holds for %i ms more is tried again after %i s', async (leftMs, delaySeconds) => {
    const { fannedOut, ports, sentAgain, queued } = fanOutWorld(20);
    const take = async () => ({ kind: 'held', untilMs: nowMs + leftMs }) as const;
    expect(await fannedOut({ round: 3, parkedSeconds: 7 }, { jobs: { ...ports.jobs, take } })).toBe('done');
    const message = { ...sent, round: 3, parkedSeconds: 7 };
    expect([sentAgain, queued]).toEqual([[{ message, delaySeconds }], []]);
  });

  test('time that runs out between waves ends one: what is left comes at once, and goes on there', async () => {
    const left = [60_000, 15_000, 14_999];
    const { fannedOut, sentAgain, indexes } = fanOutWorld(5_000, { remainingMs: () => left.shift() ?? 60_000 });
    await fannedOut();
    expect(sentAgain).toEqual([{ message: { ...sent, round: 1 }, delaySeconds: 0 }]);
    const released = indexes().length;
    expect(released).toBeLessThan(5_000);
    await fannedOut(sentAgain[0]?.message);
    expect(indexes()).toEqual(upTo(5_000));
  });

  test.each([{}, { stop: stopped }, { parked: { code: 'template_paused', scope: 'template', sinceMs: 0 } }] as const)(
    'a run whose round was taken from it leaves its message to the queue, and queues nothing (%#)',
    async (state) => {
      const { fannedOut, ports, table, queued, watched, sentAgain } = fanOutWorld(20);
      table.states.set('J', state);
      expect(await fannedOut({}, { jobs: { ...ports.jobs, announce: async () => undefined } })).toBe('again');
      expect([queued, watched, sentAgain]).toEqual([[], [], []]);
    },
  );

  test('a run whose round was taken from it at its end leaves its message to the queue', async () => {
    const { fannedOut, ports } = fanOutWorld(20);
    const others = { ...ports.jobs, handOver: async () => false };
    expect(await fannedOut({}, { jobs: others })).toBe('again');
  });

  test('a queue that breaks down fails the run; the next one queues the same wave in the same slots', async () => {
    const { fannedOut, queued, indexes } = fanOutWorld(600);
    const broken = {
      pack: (entries: readonly never[]) => [[...entries]],
      sendBatch: () => Promise.reject(new Error('down')),
    };
    await expect(fannedOut({}, { queue: broken })).rejects.toThrow('down');
    expect(await fannedOut()).toBe('done');
    expect(indexes()).toEqual(upTo(600));
    expect(Math.min(...queued.flatMap(({ slices }) => slices.map(({ position = 0 }) => position)))).toBe(0);
  });

  test('a wave that was announced is queued by the next run as it was announced, however little may be released then', async () => {
    const { ports, fannedOut, queued, sentAgain, indexes } = fanOutWorld(5_000, { limitOf: async () => 80 });
    const sendBatch: typeof ports.queue.sendBatch = async (entries) => {
      // Two waves are queued and a third is announced.
      if (indexes().length >= 1_020) throw new Error('down');
      return await ports.queue.sendBatch(entries);
    };
    await expect(fannedOut({}, { queue: { ...ports.queue, sendBatch } })).rejects.toThrow('down');
    expect(indexes()).toEqual(upTo(1_020));
    expect(await fannedOut()).toBe('done');
    const released = indexes().length;
    expect([released > 1_020, released < 1_530, sentAgain.length]).toEqual([true, true, 1]);
    const places = queued.flatMap(({ slices }) =>
      slices.map(({ position, recipients }) => [recipients[0]?.index, position]),
    );
    expect(places.every(([index, position]) => index === position)).toBe(true);
    expect(indexes()).toEqual(upTo(released));
  });

  test('a failed run that cannot let go of its round fails as it did, and logs it', async () => {
    const { fannedOut, ports, logged } = fanOutWorld(20);
    const jobs = { ...ports.jobs, handOver: () => Promise.reject(new TypeError('no table')) };
    await expect(fannedOut({}, { jobs })).rejects.toThrow('no table');
    expect(logged.at(-1)).toEqual(['job.round_not_released', { ...facts, error: 'TypeError' }]);
  });

  test('a delivery is held while it is worked off', async () => {
    const clock = new VirtualClock(nowMs);
    const slow = {
      pack: (entries: readonly never[]) => [[...entries]],
      sendBatch: async () => {
        await clock.pause(8_000);
        return [];
      },
    };
    const { fannedOut, holds } = fanOutWorld(9_000, {
      nowMs: clock.nowMs,
      pause: clock.pause,
      remainingMs: () => 200_000,
      queue: slow,
    });
    await clock.run(fannedOut());
    const [first, ...later] = holds.map((ms) => ms - nowMs);
    expect([first, later.length > 0]).toEqual([0, true]);
    expect(later.every((ms, at) => ms - (later[at - 1] ?? 0) > 20_000)).toBe(true);
  });
});

describe('a number on which many reserve at the same moment', () => {
  test.each([
    [0, 2],
    [0.999, 9],
  ])('makes the round come again after a few seconds, and uses up no delivery (%d)', async (random, delaySeconds) => {
    const { fannedOut, paces, queued, sentAgain, logged, indexes } = fanOutWorld(30, { random: () => random });
    const contended = { ...paces, change: () => Promise.reject(new PaceContended()) };
    expect(await fannedOut({}, { paces: contended })).toBe('done');
    expect([queued, sentAgain]).toEqual([[], [{ message: { ...sent, round: 1 }, delaySeconds }]]);
    expect(logged).toEqual([['job.number_contended', { count: 30 }]]);
    await fannedOut(sentAgain[0]?.message);
    expect(indexes()).toEqual(upTo(30));
  });

  test('in the middle of a job says how many wait', async () => {
    const { fannedOut, paces, logged, indexes } = fanOutWorld(1_000, { limitOf: async () => 80 });
    const change: typeof paces.change = async (...how) => {
      if (indexes().length > 0) throw new PaceContended();
      return await paces.change(...how);
    };
    await fannedOut({}, { paces: { ...paces, change } });
    expect(logged).toEqual([['job.number_contended', { count: 490 }]]);
  });

  test('is not what another error looks like: that fails the run', async () => {
    const { fannedOut, paces, sentAgain } = fanOutWorld(30);
    const broken = { ...paces, change: () => Promise.reject(new Error('no table')) };
    await expect(fannedOut({}, { paces: broken })).rejects.toThrow('no table');
    expect(sentAgain).toEqual([]);
  });
});

describe('a stopped job (D46, D53)', () => {
  test('queues nothing: each recipient ends as the stop says, and is told so once', async () => {
    const { fannedOut, table, queued, events, watched } = fanOutWorld(1_203, {}, { correlationId: 'C' });
    table.states.set('J', { stop: stopped });
    expect(await countedBy(async () => expect(await fannedOut()).toBe('done'))).toMatchObject([
      { MessagesFailed: 1_203 },
    ]);
    expect([queued, watched.length, table.slices.size]).toEqual([[], 1, 121]);
    const outcomes = [...table.slices.values()].flatMap((slice) => slice.outcomes);
    expect(outcomes).toEqual(Array(1_203).fill({ state: 'failed', code: 'cancelled', reason: 'told' }));
    // This owner never changes between releases: a repeated run recognizes its own endings by it.
    expect(new Set([...table.slices.values()].map(({ owner }) => owner))).toEqual(new Set(['fan-out']));
    expect(new Set(events.sent.map(({ id }) => id)).size).toBe(1_203);
    expect(events.sent).toHaveLength(1_203);
    const last = events.sent.find(({ data }) => 'message_id' in data && data.message_id === 'J-1202');
    expect(last).toMatchObject({
      type: 'message.failed',
      correlationId: 'C',
      data: { to: '5490000001202', code: 'cancelled', reason: 'told' },
    });
  });

  test('that is stopped on the way queues no further wave: not even the one that it has announced', async () => {
    const { fannedOut, ports, table, indexes } = fanOutWorld(5_000);
    let waves = 0;
    const announce: typeof ports.jobs.announce = async (...call) => {
      waves += 1;
      if (waves === 2) table.states.set('J', { stop: stopped });
      return await ports.jobs.announce(...call);
    };
    await fannedOut({}, { jobs: { ...ports.jobs, announce } });
    const released = indexes().length;
    expect(indexes()).toEqual(upTo(released));
    expect(table.slices.size).toBe((5_000 - released) / 10);
  });

  test('leaves to its worker a slice that a worker has, of a wave that was queued and not remembered', async () => {
    const { fannedOut, table, events } = fanOutWorld(30);
    table.states.set('J', { stop: stopped });
    const key = { jobId: 'J', slice: 1 };
    const own = claimed(undefined, { key, try: 0, owner: 'worker', atMs: nowMs, size: 10 });
    table.slices.set('J 1', own);
    await fannedOut();
    expect(table.find(key)).toEqual(own);
    expect(events.sent).toHaveLength(20);
  });

  test.each([{}, { stop: stopped }])('whose recipients are gone fails, and is delivered again (%#)', async (state) => {
    const { fannedOut, ports, table, events } = fanOutWorld(30);
    table.states.set('J', state);
    const recipientsFrom = async () => [];
    await expect(fannedOut({}, { jobs: { ...ports.jobs, recipientsFrom } })).rejects.toThrow('gone');
    expect(events.sent).toEqual([]);
  });

  test('is told again, under the same ids, when that could not be told: and a run that has failed ends nothing more', async () => {
    const { fannedOut, table, events } = fanOutWorld(203);
    table.states.set('J', { stop: stopped });
    events.broken = true;
    await expect(fannedOut()).rejects.toThrow('event queue');
    const ended = new Map(table.slices);
    expect(ended.size).toBe(10);
    events.broken = false;
    await fannedOut();
    expect([new Set(events.sent.map(({ id }) => id)).size, events.sent.length]).toEqual([203, 203]);
    expect([...ended].every(([name, slice]) => table.slices.get(name) === slice)).toBe(true);
  });
});

describe('a parked job (D46)', () => {
  const parked = { code: 'template_paused', scope: 'template', sinceMs: nowMs - 120_000 } as const;

  test('goes on circulating, and when it has resumed waits once more as long', async () => {
    const { fannedOut, table, queued, sentAgain, indexes } = fanOutWorld(20);
    table.states.set('J', { parked });
    await fannedOut();
    expect(sentAgain).toEqual([{ message: { ...sent, round: 1, parkedSeconds: 30 }, delaySeconds: 30 }]);
    table.states.set('J', {});
    await fannedOut(sentAgain[0]?.message);
    expect([sentAgain[1], queued]).toEqual([{ message: { ...sent, round: 2 }, delaySeconds: 30 }, []]);
    await fannedOut(sentAgain[1]?.message);
    expect(indexes()).toEqual(upTo(20));
  });

  test('that nobody has ended expires after a day', async () => {
    const { fannedOut, table, events } = fanOutWorld(20, { nowMs: () => parked.sinceMs + 24 * 3_600_000 });
    table.states.set('J', { parked });
    await fannedOut();
    expect(events.sent.map(({ type }) => type)).toEqual(Array(20).fill('message.expired'));
    expect(table.states.get('J')?.stop).toMatchObject({ state: 'expired', code: 'template_paused' });
  });

  test('that is cancelled at that moment ends as its client was told', async () => {
    const { fannedOut, table, events } = fanOutWorld(20, { nowMs: () => parked.sinceMs + 24 * 3_600_000 });
    table.states.set('J', { parked });
    const cancelled = { state: 'failed', code: 'cancelled', atMs: nowMs } as const;
    const stop = async () => {
      table.states.set('J', { stop: cancelled });
      return false;
    };
    await fannedOut({}, { states: { stop } });
    expect(events.sent.map(({ type, data }) => [type, 'code' in data && data.code])).toEqual(
      Array(20).fill(['message.failed', 'cancelled']),
    );
  });
});

test('a recipient who was erased before the fan-out is in a chunk without address and request (D60)', async () => {
  const world = fanOutWorld(12);
  const recipientsFrom: typeof world.ports.jobs.recipientsFrom = async (jobId, first) =>
    (await world.ports.jobs.recipientsFrom(jobId, first)).map((recipient, at) => (first + at === 11 ? {} : recipient));
  await world.fannedOut(sent, { jobs: { ...world.ports.jobs, recipientsFrom } });
  expect(world.indexes()).toEqual(upTo(12));
  expect(world.recipientsQueued()[11]).toEqual({ index: 11 });
});

describe('a job with a time of its own (D56)', () => {
  const when = { asked: {}, fromMs: nowMs };
  const hour = 3_600_000;
  const open = [[nowMs, nowMs + hour]] as const;
  const later = [[nowMs + hour, nowMs + 2 * hour]] as const;
  const worldOf = (total: number, lots: readonly Lot[]) => fanOutWorld(total, {}, { when }, { lots });

  test('releases what is open, ends what opens no more, and comes again when the rest opens', async () => {
    const { fannedOut, indexes, events, table, sentAgain, watched } = worldOf(60, [
      { until: 20, open: later },
      { until: 40, open: [] },
      { until: 60, open },
    ]);
    expect(await fannedOut()).toBe('done');
    expect(indexes()).toEqual(upTo(60, 40));
    expect(events.sent.map(({ type, data }) => [type, 'code' in data && data.code])).toEqual(
      Array(20).fill(['message.expired', 'expired']),
    );
    expect(table.jobs.get('J')).toMatchObject({
      progress: { queued: 40, ofStretches: [0, 20, 20] },
      round: { round: 1, dueMs: nowMs + 900_000 },
    });
    expect([sentAgain, watched]).toEqual([[{ message: { ...sent, round: 1 }, delaySeconds: 900 }], []]);
    await fannedOut(sentAgain[0]?.message, { nowMs: () => nowMs + hour });
    expect([indexes(), watched.length, table.scheduled.size]).toEqual([[...upTo(20), ...upTo(60, 40)], 1, 0]);
  });

  test('a slice in which lots meet waits for the first of them, and of those that are not over: nothing of it is released early', async () => {
    const both = worldOf(20, [
      { until: 13, open: later },
      { until: 20, open },
    ]);
    await both.fannedOut();
    expect([both.indexes(), both.events.sent]).toEqual([upTo(20, 10), []]);
    expect(both.queued[0]?.lots).toEqual([
      { until: 13, open: later },
      { until: 20, open },
    ]);
    const over = worldOf(20, [
      { until: 13, open: [] },
      { until: 20, open: later },
    ]);
    await over.fannedOut();
    expect([over.indexes(), over.events.sent.length]).toEqual([[], 10]);
    await over.fannedOut(over.sentAgain[0]?.message, { nowMs: () => later[0]?.[0] ?? 0 });
    expect([over.indexes(), over.events.sent.length]).toEqual([upTo(20, 10), 10]);
  });

  test('nothing is released in the last five seconds of an opening, and what does not fit before waits', async () => {
    const lots = [{ until: 600, open: [[nowMs, nowMs + 10_000] as const, ...later] }];
    const { fannedOut, indexes, sentAgain } = fanOutWorld(600, { limitOf: async () => 80 }, { when }, { lots });
    await fannedOut();
    // 5 s at 72 a second.
    expect(indexes()).toEqual(upTo(360));
    await fannedOut(sentAgain[0]?.message, { nowMs: () => nowMs + 5_000 });
    expect(indexes()).toEqual(upTo(360));
  });

  test('what has ended as expired is told so after a stop as well', async () => {
    const { fannedOut, table, events } = worldOf(20, [
      { until: 10, open: [] },
      { until: 20, open: later },
    ]);
    events.broken = true;
    await expect(fannedOut()).rejects.toThrow('event queue');
    events.broken = false;
    table.states.set('J', { stop: stopped });
    await fannedOut();
    const told = events.sent.map(({ type, data }) => [type, 'code' in data && data.code]);
    expect(told).toEqual([
      ...Array(10).fill(['message.expired', 'expired']),
      ...Array(10).fill(['message.failed', 'cancelled']),
    ]);
  });

  test('that is parked while nothing is open waits for its opening', async () => {
    const { fannedOut, table, sentAgain } = worldOf(20, [{ until: 20, open: later }]);
    table.states.set('J', { parked: { code: 'template_paused', scope: 'template', sinceMs: nowMs } });
    await fannedOut();
    expect(sentAgain).toEqual([{ message: { ...sent, round: 1 }, delaySeconds: 900 }]);
  });
});

import { describe, expect, test } from 'vitest';
import type { DispatchStop } from '../../../../lib/messages/dispatch/item.ts';
import { PaceContended } from '../../../../lib/messages/pace/number-paces.ts';
import { slotMsOf } from '../../../../lib/messages/pace/schedule.ts';
import { deliveryLeadMs } from '../../../../lib/messages/send/chunk-time.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { fanOutWorld, nowMs, upTo } from './fan-out-world.ts';

const facts = { dispatchId: 'J', clientId: 1001 };

const sent = { ...facts, acceptedAtMs: nowMs };

const phone = '300000000000001';

const stopped: DispatchStop = { state: 'failed', code: 'cancelled', reason: 'told', atMs: nowMs };

test.each([1, 11, 30, 31, 600, 10_000])(
  '%i recipients are in the chunks once each, and the dispatch is watched',
  async (count) => {
    const { fannedOut, indexes, watched, logged, queued } = fanOutWorld(count);
    expect(await fannedOut()).toBe('done');
    expect(indexes()).toEqual(upTo(count));
    expect(queued.every(({ slices }) => slices.flatMap(({ recipients }) => recipients).length <= 30)).toBe(true);
    expect([watched.length, logged]).toEqual([1, [['dispatch.fanned_out', { ...facts, count }]]]);
  },
);

test('a dispatch is released as far as the horizon, round after round, and then watched from when the last can have left', async () => {
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

test('its recipients are read once, and it is listed once, before anything leaves (D40)', async () => {
  const { fannedOut, ports, indexes, sentAgain } = fanOutWorld(1_700, { limitOf: async () => 80 });
  const asked: unknown[] = [];
  const dispatches: typeof ports.dispatches = {
    ...ports.dispatches,
    list: async () => void asked.push('list'),
    recipientsFrom: async (...from) => {
      asked.push(from[1]);
      return await ports.dispatches.recipientsFrom(...from);
    },
  };
  await fannedOut({}, { dispatches });
  expect(asked).toEqual(['list', 0, 500, 1_000]);
  asked.length = 0;
  const released = indexes().length;
  await fannedOut(sentAgain[0]?.message, { dispatches, nowMs: () => nowMs + 10_000 });
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

test('a dispatch that was never stored, has not begun, or was taken back, is dropped (D25)', async () => {
  const { fannedOut, table, queued, watched, logged } = fanOutWorld(20);
  expect(await fannedOut({ dispatchId: 'K' })).toBe('done');
  for (const item of [{}, { withdrawnAtMs: 1 }]) {
    table.dispatches.set('J', item);
    expect(await fannedOut()).toBe('done');
  }
  expect([queued, watched]).toEqual([[], []]);
  expect(logged).toEqual([['dispatch.never_accepted', { ...facts, dispatchId: 'K' }]]);
});

describe('persons and messages', () => {
  test('a person with many messages waits after the 45th, six seconds more for each', async () => {
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
      .filter(([event]) => event === 'dispatch.not_composable')
      .map(([, { messageId, error }]) => [messageId, error]);
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
    expect(await fannedOut({ round: 3, parkedSeconds: 7 }, { dispatches: { ...ports.dispatches, take } })).toBe('done');
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
      expect(await fannedOut({}, { dispatches: { ...ports.dispatches, announce: async () => undefined } })).toBe(
        'again',
      );
      expect([queued, watched, sentAgain]).toEqual([[], [], []]);
    },
  );

  test('a run whose round was taken from it at its end leaves its message to the queue', async () => {
    const { fannedOut, ports } = fanOutWorld(20);
    const others = { ...ports.dispatches, handOver: async () => false };
    expect(await fannedOut({}, { dispatches: others })).toBe('again');
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
    const dispatches = { ...ports.dispatches, handOver: () => Promise.reject(new TypeError('no table')) };
    await expect(fannedOut({}, { dispatches })).rejects.toThrow('no table');
    expect(logged.at(-1)).toEqual(['dispatch.round_not_released', { ...facts, error: 'TypeError' }]);
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
    expect(logged).toEqual([['dispatch.number_contended', { count: 30 }]]);
    await fannedOut(sentAgain[0]?.message);
    expect(indexes()).toEqual(upTo(30));
  });

  test('in the middle of a dispatch says how many wait', async () => {
    const { fannedOut, paces, logged, indexes } = fanOutWorld(1_000, { limitOf: async () => 80 });
    const change: typeof paces.change = async (...how) => {
      if (indexes().length > 0) throw new PaceContended();
      return await paces.change(...how);
    };
    await fannedOut({}, { paces: { ...paces, change } });
    expect(logged).toEqual([['dispatch.number_contended', { count: 490 }]]);
  });

  test('is not what another error looks like: that fails the run', async () => {
    const { fannedOut, paces, sentAgain } = fanOutWorld(30);
    const broken = { ...paces, change: () => Promise.reject(new Error('no table')) };
    await expect(fannedOut({}, { paces: broken })).rejects.toThrow('no table');
    expect(sentAgain).toEqual([]);
  });
});

test('a recipient who was erased before the fan-out is in a chunk without address and request (D60)', async () => {
  const world = fanOutWorld(12);
  const recipientsFrom: typeof world.ports.dispatches.recipientsFrom = async (dispatchId, first) =>
    (await world.ports.dispatches.recipientsFrom(dispatchId, first)).map((recipient, at) =>
      first + at === 11 ? {} : recipient,
    );
  await world.fannedOut(sent, { dispatches: { ...world.ports.dispatches, recipientsFrom } });
  expect(world.indexes()).toEqual(upTo(12));
  expect(world.recipientsQueued()[11]).toEqual({ index: 11 });
});

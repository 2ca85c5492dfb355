import { describe, expect, test } from 'vitest';
import { placeMessages } from '../../../../lib/messages/dispatch/place-messages.ts';
import type { Placed } from '../../../../lib/messages/dispatch/slots.ts';
import type { DispatchMessage } from '../../../../lib/messages/job.ts';
import { recipientHashOf, unknownPace, withBlocked } from '../../../../lib/messages/pace/number-pace.ts';
import { reserve } from '../../../../lib/messages/pace/reserve.ts';
import { dispatchMessage, startMs } from '../../../faults/scenario-job.ts';
import { memoryPaces, memoryTenths } from '../../../support/memory-paces.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const number = dispatchMessage(0).phoneNumberId;
/** 72 a second are 90 % of 80. */
const everyMs = 1_000 / 72;

class Numbers {
  readonly clock = new VirtualClock(startMs);
  readonly stored = memoryPaces();
  readonly tenths = memoryTenths();
  readonly logged: string[] = [];
  reads = 0;
  writes = 0;
  readonly paces: ReturnType<typeof memoryPaces> = {
    stored: this.stored.stored,
    find: async (phoneNumberId) => {
      this.reads += 1;
      return await this.stored.find(phoneNumberId);
    },
    change: async (...args) => {
      this.writes += 1;
      return await this.stored.change(...args);
    },
  };

  async place(messages: readonly DispatchMessage[], paces = this.paces): Promise<Placed[]> {
    const { nowMs, pause } = this.clock;
    const log = (event: string) => void this.logged.push(event);
    return await this.clock.run(
      Promise.all(placeMessages(messages, { paces, tenths: this.tenths, nowMs, pause, log })),
    );
  }

  /** Messages of a job whose fan-out has reserved for them. */
  async withTurns(count: number, lane = 'job-1', clientId = 1001): Promise<DispatchMessage[]> {
    const wanted = { phoneNumberId: number, limitPerSecond: 80, clientId, lane, count };
    const { firstPosition } = await reserve(this.stored, wanted, this.clock.nowMs());
    return Array.from({ length: count }, (_, at) =>
      dispatchMessage(at, { clientId, turn: { clientId, lane, position: firstPosition + at } }),
    );
  }
}

function slotsOf(placed: readonly Placed[]): number[] {
  return placed.map((each) => (each.kind === 'slot' ? each.slotMs : Number.NaN));
}

test('ten messages with turns of this moment: one read, no write, claimed together 50 ms before the first', async () => {
  const numbers = new Numbers();
  const placed = await numbers.place(await numbers.withTurns(10));
  expect(slotsOf(placed)).toEqual(Array.from({ length: 10 }, (_, at) => Math.floor(startMs + at * everyMs)));
  expect(new Set(placed.map((each) => each.kind === 'slot' && each.claimAtMs))).toEqual(new Set([startMs - 50]));
  expect([numbers.reads, numbers.writes]).toEqual([1, 0]);
});

test('ten messages without turns reserve at once in one write, and carry their turns', async () => {
  const numbers = new Numbers();
  const placed = await numbers.place(Array.from({ length: 10 }, (_, index) => dispatchMessage(index)));
  expect(slotsOf(placed)).toEqual(Array.from({ length: 10 }, (_, at) => Math.floor(startMs + at * everyMs)));
  expect(placed.map(({ message }) => message.turn?.lane)).toEqual(Array(10).fill('*'));
  expect([numbers.reads, numbers.writes]).toEqual([1, 1]);
});

test('two jobs and a request with few recipients on one number: one write, and they take turns', async () => {
  const numbers = new Numbers();
  const ofJob = (lane: string, clientId: number) => ({ clientId, turn: { clientId, lane, position: 900 } });
  const placed = await numbers.place([
    dispatchMessage(0, ofJob('job-1', 1001)),
    dispatchMessage(1, ofJob('job-1', 1001)),
    dispatchMessage(0, { ...ofJob('job-2', 1002), jobId: 'K' }),
    dispatchMessage(0, { clientId: 1003, jobId: 'L' }),
  ]);
  expect([numbers.reads, numbers.writes]).toEqual([1, 1]);
  expect(new Set(slotsOf(placed)).size).toBe(4);
  expect(placed.map(({ message }) => message.turn?.lane)).toEqual(['job-1', 'job-1', 'job-2', '*']);
});

test('messages of two numbers are placed side by side', async () => {
  const numbers = new Numbers();
  const placed = await numbers.place([dispatchMessage(0), dispatchMessage(1, { phoneNumberId: 'another' })]);
  expect(slotsOf(placed)).toEqual([startMs, startMs]);
  expect(numbers.reads).toBe(2);
});

test.each([
  ['just not passed', 75, 'kept'],
  ['passed', 76, 'reserved anew'],
])('a slot that has %s is %3$s: it is no licence (D43)', async (_, afterMs, what) => {
  const numbers = new Numbers();
  const [message = dispatchMessage(0)] = await numbers.withTurns(1);
  await numbers.clock.run(numbers.clock.pause(afterMs));
  const [placed] = await numbers.place([message]);
  expect(placed).toMatchObject({ slotMs: what === 'kept' ? startMs : startMs + afterMs });
  expect(placed?.message.turn?.lane).toBe('job-1');
  expect(numbers.writes).toBe(what === 'kept' ? 0 : 1);
});

describe('a delivery behind its slot makes the lead of its number longer, in the write that reserves anew', () => {
  /** A slot five seconds after its job was accepted, met so long after it. */
  async function leadAfter(lateMs: number, changes: Partial<DispatchMessage> = {}): Promise<number | undefined> {
    const numbers = new Numbers();
    const [last = dispatchMessage(0)] = (await numbers.withTurns(72 * 5 + 1)).slice(-1);
    const pace = numbers.stored.stored.get(number) ?? unknownPace;
    numbers.stored.stored.set(number, { ...pace, leadMs: 500 });
    await numbers.clock.run(numbers.clock.pause(5_000 + lateMs));
    const message = { ...last, acceptedAtMs: startMs, ...changes };
    const [placed] = await numbers.place([message, { ...message, index: 1 }]);
    expect([placed?.kind, numbers.reads, numbers.writes]).toEqual(['slot', 1, lateMs > 75 ? 1 : 0]);
    return numbers.stored.stored.get(number)?.leadMs;
  }

  test('once a batch', async () => {
    expect(await leadAfter(76)).toBe(600);
    expect(await leadAfter(1_900)).toBe(600);
  });

  test.each([
    ['in time', 75, {}],
    ['so late that it is a copy, or was held by a worker that died', 2_001, {}],
    ['that was tried before', 500, { attempt: 1 }],
    ['that has missed a slot in the hands of a worker', 500, { missedSlots: 1 }],
    ['that was queued without a delay', 500, { acceptedAtMs: startMs + 2_001 }],
  ])('not one %s', async (_, lateMs, changes) => {
    expect(await leadAfter(lateMs, changes)).toBe(500);
  });
});

describe('a slot that is to come', () => {
  test.each([
    [72 * 2, 'slot'],
    [72 * 4, 'slot'],
    [72 * 4 + 1, 'later'],
  ])('after %i others: %s', async (others, kind) => {
    const numbers = new Numbers();
    const message = (await numbers.withTurns(others + 1)).at(-1) ?? dispatchMessage(0);
    const [placed] = await numbers.place([message]);
    expect(placed?.kind).toBe(kind);
  });

  test('far away: back to the queue, to come a second or two before it, with its turn', async () => {
    const numbers = new Numbers();
    const messages = await numbers.withTurns(72 * 60);
    const [placed] = await numbers.place(messages.slice(-1));
    expect(placed).toEqual({ kind: 'later', message: messages.at(-1), delaySeconds: 58 });
  });

  test('that others may still move is read again, and taken where it is then', async () => {
    const numbers = new Numbers();
    const last = (await numbers.withTurns(72 * 3)).slice(-1);
    const placing = numbers.place(last);
    await numbers.withTurns(72 * 3, 'job-2', 1002);
    const [placed] = await placing;
    // What is due within two seconds has stayed; the last of 72 others now comes behind as many of a newcomer.
    expect(placed).toMatchObject({ kind: 'slot', slotMs: Math.floor(startMs + (72 * 4 - 2) * everyMs) });
    expect(numbers.reads).toBe(3);
  });
});

describe('where the workers do not keep up', () => {
  test('the number learns it from messages that come behind their slots, in the write that gives them others', async () => {
    const numbers = new Numbers();
    const messages = await numbers.withTurns(72 * 10);
    await numbers.clock.run(numbers.clock.pause(2_000));
    await numbers.place(messages.slice(0, 60));
    expect(numbers.stored.stored.get(number)).toMatchObject({ behind: { count: 60 } });
    expect(numbers.stored.stored.get(number)?.kept).toBeUndefined();
    await numbers.place(messages.slice(60, 100));
    const { kept, version } = numbers.stored.stored.get(number) ?? unknownPace;
    // The last of them is 625 ms late.
    expect(kept?.perSecond).toBeCloseTo(72 * (8_000 / 8_625), 0);
    expect([version, numbers.writes]).toEqual([3, 2]);
    expect(numbers.logged).toEqual(['dispatch.workers_slow']);
  });

  test('what was held up, by a queue that stood still or a worker that died, says nothing of them', async () => {
    const numbers = new Numbers();
    const messages = await numbers.withTurns(72 * 20);
    await numbers.clock.run(numbers.clock.pause(6_800));
    // Slots of the first 1.725 s are five seconds over, and the 75 ms for which they were good.
    await numbers.place(messages.slice(0, 200));
    expect(numbers.stored.stored.get(number)).toMatchObject({ behind: { count: 200 - 125 } });
    expect(numbers.stored.stored.get(number)).not.toHaveProperty('kept');
  });

  test('who comes late because its delivery was too near to its slot is first given more time to come', async () => {
    const numbers = new Numbers();
    numbers.stored.stored.set(number, { ...unknownPace, leadMs: 350 });
    const messages = (await numbers.withTurns(200)).map((each) => ({ ...each, acceptedAtMs: startMs - 5_000 }));
    await numbers.clock.run(numbers.clock.pause(3_000));
    await numbers.place(messages.slice(100));
    expect(numbers.stored.stored.get(number)).toMatchObject({ leadMs: 450 });
    expect(numbers.stored.stored.get(number)).not.toHaveProperty('kept');
    expect(numbers.stored.stored.get(number)).not.toHaveProperty('behind');
  });

  test('what comes behind its slot leaves at once, as far as the slower schedule has room', async () => {
    const numbers = new Numbers();
    const slow = { ...unknownPace, kept: { perSecond: 24, atMs: startMs } };
    numbers.stored.stored.set(number, slow);
    const messages = await numbers.withTurns(48);
    await numbers.clock.run(numbers.clock.pause(2_000));
    const placed = await numbers.place(messages.slice(0, 10));
    // A third of what the number takes: two seconds, but for the way to the platform.
    const keep = placed.filter((each) => each.kind === 'slot' && each.slotMs < startMs + 2_000);
    expect(slotsOf(keep)).toEqual(Array.from({ length: 9 }, (_, at) => Math.floor(startMs + ((at + 1) * 1_000) / 24)));
    const [first] = slotsOf(keep);
    expect(keep[0]).toMatchObject({ untilMs: (first ?? 0) + 1_964 });
    expect(numbers.writes).toBe(1);
  });
});

test('early ones of a batch do not wait for the late ones', async () => {
  const numbers = new Numbers();
  const messages = await numbers.withTurns(72 * 3);
  const { nowMs, pause } = numbers.clock;
  const ports = { paces: numbers.paces, tenths: numbers.tenths, nowMs, pause, log: () => undefined };
  const [early, late] = placeMessages(
    [messages[0], messages.at(-1)].filter((each) => each !== undefined),
    ports,
  );
  await early;
  expect(nowMs()).toBe(startMs);
  await numbers.clock.run(Promise.resolve(late));
  expect(nowMs()).toBeGreaterThan(startMs + 1_000);
});

describe('a message that is not to leave now', () => {
  const to = '5491100000000';

  test('because its recipient had enough of this number waits for that, and takes no slot (131056)', async () => {
    const numbers = new Numbers();
    numbers.stored.stored.set(number, withBlocked(unknownPace, recipientHashOf(to), startMs + 4_500, startMs));
    const other = dispatchMessage(1, { request: { to: '5491100000099' } });
    const placed = await numbers.place([dispatchMessage(0), other]);
    expect(placed[0]).toEqual({ kind: 'later', message: dispatchMessage(0), delaySeconds: 5 });
    expect(slotsOf(placed)[1]).toBe(startMs);
  });

  test('because its job writes to one person again and again waits for its time', async () => {
    const message = dispatchMessage(0, { notBeforeMs: startMs + 6_000 });
    const [placed] = await new Numbers().place([message]);
    expect(placed).toEqual({ kind: 'later', message, delaySeconds: 6 });
  });

  test('because it is too late needs no slot', async () => {
    const numbers = new Numbers();
    const message = dispatchMessage(0, { expiresAtMs: startMs });
    expect(await numbers.place([message])).toEqual([
      { kind: 'late', message, settlement: { state: 'expired', code: 'expired' } },
    ]);
    expect(numbers.writes).toBe(0);
  });
});

describe('when the pace cannot be had', () => {
  const broken = async () => {
    throw new Error('the table is away');
  };

  test.each(['find', 'change'] as const)('%s: nothing has a place, what is too late still ends', async (call) => {
    const numbers = new Numbers();
    const late = dispatchMessage(1, { expiresAtMs: startMs });
    const paces = { ...numbers.paces, [call]: broken };
    const placed = await numbers.place([dispatchMessage(0), late], paces);
    expect(placed.map(({ kind }) => kind)).toEqual(['unplaced', 'late']);
    expect(numbers.logged).toEqual(['dispatch.pace_failed']);
  });

  test('slots that a slow write misses are asked for again, further ahead each time', async () => {
    const numbers = new Numbers();
    const change: (typeof numbers.paces)['change'] = async (...args) => {
      const changed = await numbers.paces.change(...args);
      await numbers.clock.pause(310);
      return changed;
    };
    const [placed] = await numbers.place([dispatchMessage(0)], { ...numbers.paces, change });
    expect(placed?.kind).toBe('slot');
    expect(numbers.writes).toBe(3);
  });

  test('one that is always too slow ends the try', async () => {
    const numbers = new Numbers();
    const change: (typeof numbers.paces)['change'] = async (...args) => {
      const changed = await numbers.paces.change(...args);
      await numbers.clock.pause(2_000);
      return changed;
    };
    expect(await numbers.place([dispatchMessage(0)], { ...numbers.paces, change })).toMatchObject([
      { kind: 'unplaced' },
    ]);
  });
});

describe('one-time codes (D44)', () => {
  test('leave at once on an idle number, and in its last tenth on a busy one', async () => {
    const numbers = new Numbers();
    const code = dispatchMessage(0, { urgent: true });
    expect(slotsOf(await numbers.place([code]))).toEqual([startMs]);
    await numbers.withTurns(72 * 600);
    const [placed] = await numbers.place([code]);
    expect(slotsOf([placed ?? { kind: 'unplaced', message: code }])[0]).toBeLessThanOrEqual(startMs + 2_000);
    expect(placed?.message.turn).toBeUndefined();
  });
});

import { describe, expect, test } from 'vitest';
import type { DispatchStop } from '../../../../lib/messages/dispatch/item.ts';
import type { Lot } from '../../../../lib/messages/dispatch/lots.ts';
import { claimed } from '../../../../lib/messages/dispatch/slice.ts';
/** The fan-out must not release a dispatch that is stopped, parked, or outside its openings. */
import { roundAfterLast } from '../../../../lib/messages/fan-out/dispatch-rounds.ts';
import { countedBy } from '../../../support/counted.ts';
import { fanOutWorld, nowMs, upTo } from './fan-out-world.ts';

const facts = { dispatchId: 'J', clientId: 1001 };

const sent = { ...facts, acceptedAtMs: nowMs };

const stopped: DispatchStop = { state: 'failed', code: 'cancelled', reason: 'told', atMs: nowMs };

describe('a stopped dispatch (D46, D53)', () => {
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
    const announce: typeof ports.dispatches.announce = async (...call) => {
      waves += 1;
      if (waves === 2) table.states.set('J', { stop: stopped });
      return await ports.dispatches.announce(...call);
    };
    await fannedOut({}, { dispatches: { ...ports.dispatches, announce } });
    const released = indexes().length;
    expect(indexes()).toEqual(upTo(released));
    expect(table.slices.size).toBe((5_000 - released) / 10);
  });

  test('leaves to its worker a slice that a worker has, of a wave that was queued and not remembered', async () => {
    const { fannedOut, table, events } = fanOutWorld(30);
    table.states.set('J', { stop: stopped });
    const key = { dispatchId: 'J', slice: 1 };
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
    await expect(fannedOut({}, { dispatches: { ...ports.dispatches, recipientsFrom } })).rejects.toThrow('gone');
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

describe('a parked dispatch (D46)', () => {
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

  test('that has not ended expires after a day', async () => {
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

describe('a dispatch with a time of its own (D56)', () => {
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
    expect(table.dispatches.get('J')).toMatchObject({
      ...{ queued: 40, ofStretches: [0, 20, 20] },
      round: { round: 1, dueMs: nowMs + 900_000 },
    });
    expect([sentAgain, watched]).toEqual([[{ message: { ...sent, round: 1 }, delaySeconds: 900 }], []]);
    await fannedOut(sentAgain[0]?.message, { nowMs: () => nowMs + hour });
    expect([indexes(), watched.length]).toEqual([[...upTo(20), ...upTo(60, 40)], 1]);
    expect(table.dispatches.get('J')?.round).toEqual({ round: roundAfterLast });
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
    // Five seconds are 360 slots at 72 a second.
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

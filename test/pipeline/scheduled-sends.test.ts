import { expect, test } from 'vitest';
import type { DispatchHead } from '../../lib/messages/dispatch/head.ts';
import { cancelled } from '../../lib/messages/dispatch/item-state.ts';
import type { Lot, Opening } from '../../lib/messages/dispatch/lots.ts';
import { asAccepted } from '../../lib/messages/sender/revalidate-dispatch.ts';
import { seededRandom } from '../support/faults.ts';
import { checkWorld } from './kept-promises.ts';
import { accept, quietWorld } from './quiet-world.ts';
import { scheduledDispatch } from './scheduled-world.ts';
import { type PipelineWorld, startMs, type WorldRules } from './world.ts';

/* Scheduled dispatches (D56, R54) from acceptance to their end. */

const dayMs = 24 * 3_600_000;
const hours = (count: number) => startMs + count * 3_600_000;
const windowOf = (...spans: (readonly [number, number])[]) =>
  spans.map(([from, until]): Opening => [hours(from), hours(until)]);
const dispatchId = '01JK0000000000000000000000';

function schedule(world: PipelineWorld, size: number, lots: readonly Lot[], head: Partial<DispatchHead> = {}): void {
  world.accept(scheduledDispatch(size, lots, { dispatchId, acceptedAtMs: world.time.nowMs, ...head }));
}

/** Counts the recipients of the dispatch by their end: the code of an outcome, else its state. */
function endsOf(world: PipelineWorld): Record<string, number> {
  const ends: Record<string, number> = {};
  const { recipients = [] } = world.dispatches.get(dispatchId) ?? {};
  for (const index of recipients.keys()) {
    const outcome = world.table.find({ dispatchId, slice: Math.floor(index / 10) })?.outcomes[index % 10];
    const { state, ...known } = outcome ?? { state: 'none' };
    const end = 'code' in known && known.code !== undefined ? known.code : state;
    ends[end] = (ends[end] ?? 0) + 1;
  }
  return ends;
}

function eventsOf(world: PipelineWorld, type: string) {
  return [...world.told.values()].filter((event) => event.type === type);
}

/** The openings of three zones follow each other each day; the third opens once, too briefly, and the last never. */
const threeZones: readonly Lot[] = [
  { until: 507, open: windowOf([1, 2], [25, 26], [49, 50]) },
  { until: 1_004, open: windowOf([1.5, 1.55], [25.5, 25.55], [49.5, 49.55]) },
  { until: 1_500, open: windowOf([30, 30.01]) },
  { until: 1_520, open: [] },
];

test.each([
  ['whose senders live', undefined],
  ['whose senders die', seededRandom(5)],
] as const)(
  'several lots over days, on a slow number beside another client, %s: none outside, lost or twice',
  async (_, random) => {
    const lifeMs: WorldRules['lifeMs'] = (name) =>
      name === 'dispatch' && random !== undefined && random() < 0.3 ? random() * 60_000 : undefined;
    const world = quietWorld({ limitPerSecond: 0.5, lifeMs });
    schedule(world, 1_520, threeZones, { clientId: 1 });
    accept(world, 500, { clientId: 2 });
    await world.run(10 * dayMs);
    checkWorld(world);
    const { sent = 0, expired = 0, worker_lost: lost = 0 } = endsOf(world);
    expect(sent + expired + lost).toBe(1_520);
    // The first lot has three hours at 0.45 a second, the second 9 minutes, and the third 36 s.
    expect(sent).toBeGreaterThan(507 + (random === undefined ? 150 : 100));
    if (random === undefined) {
      expect([lost, world.killedRuns]).toEqual([0, 0]);
      // Some slices wait for days, and what has ended above them is told once.
      expect(world.toldAgain).toBeLessThan(20);
    } else expect(world.killedRuns).toBeGreaterThan(5);
    // What never opens is told when the first lot has closed.
    const first = eventsOf(world, 'message.expired').toSorted((one, other) => one.timestampMs - other.timestampMs)[0];
    expect(first?.timestampMs).toBeLessThan(hours(2) + 60_000);
    // While every lot is closed, no sender looks at the dispatch.
    expect(world.meter.timesOf('dispatch').runs).toBeLessThan(2_000);
  },
  120_000,
);

test('thousands of dispatches of the same minute: each leaves once, not before it, and the number is not exceeded', async () => {
  const world = quietWorld({ limitPerSecond: 1_000, workers: 200 });
  const lots: readonly Lot[] = [{ until: 1, open: [[hours(0.75), hours(24)]] }];
  const count = 2_000;
  for (let at = 0; at < count; at += 1) {
    const head = { clientId: 1, dispatchId: `01JK${String(at).padStart(22, '0')}`, acceptedAtMs: startMs };
    const recipients = [{ to: String(5_491_100_000_000 + at), params: { buttons: ['order'] } }];
    world.accept({ ...scheduledDispatch(1, lots, head), recipients });
  }
  await world.run(2 * 3_600_000);
  const { posts } = world.platform;
  expect(new Set(posts.map(({ messageId }) => messageId)).size).toBe(count);
  expect(posts).toHaveLength(count);
  expect(Math.min(...posts.map(({ atMs }) => atMs))).toBeGreaterThanOrEqual(hours(0.75));
  expect(Math.max(...posts.map(({ atMs }) => atMs))).toBeLessThan(hours(0.75) + 20_000);
  expect(eventsOf(world, 'dispatch.completed')).toHaveLength(count);
  expect(world.backlog.size).toBe(0);
}, 120_000);

test.each(['template_deleted', 'template_switched_off', 'channel_removed', 'template_changed'])(
  'a dispatch that may not leave any more at its time ends as %s',
  async (code) => {
    let judgedMs: number | undefined;
    const world: PipelineWorld = quietWorld({
      judge: async () => {
        judgedMs ??= world.time.nowMs;
        return { kind: 'refused', stop: { state: 'failed', code } };
      },
    });
    schedule(world, 37, [{ until: 37, open: windowOf([2, 3]) }]);
    await world.run(dayMs);
    expect(judgedMs).toBeGreaterThan(hours(2) - 900_000);
    expect(world.platform.posts).toEqual([]);
    expect(eventsOf(world, 'message.failed')).toHaveLength(37);
    expect(eventsOf(world, 'message.failed').every(({ data }) => 'code' in data && data.code === code)).toBe(true);
    expect(eventsOf(world, 'dispatch.completed')).toHaveLength(1);
    expect(world.table.states.get(dispatchId)?.stop).toMatchObject({ state: 'failed', code });
  },
);

test('what has become too expensive by a later opening ends without a call (D56, D58)', async () => {
  const reason = 'the send would cost 1 USD';
  const costStop: WorldRules['costStop'] = async ({ rests: [rest] }) =>
    rest?.from === 0 ? undefined : { state: 'failed', code: 'over_max_cost', reason };
  const world = quietWorld({ costStop });
  schedule(world, 30, [
    { until: 20, open: windowOf([2, 2.5]) },
    { until: 30, open: windowOf([4, 5]) },
  ]);
  await world.run(dayMs);
  expect(world.platform.posts.filter(({ taken }) => taken)).toHaveLength(20);
  expect(eventsOf(world, 'message.failed')).toHaveLength(10);
  expect(world.table.states.get(dispatchId)?.stop).toMatchObject({ code: 'over_max_cost', reason });
});

test('of a template that was edited, who does not fit any more is told so, and the others go', async () => {
  const world = quietWorld({
    judge: async ({ head, plan }) => ({
      kind: 'sendable',
      head: { ...head, category: 'UTILITY' },
      plan,
      fits: ({ to }) => to !== world.dispatches.get(dispatchId)?.recipients[3]?.to,
    }),
  });
  schedule(world, 12, [{ until: 12, open: windowOf([2, 3]) }]);
  await world.run(dayMs);
  expect(endsOf(world)).toEqual({ sent: 11, template_changed: 1 });
  expect(eventsOf(world, 'message.failed')).toMatchObject([{ data: { code: 'template_changed' } }]);
});

test('a table that cannot be asked about the template: the dispatch waits, and nothing is judged by a guess', async () => {
  let asked = 0;
  const world = quietWorld({
    judge: async (dispatch) => {
      asked += 1;
      if (asked < 3) throw new Error('the table is not available');
      return asAccepted(dispatch);
    },
  });
  schedule(world, 12, [{ until: 12, open: windowOf([2, 3]) }]);
  await world.run(dayMs);
  expect(asked).toBeGreaterThanOrEqual(3);
  expect(endsOf(world)).toEqual({ sent: 12 });
});

test('cancelled long after its opening closed in the middle of a slice, it is told to its end in seconds (D53)', async () => {
  const world = quietWorld({ limitPerSecond: 5, random: () => 0.5 });
  schedule(world, 40, [{ until: 40, open: [...windowOf([0, 0.003]), ...windowOf([1, 2])] }]);
  const stop = cancelled(startMs + 600_000);
  void world.cancel(dispatchId, stop, 600_000);
  await world.run(700_000);
  const { sent = 0 } = endsOf(world);
  expect([sent > 0, sent % 10 > 0]).toEqual([true, true]);
  const completed = eventsOf(world, 'dispatch.completed');
  expect(completed.map(({ timestampMs }) => timestampMs < stop.atMs + 5_000)).toEqual([true]);
  expect(eventsOf(world, 'message.failed')).toHaveLength(40 - sent);
});

test('cancelled while it waits for its next opening beside a dispatch that runs, it is told to its end in seconds (D53)', async () => {
  // The cancellation does not die before its wake.
  const world = quietWorld({ limitPerSecond: 5, random: () => 0.5 });
  schedule(world, 40, [{ until: 40, open: [...windowOf([0, 0.003]), ...windowOf([1, 2])] }], { clientId: 1 });
  accept(world, 300, { clientId: 2 });
  const stop = cancelled(startMs + 20_000);
  void world.cancel(dispatchId, stop, 20_000);
  await world.run(120_000);
  const completed = eventsOf(world, 'dispatch.completed').find(
    ({ data }) => 'dispatch_id' in data && data.dispatch_id === dispatchId,
  );
  expect(completed?.timestampMs).toBeLessThan(stop.atMs + 5_000);
  const { sent = 0 } = endsOf(world);
  expect(sent).toBeGreaterThan(0);
  expect(eventsOf(world, 'message.failed')).toHaveLength(40 - sent);
});

import { expect, test } from 'vitest';
import { cancelled } from '../../lib/messages/dispatch/item-state.ts';
import { makeDispatch } from '../support/made-dispatches.ts';
import { accept, limitPerSecond, quietRules } from './quiet-world.ts';
import { PipelineWorld, startMs, type WorldRules } from './world.ts';

/** Everything happens in virtual time, so the figures are the same on every machine. */
function worldOf(rules: Partial<WorldRules> = {}): PipelineWorld {
  return new PipelineWorld(quietRules(rules));
}

interface Load {
  readonly name: string;
  readonly rules?: Partial<WorldRules>;
  readonly dispatches: number;
  readonly size: number;
  /** At least this share of the number's limit is used, with so many writes a message at most. */
  readonly share: number;
  readonly writes: number;
}

const loads: readonly Load[] = [
  { name: 'one large dispatch', dispatches: 1, size: 5_000, share: 0.89, writes: 0.21 },
  { name: 'three large dispatches', dispatches: 3, size: 2_000, share: 0.89, writes: 0.23 },
  { name: 'a hundred dispatches of forty', dispatches: 100, size: 40, share: 0.87, writes: 0.35 },
  { name: 'calls of 800 ms', rules: { answerMs: () => 800 }, dispatches: 1, size: 5_000, share: 0.89, writes: 0.21 },
];

test.each(loads)('a sender uses its number: $name (D43)', async ({ rules, dispatches, size, share, writes }) => {
  const world = worldOf(rules);
  for (let at = 0; at < dispatches; at += 1) accept(world, size, { clientId: at % 10 });
  await world.run(4 * 3_600_000);
  const { posts } = world.platform;
  const times = posts.map(({ atMs }) => atMs);
  const tookMs = Math.max(...times) - Math.min(...times);
  expect(posts.filter(({ taken }) => taken)).toHaveLength(dispatches * size);
  expect((1_000 * posts.length) / tookMs / limitPerSecond).toBeGreaterThan(share);
  expect(world.meter.requests.write / posts.length).toBeLessThan(writes);
});

test.each([
  [1, 3_000],
  [2, 1_500],
  [10, 600],
  [100, 100],
])(
  '%i dispatches of a client leave together: never faster than the limit, and each as much as the others, to two slices (D43)',
  async (count, size) => {
    const world = worldOf({ answerMs: () => 100 });
    const ids = Array.from({ length: count }, () => accept(world, size));
    await world.run(3_600_000);
    const { posts } = world.platform;
    const times = posts.map(({ atMs }) => atMs);
    expect(posts).toHaveLength(count * size);
    expect(times.filter((atMs, at) => atMs - (times[at - limitPerSecond] ?? 0) < 1_000)).toEqual([]);
    const halfMs = startMs + 0.5 * (Math.max(...times) - startMs);
    const counts = ids.map(
      (id) => posts.filter((post) => post.messageId.startsWith(`${id}-`) && post.atMs < halfMs).length,
    );
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(20);
  },
);

test.each([1, 5, 20, 80])('a newcomer waits for two seconds at most, at %i a second (D45)', async (perSecond) => {
  const world = worldOf({ limitPerSecond: perSecond });
  for (const clientId of [1, 2]) accept(world, 200 * perSecond, { clientId });
  let dispatchId = '';
  const atMs = startMs + 20_000;
  void world.time.sleep(20_000).then(() => {
    dispatchId = accept(world, 40, { clientId: 3 });
  });
  await world.run(60_000);
  const first = world.platform.posts.find(({ messageId }) => messageId.startsWith(`${dispatchId}-`));
  expect((first?.atMs ?? Number.POSITIVE_INFINITY) - atMs).toBeLessThan(2_000);
});

/** Ten codes of another client come at once. Returns how long each waits for its call. */
async function codeWaits(
  perSecond: number,
  before: (world: PipelineWorld) => void,
  rules: Partial<WorldRules> = {},
): Promise<number[]> {
  const world = new PipelineWorld(quietRules({ limitPerSecond: perSecond, ...rules }));
  before(world);
  const codes: string[] = [];
  const atMs = startMs + 20_300;
  void world.time.sleep(20_300).then(() => {
    for (let at = 0; at < 10; at += 1) codes.push(accept(world, 1, { clientId: 900, urgent: true }));
  });
  await world.run(60_000);
  expect(world.platform.posts.filter(({ throttled }) => throttled)).toEqual([]);
  const called = codes.map((id) => world.platform.posts.filter(({ messageId }) => messageId.startsWith(`${id}-`)));
  expect(called.map((posts) => posts.length)).toEqual(codes.map(() => 1));
  return called.map(([post]) => (post?.atMs ?? Number.POSITIVE_INFINITY) - atMs);
}

test.each([
  [5, 5_000],
  [20, 2_000],
  [80, 1_500],
])('the last of ten codes beside dispatches leaves in time, at %i a second (D44)', async (perSecond, withinMs) => {
  const waits = await codeWaits(perSecond, (world) => {
    for (const clientId of [1, 2]) accept(world, 200 * perSecond, { clientId });
  });
  expect(Math.max(...waits)).toBeLessThan(withinMs);
});

test('codes do not wait for dispatches whose calls are slow (D44)', async () => {
  const beside = (world: PipelineWorld) => void accept(world, 16_000, { clientId: 1 });
  const waits = await codeWaits(80, beside, { answerMs: () => 5_000 });
  // The platform counts a call after half of its answer's time.
  expect(Math.max(...waits)).toBeLessThan(2_500 + 1_500);
});

test.each([20, 80])('codes on an idle number leave at its pace, at once, at %i a second (D44)', async (perSecond) => {
  const waits = await codeWaits(perSecond, () => undefined);
  expect(Math.max(...waits)).toBeLessThan(200 + 10_000 / (0.9 * perSecond));
});

test('a new sender begins behind the small requests of the second that is being counted (D43, D44)', async () => {
  const world = new PipelineWorld(quietRules());
  const comeIn = async () => {
    await world.time.sleep(10_100);
    for (let at = 0; at < 6; at += 1) accept(world, 10, { clientId: 900 + at, urgent: true });
    await world.time.sleep(20);
    accept(world, 400, { clientId: 1 });
  };
  void comeIn();
  await world.run(60_000);
  const { posts } = world.platform;
  expect(posts.filter(({ throttled }) => throttled)).toEqual([]);
  expect(posts).toHaveLength(460);
});

/** The last claimed slice ends then; the first message of a scheduled dispatch would leave after an hour. */
const cancellations = [
  { name: 'one that runs', rules: {}, head: {} },
  { name: 'one of a fast number', rules: { limitPerSecond: 1_000 }, head: {} },
  { name: 'a scheduled one', rules: {}, head: { when: { asked: {}, fromMs: startMs + 3_600_000 } } },
];

test.each(cancellations)(
  'a cancelled dispatch is told to its end in seconds, without a write for each slice: $name (D53)',
  async ({ rules, head }) => {
    // The cancellation does not die before its wake.
    const world = worldOf({ ...rules, random: () => 0.5 });
    const dispatchId = accept(world, 10_000, head);
    const stop = cancelled(startMs + 5_000);
    void world.cancel(dispatchId, stop, 5_000);
    await world.run(7_200_000);
    const sent = world.platform.posts.length;
    const last = Math.max(stop.atMs, ...world.platform.posts.map(({ atMs }) => atMs));
    const completed = [...world.told.values()].find(({ type }) => type === 'dispatch.completed');
    const failed = [...world.told.values()].filter(({ type }) => type === 'message.failed');
    expect(completed?.timestampMs).toBeLessThan(last + 5_000);
    expect(failed).toHaveLength(10_000 - sent);
    expect(world.meter.requests.write).toBeLessThan(0.22 * sent + 200);
  },
);

test('one kill costs what is under way, and half a minute of silence (D29)', async () => {
  let isKilled = false;
  const lifeMs: WorldRules['lifeMs'] = (name) => {
    if (name !== 'sender' || isKilled) return undefined;
    isKilled = true;
    return 15_000;
  };
  const world = worldOf({ lifeMs, answerMs: () => 300 });
  accept(world, 6_000);
  await world.run(3_600_000);
  const unknown = [...world.told.values()].filter(({ type }) => type === 'message.unknown');
  const times = world.platform.posts.map(({ atMs }) => atMs);
  const silences = times.slice(1).map((atMs, at) => atMs - (times[at] ?? atMs));
  expect(unknown.length).toBeLessThanOrEqual(60);
  expect(Math.max(...silences)).toBeLessThan(40_000);
});

test('a dispatch whose recipients are gone hurts itself alone, and is tried ever more rarely', async () => {
  const world = worldOf();
  const dispatchId = '01JP0000000000000000000000';
  // A send with a time is no small request.
  const when = { asked: {}, fromMs: startMs };
  world.accept(makeDispatch([], { dispatchId, total: 10, clientId: 9, acceptedAtMs: startMs, when }));
  accept(world, 3_000);
  await world.run(20 * 60_000);
  const times = world.platform.posts.map(({ atMs }) => atMs);
  expect(times).toHaveLength(3_000);
  expect(3_000 / ((Math.max(...times) - startMs) / 1_000)).toBeGreaterThan(0.85 * limitPerSecond);
  expect(world.backlog.entries.get(dispatchId)?.parts?.[0]?.failures).toBe(5);
});

import { expect, test } from 'vitest';
import { messageIdOf } from '../../lib/messages/dispatch/head.ts';
import { sliceSize } from '../../lib/messages/dispatch/slice.ts';
import { seededRandom } from '../support/faults.ts';
import { makeDispatch, makeRecipients } from '../support/made-dispatches.ts';
import { checkWorld } from './kept-promises.ts';
import type { Fate } from './platform-model.ts';
import { PipelineWorld, startMs } from './world.ts';

const workers = 8;
/** Two seconds of the pace are claimed and not recorded, and a few slices more on the way. */
const mostUnderWay = 180;
const outage = { fromMs: startMs + 6_000, untilMs: startMs + 306_000 };

interface Down {
  readonly seed: number;
  readonly total: number;
  readonly messages: () => Fate;
  readonly reads: () => Fate;
}

/** Two dispatches run on one number. In the middle the platform is down for five minutes. */
async function throughOutage({ seed, total, messages, reads }: Down): Promise<PipelineWorld> {
  const random = seededRandom(seed);
  const isDown = () => world.time.nowMs >= outage.fromMs && world.time.nowMs < outage.untilMs;
  const world: PipelineWorld = new PipelineWorld({
    random,
    limitPerSecond: 80,
    answerMs: () => 20 + random() * 200,
    latencyMs: () => 1 + random() * 10,
    faultOf: () => undefined,
    fateOf: () => (isDown() ? messages() : 'taken'),
    readFateOf: () => (isDown() ? reads() : 'taken'),
    lifeMs: () => undefined,
    receiptsOf: () => [],
    delayJitterMs: 1_000,
    repeatShare: 0,
    clockSkewMs: () => (random() - 0.5) * 100,
    workers,
  });
  for (const at of [0, 1]) {
    const head = { dispatchId: `01JD${String(at).padStart(22, '0')}`, clientId: 1001 + at, acceptedAtMs: startMs };
    world.accept(makeDispatch(makeRecipients(total / 2), head));
  }
  await world.run(3 * 3_600_000);
  return world;
}

function outcomesIn(world: PipelineWorld): Map<string, string> {
  const slices = [...world.table.slices.values()];
  return new Map(
    slices.flatMap(({ key, outcomes }) =>
      outcomes.map((outcome, place): [string, string] => [
        messageIdOf({ dispatchId: key.dispatchId, index: key.slice * sliceSize + place }),
        outcome?.state ?? 'none',
      ]),
    ),
  );
}

function unknownIn(world: PipelineWorld): number {
  return [...outcomesIn(world).values()].filter((state) => state === 'unknown').length;
}

/** No message is sent twice or lost, and all that did not end unknown are with the platform. */
function allElseWasSent(world: PipelineWorld, total: number): void {
  checkWorld(world);
  const taken = new Set(world.platform.posts.filter((post) => post.taken).map(({ messageId }) => messageId));
  const outcomes = outcomesIn(world);
  expect([...outcomes].filter(([id, state]) => !taken.has(id) && state !== 'unknown')).toEqual([]);
  expect(outcomes.size).toBe(total);
  expect(world.deadLetters).toBe(0);
}

const among =
  (random: () => number, fates: readonly Fate[]): (() => Fate) =>
  () =>
    fates[Math.floor(random() * fates.length)] ?? 'lost';

test.each([
  ['silence', ['lost']],
  ['silence, some of it taken', ['lost', 'taken_reply_lost']],
  ['HTTP 500', ['server_error']],
  ['refused connections', ['no_connection']],
  ['all of it', ['lost', 'taken_reply_lost', 'server_error', 'no_connection']],
] as const)(
  'five minutes of %s: what is under way ends unknown, the rest is sent afterwards',
  async (_, fates) => {
    for (const seed of [1, 2]) {
      const down = among(seededRandom(seed + 100), fates);
      const world = await throughOutage({ seed, total: 800, messages: down, reads: down });
      allElseWasSent(world, 800);
      const unknown = unknownIn(world);
      expect(unknown).toBeLessThanOrEqual(mostUnderWay);
      // After a sender has detected the outage, nothing is sent until a read is answered.
      const found = outage.fromMs + 20_000;
      expect(world.platform.posts.filter(({ atMs }) => atMs > found && atMs < outage.untilMs)).toEqual([]);
      expect(world.platform.posts.at(-1)?.atMs).toBeLessThan(startMs + 480_000);
    }
  },
  120_000,
);

/** Returns the bursts of unanswered messages, separated by three seconds without one. */
function burstsIn(
  world: PipelineWorld,
): { readonly fromMs: number; readonly untilMs: number; readonly count: number }[] {
  const bursts: { fromMs: number; untilMs: number; count: number }[] = [];
  for (const { atMs, taken } of world.platform.posts) {
    const last = bursts.at(-1);
    if (taken) continue;
    if (last === undefined || atMs > last.untilMs + 3_000) bursts.push({ fromMs: atMs, untilMs: atMs, count: 1 });
    else Object.assign(last, { untilMs: atMs, count: last.count + 1 });
  }
  return bursts;
}

test.each([1, 2, 3])(
  'messages are not answered for five minutes, reads are: their number is held, and one message asks, further and further apart (world %i)',
  async (seed) => {
    const total = 8_000;
    const world = await throughOutage({ seed, total, messages: () => 'server_error', reads: () => 'taken' });
    allElseWasSent(world, total);
    // Until detection, three slices and those that are claimed by then fail.
    const [found, ...questions] = burstsIn(world).filter(({ fromMs }) => fromMs < outage.untilMs);
    expect(found?.count).toBeLessThanOrEqual(mostUnderWay);
    expect(questions.map(({ count }) => count)).toEqual(questions.map(() => 1));
    // The probes come with backoff after 10, 20, 40, 80 and 160 seconds, and then as soon as a sender comes.
    const apartMs = questions.map(({ fromMs }, at) => fromMs - ((at === 0 ? found : questions[at - 1])?.untilMs ?? 0));
    for (const [at, ms] of apartMs.entries()) expect(ms).toBeGreaterThanOrEqual(10_000 * 2 ** at - 1_000);
    expect(questions.length).toBeGreaterThanOrEqual(3);
    expect([world.logged.get('hold.opened'), world.logged.get('platform.down')]).toEqual([1, undefined]);
    expect(unknownIn(world)).toBe(world.platform.posts.filter((post) => !post.taken && !post.throttled).length);
    expect(world.elapsedMs).toBeLessThan(1_200_000);
  },
  120_000,
);

import { expect, test } from 'vitest';
import { erased, optedOut } from '../../lib/messages/send/excluded-recipients.ts';
import type { ServiceEvent } from '../../lib/webhooks/event.ts';
import { thorough } from '../support/thorough.ts';
import { checkWorld } from './kept-promises.ts';
import { randomWorld } from './random-world.ts';

/** `PIPELINE_SEED=17` runs one seed alone. */
const only = process.env['PIPELINE_SEED'];
const worlds = thorough ? 1_000 : 50;
const seeds = only === undefined ? Array.from({ length: worlds }, (_, at) => at + 1) : [Number(only)];

/** The limit is longer than all waits between retries together. */
const longestMs = 3 * 24 * 3_600_000;

const endedBy =
  (code: string) =>
  ({ type, data }: ServiceEvent) =>
    type === 'message.failed' && 'code' in data && data.code === code;

test.each(parts(seeds, 100))(
  'nothing is sent twice, lost, left untold, or sent after a stop in any of the worlds from %i on (R13, R14, D25, D34, D39, D55)',
  async (_, some) => {
    const seen = { taken: 0, leftOut: 0, erased: 0, killed: 0 };
    for (const seed of some) {
      const world = randomWorld(seed);
      await world.run(longestMs);
      try {
        checkWorld(world);
      } catch (error) {
        throw new Error(`seed ${seed}: replay it with PIPELINE_SEED=${seed}`, { cause: error });
      }
      seen.taken += world.platform.posts.filter((post) => post.taken).length;
      seen.leftOut += [...world.told.values()].filter(endedBy(optedOut.code)).length;
      seen.erased += [...world.told.values()].filter(endedBy(erased.code)).length;
      seen.killed += world.killedRuns;
    }
    if (only !== undefined) return expect(some).toEqual([Number(only)]);
    expect(seen.taken).toBeGreaterThan(some.length);
    expect(seen.leftOut).toBeGreaterThan(some.length);
    expect(seen.erased).toBeGreaterThan(some.length / 50);
    expect(seen.killed).toBeGreaterThan(some.length / 10);
  },
  600_000,
);

function parts(all: readonly number[], size: number): [number, number[]][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) => {
    const some = all.slice(at * size, (at + 1) * size);
    return [some[0] ?? 0, some];
  });
}

import { expect, test } from 'vitest';
import { thorough } from '../support/thorough.ts';
import { checkWorld } from './kept-promises.ts';
import { randomWorldOf } from './random-world.ts';
import { SenderWorld } from './sender-world.ts';

/** `PIPELINE_SEED=17` runs one seed alone, `PIPELINE_WORLDS=500` so many. */
const only = process.env['PIPELINE_SEED'];
const worlds = Number(process.env['PIPELINE_WORLDS'] ?? (thorough ? 1_000 : 50));
const seeds = only === undefined ? Array.from({ length: worlds }, (_, at) => at + 1) : [Number(only)];
const longestMs = 3 * 24 * 3_600_000;

test('one sender for each number sends nothing twice, loses nothing and tells everything (R13, R14, D34, D39, D55)', async () => {
  let taken = 0;
  let killed = 0;
  for (const seed of seeds) {
    const world = randomWorldOf(seed, (rules) => new SenderWorld(rules));
    await world.run(longestMs);
    try {
      checkWorld(world);
      if (world.backlog.entries.size > 0) throw new Error(`R14: ${[...world.backlog.entries.keys()]} wait for ever`);
    } catch (error) {
      throw new Error(`seed ${seed}: replay it with PIPELINE_SEED=${seed}`, { cause: error });
    }
    taken += world.platform.posts.filter((post) => post.taken).length;
    killed += world.killedRuns;
  }
  if (only !== undefined) return;
  expect(taken).toBeGreaterThan(seeds.length);
  expect(killed).toBeGreaterThan(seeds.length / 10);
}, 600_000);

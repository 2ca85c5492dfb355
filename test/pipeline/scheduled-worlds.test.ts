import { expect, test } from 'vitest';
import { thorough } from '../support/thorough.ts';
import { checkWorld } from './kept-promises.ts';
import { scheduledWorld } from './scheduled-world.ts';

/** `PIPELINE_SEED=17` runs one seed alone. */
const only = process.env['PIPELINE_SEED'];
const worlds = thorough ? 1_000 : 40;
const seeds = only === undefined ? Array.from({ length: worlds }, (_, at) => at + 1) : [Number(only)];
/** The limit is longer than any opening, hold and wait together. */
const longestMs = 10 * 24 * 3_600_000;

test('nothing with a time of its own is called outside of it, sent twice, lost or left untold (R54, D56)', async () => {
  let taken = 0;
  let late = 0;
  let waited = 0;
  for (const seed of seeds) {
    const world = scheduledWorld(seed);
    await world.run(longestMs);
    try {
      checkWorld(world);
    } catch (error) {
      throw new Error(`seed ${seed}: replay it with PIPELINE_SEED=${seed}`, { cause: error });
    }
    taken += world.platform.posts.filter((post) => post.taken).length;
    const later = world.platform.posts.filter(({ messageId, atMs }) => {
      const { head } = world.accepted.find((each) => each.messageId === messageId)?.dispatch ?? {};
      return atMs > (head?.acceptedAtMs ?? 0) + 1_800_000;
    });
    waited += later.length;
    late += [...world.told.values()].filter(({ type }) => type === 'message.expired').length;
  }
  if (only !== undefined) return;
  expect(taken).toBeGreaterThan(10 * seeds.length);
  expect(waited).toBeGreaterThan(seeds.length);
  expect(late).toBeGreaterThan(seeds.length);
}, 600_000);

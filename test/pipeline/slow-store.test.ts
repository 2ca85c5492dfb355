import { expect, test } from 'vitest';
import { seededRandom } from '../support/faults.ts';
import { accept, quietWorld } from './quiet-world.ts';
import type { CallFault } from './runs.ts';
import { startMs } from './world.ts';

const writes: ReadonlySet<string> = new Set([
  ...['claimSlice', 'endSlice', 'mark', 'changePace', 'list'],
  ...['changeLease', 'changeEntry', 'removeOwnEntry', 'closePlaces'],
]);
const trouble = { fromMs: startMs + 5_000, untilMs: startMs + 185_000 };
const [dispatches, size] = [3, 900];

test.each<[CallFault, number]>([
  ['fails', 1],
  ['fails', 0.7],
  ['reply_lost', 1],
  ['reply_lost', 0.7],
  ['lands_late', 1],
  ['lands_late', 0.7],
])(
  'while writes come to %s for three minutes (%d of them) no wakes pile up, and nothing is sent twice or lost',
  async (fault, share) => {
    const random = seededRandom(3);
    const isTroubled = () => world.time.nowMs >= trouble.fromMs && world.time.nowMs < trouble.untilMs;
    const world: ReturnType<typeof quietWorld> = quietWorld({
      random,
      faultOf: (name) => (writes.has(name) && isTroubled() && random() < share ? fault : undefined),
      workers: 20,
    });
    for (let clientId = 1; clientId <= dispatches; clientId += 1) accept(world, size, { clientId });
    let mostQueued = 0;
    const look = async () => {
      for (let second = 0; second < 240; second += 1) {
        await world.time.sleep(1_000);
        mostQueued = Math.max(mostQueued, world.queues.dispatch.live);
      }
    };
    void look();
    await world.run(6 * 3_600_000);
    expect(mostQueued).toBeLessThanOrEqual(50);
    const taken = world.platform.posts.filter((post) => post.taken).map(({ messageId }) => messageId);
    expect(new Set(taken).size).toBe(taken.length);
    const outcomes = [...world.table.slices.values()].flatMap((slice) => slice.outcomes);
    expect(outcomes.filter((outcome) => outcome?.state === 'sent' || outcome?.state === 'unknown')).toHaveLength(
      dispatches * size,
    );
    expect(outcomes.filter((outcome) => outcome?.state === 'sent').length).toBeLessThanOrEqual(taken.length);
    expect(world.deadLetters).toBe(0);
  },
  120_000,
);

import { accept, estimatedRun, limitPerSecond, quietWorld } from '../pipeline/quiet-world.ts';
import { type PipelineWorld, startMs } from '../pipeline/world.ts';
import { report } from './figure.ts';

const hourMs = 3_600_000;

/**
 * Measures in virtual time how messages leave a number of 80 a second (D43): calls to the platform, and how much of the
 * number is used. `fairness.ts` measures clients that share a number.
 */
export async function benchPace(): Promise<void> {
  for (const [count, size] of [
    [1, 10_000],
    [2, 5_000],
    [10, 1_000],
    [100, 100],
  ] as const) {
    await drained(count, size);
  }
  await refusedAfterPause();
  await estimated();
}

/** Every dispatch is there from the beginning, and the world runs until all have ended. */
async function drained(count: number, size: number): Promise<void> {
  const world = quietWorld();
  for (let at = 0; at < count; at += 1) accept(world, size);
  await world.run(hourMs);
  const times = postTimes(world);
  const messages = count * size;
  if (times.length < messages) throw new Error(`only ${times.length} of ${messages} messages left`);
  const [firstMs = 0, lastMs = 0] = [times[0], times.at(-1)];
  const idealMs = (messages / limitPerSecond) * 1_000;
  const used = messages / ((lastMs - firstMs) / 1_000) / limitPerSecond;
  const of = (name: string) => `pace.${name}_of_${count}_dispatches`;
  report({ figure: of('calls_per_message'), value: times.length / messages, limit: 1.02, unit: 'ratio' });
  report({ figure: of('unused_share'), value: 1 - used, limit: 0.13, unit: 'of the limit' });
  report({ figure: of('most_in_a_second'), value: mostInASecond(times), limit: limitPerSecond, unit: 'messages' });
  report({ figure: of('drain_to_ideal'), value: (lastMs - startMs) / idealMs, limit: 1.18, unit: 'ratio' });
}

/** The platform pauses the template in the middle of a dispatch, for ten minutes (D46). */
async function refusedAfterPause(): Promise<void> {
  const pausedMs = startMs + 60_000;
  const resumedMs = pausedMs + 600_000;
  const messages = 10_000;
  const world: PipelineWorld = quietWorld({
    fateOf: () => (world.time.nowMs >= pausedMs && world.time.nowMs < resumedMs ? 'template_paused' : 'taken'),
  });
  const dispatchId = accept(world, messages);
  void world.dispatchStands(dispatchId, undefined, resumedMs - startMs);
  await world.run(hourMs);
  const refused = world.platform.posts.filter(({ taken }) => !taken).length;
  if (world.platform.posts.length - refused < messages) throw new Error('not every message left after the pause');
  // The workers may hold two chunks.
  report({ figure: 'pace.refused_calls_after_a_pause', value: refused, limit: 60, unit: 'calls' });
}

/** Compares a rehearsal with the run that follows it, of 2,000 recipients on an idle number (D51). */
async function estimated(): Promise<void> {
  const { estimatedMs, ranMs } = await estimatedRun(2_000);
  report({
    figure: 'pace.estimate_of_2000_recipients',
    value: Math.abs(estimatedMs / ranMs - 1),
    limit: 0.1,
    unit: 'off the run',
  });
}

function postTimes(world: PipelineWorld): number[] {
  return world.platform.posts.map(({ atMs }) => atMs);
}

/** Returns the most calls in any second, not only in calendar seconds. */
function mostInASecond(times: readonly number[]): number {
  let most = 0;
  let from = 0;
  for (const [at, timeMs] of times.entries()) {
    while (timeMs - (times[from] ?? timeMs) >= 1_000) from += 1;
    most = Math.max(most, at - from + 1);
  }
  return most;
}

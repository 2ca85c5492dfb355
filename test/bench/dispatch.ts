import { accept, quietWorld } from '../pipeline/quiet-world.ts';
import { report } from './figure.ts';

/**
 * Measures what the workers write and read for each message of a job, and how much longer a request of ten takes than a
 * request of one.
 */
export async function benchDispatch(): Promise<void> {
  await benchRequests();
  await benchRequestOfTen();
}

async function benchRequests(): Promise<void> {
  const world = quietWorld();
  const messages = 3_000;
  accept(world, messages);
  await world.run(3_600_000);
  const { meter } = world;
  const tell = (name: string, calls: readonly string[], limit: number) => {
    const value = calls.reduce((sum, call) => sum + meter.callsOf(call), 0) / messages;
    report({ figure: `dispatch.${name}_per_message`, value, limit, unit: 'requests' });
  };
  tell('claims', ['claimSlice'], 0.1);
  tell('ends', ['endSlice'], 0.1);
  // The fan-out of a job reserves its slots, so workers write more only when they miss one.
  tell('other_writes', ['changePace', 'mark', 'changeBreaker', 'takeTenth'], 0.01);
  tell('reads', ['look', 'jobOf', 'findPace', 'findBreaker', 'findSlice', 'hasReceipt'], 0.2);
}

/** The number is so fast that ten slots are over at once. */
async function benchRequestOfTen(): Promise<void> {
  const [one, ten] = [await msOfRun(1), await msOfRun(10)];
  report({ figure: 'dispatch.request_of_10_to_1', value: ten / one, limit: 1.3, unit: 'ratio' });
}

async function msOfRun(size: number): Promise<number> {
  const world = quietWorld({ limitPerSecond: 1_000, answerMs: () => 150, latencyMs: () => 2.5 });
  accept(world, size);
  await world.run(3_600_000);
  const { runs, ms } = world.meter.timesOf('small');
  if (runs !== 1 || world.platform.posts.length !== size) throw new Error('a request was not sent in one run');
  return ms;
}

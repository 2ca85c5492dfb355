import { expect, test } from 'vitest';
import { explore } from '../../support/exploration.ts';
import { checkPromises, eventsBetween } from './held-jobs-promises.ts';
import { released, successorsOf, type World } from './held-jobs-space.ts';

/*
 * Every order in which the writers of a job item meet (items.ts): acceptance takes the job back, the fan-out begins it and
 * releases its message, a client cancels it, workers claim, read, call and park, the watcher resumes or stops, while the
 * platform pauses and approves the template, a report is read, one call fails or loses its reply, and one run dies. Workers
 * and watchers are the real ones; the job item obeys the conditions of items.ts, to which an adapter test holds the store.
 */

const nothing: World = {
  ...{ job: {}, template: 'APPROVED', templateChangesLeft: 0, fanOut: 'waiting', claimedLate: false, sent: 0 },
  ...{ queue: [], watches: [], runs: [], runsLeft: 2, looksLeft: 0, faultsLeft: 1, report: 'none' },
};
const waiting: Partial<World> = { job: { begun: true }, fanOut: 'over', queue: [released], report: 'saw none' };

test.each([
  [
    'taking back, beginning, cancelling, claiming',
    { ...nothing, runsLeft: 3, faultsLeft: 2 },
    ['stopped', 'sent', 'cancelledInTime', 'ended'],
    4_000,
  ],
  [
    'parking, cancelling, claiming',
    { ...nothing, ...waiting, template: 'PAUSED', templateChangesLeft: 1, looksLeft: 1 },
    ['parked', 'stopped', 'sent', 'cancelledInTime'],
    15_000,
  ],
  [
    'parking, resuming, going on',
    { ...nothing, ...waiting, template: 'PAUSED', templateChangesLeft: 1, looksLeft: 2, faultsLeft: 0 },
    ['parked', 'resumed', 'sent', 'pauseEnded'],
    4_000,
  ],
] as const)(
  '%s: nothing is sent after a stop, nothing vanishes, and no parked job is forgotten (D25, D46, D53)',
  { timeout: 300_000 },
  async (_, first, expected, least) => {
    const met = new Set<string>();
    const states = await explore<World>(first, {
      successorsOf,
      keyOf: (world) => JSON.stringify(world),
      check: (world, before) => {
        checkPromises(world, before);
        for (const event of eventsBetween(before, world)) met.add(event);
      },
    });
    // Guards against an exploration that sees nothing.
    expect(expected.filter((event) => !met.has(event))).toEqual([]);
    expect(states).toBeGreaterThan(least);
  },
);

import { expect, test } from 'vitest';
import { noHolds } from '../../../lib/messages/holds/hold.ts';
import { parkedWatchOf } from '../../../lib/messages/watch/watch-message.ts';
import { explore } from '../../support/exploration.ts';
import { begunItem } from '../../support/messages-table/dispatch-item.ts';
import { scenarioHead, startMs } from '../../support/scenario-dispatch.ts';
import { thorough } from '../../support/thorough.ts';
import { roundMessage } from './held-dispatches-model.ts';
import { checkPromises, eventsBetween } from './held-dispatches-promises.ts';
import { keyOf, pausedSince, successorsOf, type World } from './held-dispatches-space.ts';
import { firstStore } from './held-dispatches-store.ts';

/**
 * Explores every order of a dispatch's writers: acceptance, fan-out, cancel, workers and watcher, while the platform
 * pauses and approves the template, one call fails or loses its reply, and one run dies. The stopped dispatch's reads
 * are in report/stopped-dispatches-explorer.test.ts.
 */

/** Bounds the deliveries from each queue, and what else may happen. */
function left(fanOuts: number, workers: number, watchers: number, others: Partial<World['left']> = {}): World['left'] {
  const none = { faults: 0, changes: 0, cancels: 0, parks: 0 };
  return { 'fan-out': fanOuts, worker: workers, watcher: watchers, ...none, ...others };
}

const nothing: World = {
  ...{ ...firstStore, dispatches: [JSON.stringify(roundMessage)], total: 1, runs: [], begun: 0 },
  left: left(0, 0, 0),
};
const begun: World = { ...nothing, template: 'PAUSED' };
const sinceMs = startMs - 1;
const waiting: World = {
  ...begun,
  dispatch: { ...begunItem, parked: { code: 'template_paused', scope: 'template', sinceMs }, pausedFromMs: sinceMs },
  holds: pausedSince(sinceMs)(noHolds),
  watches: [JSON.stringify(parkedWatchOf(scenarioHead, sinceMs))],
};

interface Scenario {
  readonly name: string;
  readonly first: World;
  /** The exploration must reach these events, or it proves nothing. */
  readonly sees: readonly string[];
}

const scenarios: readonly Scenario[] = [
  {
    name: 'beginning, cancelling, claiming',
    first: { ...nothing, left: left(2, 3, 0, { faults: thorough ? 2 : 1, cancels: 1 }) },
    sees: ['stopped cancelled', 'taken', 'failed', 'ended by the fan-out', 'stopped with a wave announced'],
  },
  {
    name: 'paused in the middle of a slice',
    first: { ...begun, total: 2, template: 'APPROVED', left: left(1, 2, 1, { changes: 1, faults: 1 }) },
    sees: ['parked', 'ended apart', 'dispatch.parked', 'stopped 132016'],
  },
  {
    name: 'parked for a message of another slice',
    first: { ...begun, left: left(1, 2, 2, { changes: 1, parks: 1 }) },
    sees: ['parked', 'resumed', 'taken', 'pauseEnded'],
  },
  {
    name: 'parking, cancelling, claiming',
    first: { ...begun, left: left(1, 3, 1, { changes: 1, faults: 1, cancels: 1 }) },
    sees: ['parked', 'stopped cancelled', 'taken', 'tried again'],
  },
  {
    name: 'parking, resuming, going on',
    first: { ...begun, left: left(1, 2, 3, { changes: 1, faults: 1 }) },
    sees: ['resumed', 'taken', 'pauseEnded', 'dispatch.resumed'],
  },
  {
    name: 'called back, and refused again',
    first: { ...begun, left: left(1, 3, 4, { changes: 2 }) },
    sees: ['parked again', 'taken', 'pauseEnded', 'dispatch.resumed'],
  },
  {
    name: 'parked before it is released',
    first: { ...waiting, left: left(3, 2, 2, { changes: 1, faults: 1 }) },
    sees: ['waited', 'resumed', 'taken', 'ended by the fan-out'],
  },
];

test.each(thorough ? scenarios : scenarios.slice(0, 3))(
  '$name: nothing is sent after a stop, nothing vanishes, and no parked dispatch is forgotten (D25, D34, D46, D53)',
  async ({ first, sees }) => {
    const met = new Set<string>();
    await explore<World>(first, {
      successorsOf,
      keyOf,
      check: (world, before) => {
        checkPromises(world, before);
        for (const event of eventsBetween(before, world)) met.add(event);
      },
    });
    expect(sees.filter((event) => !met.has(event))).toEqual([]);
  },
  300_000,
);

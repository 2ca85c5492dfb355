import { expect, test } from 'vitest';
import { explore } from '../../../support/exploration.ts';
import { thorough } from '../../../support/thorough.ts';
import type { ReaderKind } from './stopped-dispatches-readers.ts';
import { firstWorld, keyOf, successorsOf, type World } from './stopped-dispatches-space.ts';

/**
 * Explores every order in which a dispatch is stopped and its slice is claimed, called, ended, retried and found dead,
 * while cancellation, watcher and reports read it. Workers and readers are real; calls fail, runs die and claims
 * expire.
 */

const killed = { deliveries: 2, faults: 0, waits: 1 };
const faulty = { deliveries: 2, faults: 1, waits: 0 };
const calm = { deliveries: 2, faults: 0, waits: 0 };
type Readers = readonly ReaderKind[];
const worlds: [Readers, number, World['left']][] = [
  [['cancellation', 'report'], 1, killed],
  [['report', 'cancellation'], 1, killed],
  [['sender', 'report'], 1, killed],
];
const largerWorlds: typeof worlds = [
  [['cancellation', 'sender'], 1, killed],
  [['cancellation', 'report'], 1, faulty],
  [['sender', 'cancellation', 'report'], 1, calm],
  [['cancellation', 'later page'], 2, calm],
];

test.each(thorough ? [...worlds, ...largerWorlds] : worlds)(
  '%j, of %i recipients: nothing that was told as ended is pending again, or ends otherwise (D40, D41, D53)',
  async (readers, recipients, left) => {
    const met = new Set<string>();
    const states = await explore<World>(firstWorld([recipients], { ...left, readers }), {
      successorsOf,
      keyOf,
      check: ({ broken, told, dispatch, store }) => {
        if (broken !== undefined) throw new Error(broken);
        if (told.complete) met.add('complete');
        if (Object.keys(dispatch.underWay ?? {}).length > 0) met.add('a try under way');
        for (const { try: tried, outcomes } of Object.values(store.slices)) {
          if (tried > 0) met.add('a later try');
          for (const outcome of outcomes) met.add(outcome?.state ?? 'open');
        }
      },
    });
    // An exploration that reaches too little must fail.
    const sees = ['complete', 'a try under way', 'a later try', 'sent', 'again', 'failed'];
    if (left.waits > 0) sees.push('unknown');
    expect(sees.filter((event) => !met.has(event))).toEqual([]);
    expect(states).toBeGreaterThan(10_000);
  },
  300_000,
);

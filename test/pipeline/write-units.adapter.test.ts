import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Recipient } from '../../lib/messages/dispatch/head.ts';
import { seededRandom } from '../support/faults.ts';
import { makeDispatch } from '../support/made-dispatches.ts';
import { freshTable, patientDocumentClient } from '../support/stores.ts';
import { thorough } from '../support/thorough.ts';
import { type MeteredRun, meterDispatches } from './metered-dispatches.ts';
import { limitPerSecond } from './quiet-world.ts';
import { startMs } from './world.ts';

function clients(): MeteredRun['clients'] {
  return [patientDocumentClient(), patientDocumentClient(), patientDocumentClient(), patientDocumentClient()];
}

/** Returns numbers as far apart as those of a real list, which compress badly. */
function recipientsOf(count: number): Recipient[] {
  const random = seededRandom(15);
  return Array.from({ length: count }, (_, index) => ({
    to: String(5_491_100_000_000 + Math.floor(random() * 100_000_000)),
    params: { body: [`Ana ${index}`], buttons: [`order-${index}`] },
  }));
}

test.runIf(thorough).each([0, 1_000])(
  'a dispatch of 1,000 costs two write units for ten messages and few for its sender, on a queue that is %i ms late (R15)',
  async (delayJitterMs) => {
    const total = 1_000;
    const head = {
      ...{ dispatchId: '01KAH000000000000000000DISPATCH', acceptedAtMs: startMs, throughputPerSecond: limitPerSecond },
      ...{ correlationId: randomUUID(), attends: { waitTime: 3_600, skill: 'sales' } },
    };
    const { posted, store, meter } = await meterDispatches({
      dispatches: [{ dispatch: makeDispatch(recipientsOf(total), head), afterMs: 0 }],
      clients: clients(),
      table: await freshTable('messages'),
      delayJitterMs,
    });
    expect([posted.length, new Set(posted).size]).toEqual([total, total]);
    // Each slice takes a claim and an end; lease, floor and end of the dispatch take few more.
    expect(store.dispatch.writeUnits).toBeGreaterThanOrEqual(2 * (total / 10));
    expect(store.dispatch.writeUnits).toBeLessThanOrEqual(2 * (total / 10) + 40);
    expect(meter.timesOf('dispatch').runs).toBeLessThanOrEqual(6);
    // Pages, addresses, record, entry and beginning.
    expect(store.acceptance.writeUnits).toBeLessThanOrEqual(0.05 * total);
  },
);

test.runIf(thorough)(
  'a small request costs five write units at most, with its listing and its places (R15)',
  async () => {
    const requests = 20;
    const { posted, store } = await meterDispatches({
      dispatches: Array.from({ length: requests }, (_, at) => ({
        dispatch: makeDispatch(recipientsOf(1), {
          dispatchId: `01KAH0000000000000000SMALL${String(at).padStart(4, '0')}`,
          acceptedAtMs: startMs + 1_000 * at,
          throughputPerSecond: limitPerSecond,
          urgent: true,
        }),
        afterMs: 1_000 * at,
      })),
      clients: clients(),
      table: await freshTable('messages'),
    });
    expect(posted).toHaveLength(requests);
    expect(store.dispatch.writeUnits).toBe(0);
    expect(store.small.writeUnits).toBeLessThanOrEqual(5 * requests);
  },
);

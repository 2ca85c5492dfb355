import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Recipient } from '../../lib/messages/dispatch/head.ts';
import { seededRandom } from '../support/faults.ts';
import { makeDispatch } from '../support/made-dispatches.ts';
import { freshTable, patientDocumentClient } from '../support/stores.ts';
import { thorough } from '../support/thorough.ts';
import { meterDispatches } from './metered-dispatches.ts';
import { limitPerSecond } from './quiet-world.ts';
import { startMs } from './world.ts';

/** Returns numbers as far apart as those of a real list, which compress badly. */
function recipientsOf(count: number): Recipient[] {
  const random = seededRandom(15);
  return Array.from({ length: count }, (_, index) => ({
    to: String(5_491_100_000_000 + Math.floor(random() * 100_000_000)),
    params: { body: [`Ana ${index}`], buttons: [`order-${index}`] },
  }));
}

test.runIf(thorough).each([0, 1_000])(
  'a dispatch of 1,000 costs two write units for ten messages and few for the dispatch, on a queue that is %i ms late (R15)',
  async (delayJitterMs) => {
    const total = 1_000;
    const head = {
      ...{ dispatchId: '01KAH000000000000000000DISPATCH', acceptedAtMs: startMs, throughputPerSecond: limitPerSecond },
      ...{ correlationId: randomUUID(), attends: { waitTime: 3_600, skill: 'sales' } },
    };
    const { posted, store, meter } = await meterDispatches({
      dispatches: [{ dispatch: makeDispatch(recipientsOf(total), head), afterMs: 0 }],
      clients: [patientDocumentClient(), patientDocumentClient(), patientDocumentClient()],
      table: await freshTable('messages'),
      delayJitterMs,
    });
    expect([posted.length, new Set(posted).size]).toEqual([total, total]);
    // Each slice takes a claim and an end, and nothing else.
    expect(store.dispatch.writeUnits).toBe(2 * (total / 10));
    expect(meter.timesOf('dispatch').runs).toBeLessThanOrEqual(Math.ceil(total / 30) + 1);
    // The rest goes from the description of the dispatch to its last wave.
    expect(store.acceptance.writeUnits + store.fanOut.writeUnits).toBeLessThanOrEqual(0.05 * total);
  },
);

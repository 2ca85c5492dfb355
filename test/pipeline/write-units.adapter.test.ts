import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Recipient } from '../../lib/messages/job.ts';
import { seededRandom } from '../support/faults.ts';
import { makeJob } from '../support/send-jobs.ts';
import { freshTable, patientDocumentClient } from '../support/stores.ts';
import { thorough } from '../support/thorough.ts';
import { limitPerSecond, meterJobs } from './metered-jobs.ts';
import { startMs } from './world.ts';

/** Numbers as far apart as those of a real list, which do not pack well. */
function recipientsOf(count: number): Recipient[] {
  const random = seededRandom(15);
  return Array.from({ length: count }, (_, index) => ({
    to: String(5_491_100_000_000 + Math.floor(random() * 100_000_000)),
    params: { body: [`Ana ${index}`], buttons: [`order-${index}`] },
  }));
}

test.runIf(thorough)(
  'a job of 1,000 costs a write unit for each message, one for each run of the workers, and few for the job (R15)',
  async () => {
    const total = 1_000;
    const head = {
      ...{ jobId: '01KAH000000000000000000JOB', acceptedAtMs: startMs, throughputPerSecond: limitPerSecond },
      ...{ correlationId: randomUUID(), attends: { waitTime: 3_600, skill: 'sales' } },
    };
    const { posted, store, dispatch } = await meterJobs({
      jobs: [{ job: { ...makeJob(recipientsOf(total), head), firstIndex: 0 }, afterMs: 0 }],
      clients: [patientDocumentClient(), patientDocumentClient(), patientDocumentClient()],
      table: await freshTable('messages'),
    });
    expect([posted.length, new Set(posted).size]).toEqual([total, total]);
    // A claim a message and a record a run, and nothing else. How many come together is the queue's to say.
    expect(store.dispatch.writeUnits).toBe(total + dispatch.runs);
    expect(dispatch.runs).toBeLessThanOrEqual(total);
    // From the description of the job to its last wave.
    expect(store.acceptance.writeUnits + store.fanOut.writeUnits).toBeLessThanOrEqual(0.05 * total);
  },
);

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { acceptedJobsStore } from '../../../../lib/messages/accept/accepted-jobs-store.ts';
import { standingStore } from '../../../../lib/messages/chunks/standing-store.ts';
import { cancelled } from '../../../../lib/messages/job-state.ts';
import { jobStateStore } from '../../../../lib/messages/job-state-store.ts';
import { unknownPace } from '../../../../lib/messages/pace/number-pace.ts';
import { paceStore } from '../../../../lib/messages/pace/pace-store.ts';
import { reserve } from '../../../../lib/messages/pace/reserve.ts';
import { lagReads } from '../../../support/lagging-reads.ts';
import { makeJobHead } from '../../../support/send-jobs.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const phoneNumberId = '300000000000001';
const nowMs = 1_800_000_000_000;

test('one look shows the number as it was written last, and each job as it stands', async () => {
  const [client, table] = [localDocumentClient(), await freshTable('messages')];
  const late = localDocumentClient();
  lagReads(late);
  const look = standingStore(late, table);
  expect(await look(phoneNumberId, ['none'])).toEqual({ pace: unknownPace, jobs: new Map() });
  const jobs = acceptedJobsStore(client, table, () => nowMs);
  for (const jobId of ['sent', 'stopped']) await jobs.begin({ head: makeJobHead({ jobId }), repeats: [] });
  // A number that has sent nothing yet.
  expect(await look(phoneNumberId, ['sent'])).toEqual({
    pace: unknownPace,
    jobs: new Map([['sent', { begun: true }]]),
  });

  const paces = paceStore({ client, table, nowMs: () => nowMs, newWriter: randomUUID });
  const wanted = { phoneNumberId, limitPerSecond: 80, clientId: 1, lane: '*', count: 2 };
  const { pace } = await reserve(paces, wanted, nowMs);
  const stop = cancelled(nowMs);
  await jobStateStore(client, table).stop({ jobId: 'stopped', acceptedAtMs: nowMs }, stop);

  // As of ten chunks of one number, two of them of one job.
  const found = await look(phoneNumberId, ['sent', 'stopped', 'sent', 'none']);
  expect(found.pace).toEqual(pace);
  expect([...found.jobs].sort()).toEqual([
    ['sent', { begun: true }],
    ['stopped', { begun: true, stop }],
  ]);
});

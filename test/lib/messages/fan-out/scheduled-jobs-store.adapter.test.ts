import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from 'vitest';
import { type AcceptedJobs, acceptedJobsStore } from '../../../../lib/messages/accept/accepted-jobs-store.ts';
import type { JobRounds } from '../../../../lib/messages/fan-out/job-rounds.ts';
import { jobRoundsStore } from '../../../../lib/messages/fan-out/job-rounds-store.ts';
import type { LostRoundsPorts, ScheduledJob } from '../../../../lib/messages/fan-out/lost-rounds.ts';
import { scheduledJobsStore } from '../../../../lib/messages/fan-out/scheduled-jobs-store.ts';
import { jobKey } from '../../../../lib/messages/items.ts';
import type { JobHead } from '../../../../lib/messages/job.ts';
import { makeJobHead } from '../../../support/send-jobs.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

/** The list holds the scheduled jobs that have begun (D56, R54). */

const nowMs = 1_800_000_000_000;
const client = localDocumentClient();
let accepted: AcceptedJobs;
let rounds: JobRounds;
let scheduled: LostRoundsPorts['scheduled'];
let table: string;
beforeAll(async () => {
  table = await freshTable('messages');
  const unused = () => Promise.reject(new Error('not asked here'));
  accepted = acceptedJobsStore(client, table, () => nowMs);
  rounds = jobRoundsStore({ client, table }, { find: unused, recipientsFrom: unused, begin: accepted.begin });
  scheduled = scheduledJobsStore(client, table);
});

const when = { asked: { send_at: '2027-01-15T09:00:00Z' }, fromMs: nowMs + 1_000 };
const begin = (head: Partial<JobHead>) => rounds.begin({ ...storedJob, head: makeJobHead(head) });
const storedJob = {
  plan: { templateName: '', languageCode: '', buttons: [], cards: [] },
  repeats: [],
  waitsMs: new Map(),
};

async function listed(): Promise<ScheduledJob[]> {
  const jobs: ScheduledJob[] = [];
  for await (const some of scheduled.all()) for (const job of some) if ('head' in job) jobs.push(job);
  return jobs.toSorted((one, other) => (one.head.jobId < other.head.jobId ? -1 : 1));
}

test('a job with a time of its own is listed from its beginning until it is left; others never', async () => {
  await begin({ jobId: 'NONE' });
  await begin({ jobId: 'SCHEDULED', when, correlationId: 'C' });
  await begin({ jobId: 'SCHEDULED', when, correlationId: 'C' });
  await accepted.withdraw('TAKEN');
  expect(await begin({ jobId: 'TAKEN', when })).toBe('withdrawn');
  expect(await listed()).toMatchObject([{ head: { jobId: 'SCHEDULED', clientId: 1001, correlationId: 'C' } }]);

  const run = { jobId: 'SCHEDULED', round: 0, owner: 'a' };
  await rounds.take(run, nowMs);
  expect((await listed())[0]?.round).toEqual({ round: 0, lease: { owner: 'a', untilMs: nowMs + 45_000 } });
  await rounds.handOver(run, { queued: 10, ofStretches: [10, 0] }, { round: 1, dueMs: nowMs + 900_000 });
  expect((await listed())[0]?.round).toEqual({ round: 1, dueMs: nowMs + 900_000 });
  const next = await rounds.take({ ...run, round: 1 }, nowMs);
  expect(next).toMatchObject({ kind: 'taken', progress: { queued: 10, ofStretches: [10, 0] } });

  await rounds.leaveSchedule('SCHEDULED');
  expect(await listed()).toEqual([]);
});

test('jobs of every partition are found, and one is left by who finds it over', async () => {
  const jobIds = Array.from({ length: 30 }, (_, at) => `M${String(at).padStart(4, '0')}`);
  await Promise.all(jobIds.map((jobId) => begin({ jobId, when })));
  expect((await listed()).map(({ head }) => head.jobId)).toEqual(jobIds);
  await scheduled.leave('M0007');
  expect(await listed()).toHaveLength(29);
});

test('a late announcement of an ending takes back no wave from the same place', async () => {
  await begin({ jobId: 'LATE', when });
  const run = { jobId: 'LATE', round: 0, owner: 'a' };
  await rounds.take(run, nowMs);
  const ended = { queued: 10, ofStretches: [10, 0] };
  const wave = { from: 10, until: 20, position: 0 };
  expect(await rounds.announce(run, ended, nowMs)).toEqual({});
  expect(await rounds.announce(run, { ...ended, wave }, nowMs)).toEqual({});
  expect(await rounds.announce(run, ended, nowMs)).toBeUndefined();
  expect(await rounds.take(run, nowMs)).toMatchObject({ progress: { ...ended, wave } });
  expect(await rounds.announce(run, { queued: 20, ofStretches: [10, 10] }, nowMs)).toEqual({});
});

test.each([
  ['head', '{'],
  ['round', { round: 'x' }],
])('a job whose %s cannot be read is told as such, and the others are listed', async (attribute, value) => {
  const others = await listed();
  const jobId = `BROKEN-${attribute}`;
  await begin({ jobId, when });
  await client.send(
    new UpdateCommand({
      ...{ TableName: table, Key: jobKey(jobId), UpdateExpression: 'SET #broken = :value' },
      ...{ ExpressionAttributeNames: { '#broken': attribute }, ExpressionAttributeValues: { ':value': value } },
    }),
  );
  const unreadable: unknown[] = [];
  for await (const jobs of scheduled.all()) unreadable.push(...jobs.filter((job) => 'error' in job));
  expect(unreadable).toMatchObject([{ jobId }]);
  expect(await listed()).toEqual(others);
  await scheduled.leave(jobId);
});

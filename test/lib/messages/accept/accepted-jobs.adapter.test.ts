import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test, vi } from 'vitest';
import type { ItemKey } from '../../../../lib/aws/item-key.ts';
import { acceptedJobsStore } from '../../../../lib/messages/accept/accepted-jobs-store.ts';
import { maxRecipientBytes, ParametersGone } from '../../../../lib/messages/accept/parameter-pages.ts';
import { parameterStore } from '../../../../lib/messages/accept/parameter-store.ts';
import { straightRequest } from '../../../../lib/messages/accept/straight-request.ts';
import { addressesOf, type WholeJob } from '../../../../lib/messages/accept/whole-job.ts';
import { headOfChunk } from '../../../../lib/messages/chunk.ts';
import { isWithdrawn } from '../../../../lib/messages/dispatch/claims/slice.ts';
import { sliceStore } from '../../../../lib/messages/dispatch/claims/slice-store.ts';
import {
  acceptedKey,
  dispatchesPartition,
  jobKey,
  jobSortKey,
  parametersKey,
  recipientsKey,
} from '../../../../lib/messages/items.ts';
import type { JobHead } from '../../../../lib/messages/job.ts';
import { cancelled } from '../../../../lib/messages/job-state.ts';
import { jobStateStore } from '../../../../lib/messages/job-state-store.ts';
import { dispatchesStore } from '../../../../lib/messages/report/dispatches-store.ts';
import { reportStore } from '../../../../lib/messages/report/report-store.ts';
import { injectFaults } from '../../../support/dynamo-faults.ts';
import { lagReads } from '../../../support/lagging-reads.ts';
import { makeJob, makeRecipients } from '../../../support/send-jobs.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

// A started second counts as a whole one.
const nowMs = 1_700_000_000_001;
const in30DaysSeconds = 1_700_000_001 + 30 * 86_400;
/** A scheduled send lives for 125 days at most (D56). */
const in125DaysSeconds = Math.ceil(nowMs / 1_000) + 125 * 86_400;
const client = localDocumentClient();
const table = await freshTable('messages');
const jobs = acceptedJobsStore(client, table, () => nowMs);
const parameters = parameterStore(client, table);
const slices = sliceStore({ client, table, nowMs: () => nowMs });
const { signal } = new AbortController();

async function itemOf(Key: ItemKey) {
  return (await client.send(new GetCommand({ TableName: table, Key, ConsistentRead: true }))).Item;
}

/** Counts the requests of a client to the table. */
function metered(documentClient = localDocumentClient(), onCommand: (name: string) => void = () => undefined) {
  const commands: string[] = [];
  documentClient.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        commands.push(String(commandName));
        onCommand(String(commandName));
        return await next(args);
      },
    { step: 'initialize', name: 'meter' },
  );
  return { jobs: acceptedJobsStore(documentClient, table, () => nowMs), commands };
}

let made = 0;
function jobOf(count: number, head: Partial<JobHead> = {}, textBytes = 40): WholeJob {
  made += 1;
  const jobId = `01JD${String(made).padStart(22, '0')}`;
  return makeJob(makeRecipients(count, textBytes), { jobId, acceptedAtMs: nowMs, ...head });
}

async function chunkOf(job: WholeJob) {
  const straight = await straightRequest(job, async () => 40);
  if (straight === undefined) throw new Error('it goes as a job');
  return straight;
}

async function listed({ clientId, did }: JobHead) {
  const list = dispatchesStore(client, table, () => nowMs);
  const question = { clientId, did, fromMs: undefined, toMs: undefined };
  const { accepted } = await list.listAccepted(question, { after: undefined, limit: 100 });
  return (await list.notWithdrawn(accepted)).map(({ jobId, total, campaignId }) => ({ jobId, total, campaignId }));
}

describe('parameters', () => {
  test('are read page by page, from any recipient on', async () => {
    const { head, recipients } = jobOf(1_200, {}, 300);
    await parameters.store({ head, recipients }, signal);
    const read: unknown[] = [];
    for (let pages = 0; read.length < recipients.length; pages += 1) {
      expect(pages).toBeLessThan(12);
      read.push(...(await parameters.read(head.jobId, read.length)));
    }
    expect(read).toEqual(recipients);
    for (const index of [1, 77, 499, 500, 501, 1_199]) {
      const some = await parameters.read(head.jobId, index);
      expect(some).toEqual(recipients.slice(index, index + some.length));
    }
  });

  test('are there until seven days after the job has ended', async () => {
    const { head, recipients } = jobOf(11);
    await parameters.store({ head, recipients }, signal);
    const first = await itemOf(parametersKey({ jobId: head.jobId, index: 0 }));
    expect(first).toMatchObject({ expiresAtSeconds: 1_700_000_001 + 8 * 86_400 });
  });

  test('are stored once more as they were', async () => {
    const { head, recipients } = jobOf(600);
    for (const _ of [1, 2]) await parameters.store({ head, recipients }, signal);
    expect(await parameters.read(head.jobId, 0)).toEqual(recipients.slice(0, 500));
  });

  test('that are gone are an error of that name, and so is an index behind the last', async () => {
    await expect(parameters.read('GONE', 0)).rejects.toThrow(ParametersGone);
    const { head, recipients } = jobOf(11);
    await parameters.store({ head, recipients }, signal);
    await expect(parameters.read(head.jobId, 11)).rejects.toThrow(ParametersGone);
    await expect(parameters.read(head.jobId, 500)).rejects.toThrow(ParametersGone);
  });

  test('of the largest recipient are one item', async () => {
    const text = '한'.repeat((maxRecipientBytes - 100) / 3);
    const job = { head: jobOf(1).head, recipients: [{ to: 'US.a', params: { body: [text] } }] };
    await parameters.store(job, signal);
    expect(await parameters.read(job.head.jobId, 0)).toEqual(job.recipients);
  });
});

describe('a job', () => {
  test('is found as it was described, with the plan of its messages, and by its report with its recipients (D40)', async () => {
    const job = { ...jobOf(2_600), repeats: [[3, 1]] as [number, number][] };
    const { head, plan, repeats, recipients } = job;
    expect(await jobs.find(head.jobId)).toBeUndefined();
    await jobs.describe(job, signal);
    expect(await jobs.find(head.jobId)).toEqual({ head, plan, repeats, waitsMs: new Map() });
    const report = await reportStore({ client, table, nowMs: () => nowMs }).findDescribed(head.jobId);
    expect(report).toMatchObject({ head, repeats });
    expect([...(report?.recipients ?? [])]).toEqual(recipients.map(({ to }, index) => [index, to]));
    expect(await itemOf(acceptedKey(head.jobId))).not.toHaveProperty('waitsMs');
    for (const key of [acceptedKey(head.jobId), recipientsKey(head.jobId, 0), recipientsKey(head.jobId, 2_500)]) {
      expect(await itemOf(key)).toMatchObject({ expiresAtSeconds: in30DaysSeconds });
    }
  });

  test('of one person many times over, and of dropped ones, says who waits for that', async () => {
    const { head, plan } = jobOf(1);
    const recipients = Array.from({ length: 5_000 }, (_, index) => ({ to: index % 2 === 0 ? '549110' : '+549110' }));
    const repeats = recipients.map((_, index): [number, number] => [5_000 + index, index]);
    await jobs.describe({ head, plan, recipients, repeats }, signal);
    const found = await jobs.find(head.jobId);
    expect(found?.repeats).toEqual(repeats);
    expect([found?.waitsMs.size, found?.waitsMs.get(44), found?.waitsMs.get(45)]).toEqual([4_955, undefined, 6_000]);
    expect(found?.waitsMs.get(4_999)).toBe(4_955 * 6_000);
  });

  test('is not there where its recipients could not be written', async () => {
    const faulty = localDocumentClient();
    injectFaults(faulty, (_, attempt) => (attempt === 2 ? { kind: 'throw', error: new Error('refused') } : undefined));
    const job = jobOf(2_600);
    await expect(acceptedJobsStore(faulty, table, () => nowMs).describe(job, signal)).rejects.toThrow('refused');
    expect(await jobs.find(job.head.jobId)).toBeUndefined();
  });

  test('is listed with all places of its request, by acceptance or when it begins, for 30 days', async () => {
    const { head } = jobOf(11, { clientId: 1002, campaignId: 7 });
    const { jobId } = head;
    await jobs.list({ head, repeats: [[3, 1]] }, signal);
    expect(await listed(head)).toEqual([{ jobId, total: 12, campaignId: 7 }]);
    const begun = jobOf(11, { clientId: 1003 });
    for (const _ of [1, 2]) expect(await jobs.begin({ head: begun.head, repeats: [[3, 1]] })).toBe('begun');
    expect(await listed(begun.head)).toEqual([{ jobId: begun.head.jobId, total: 12 }]);
    const { clientId, acceptedAtMs } = begun.head;
    const pointer = { pk: dispatchesPartition(clientId), sk: jobSortKey(acceptedAtMs, begun.head.jobId) };
    expect(await itemOf(pointer)).toMatchObject({ jobId: begun.head.jobId, expiresAtSeconds: in30DaysSeconds });
    const state = await jobStateStore(client, table).of([begun.head.jobId]);
    expect(state.get(begun.head.jobId)).toEqual({ begun: true });
  });

  test('that is listed is not listed once more when it begins, and is found, where reads are as late as they may be', async () => {
    const { head, plan, recipients } = jobOf(11, { clientId: 1006 });
    const late = localDocumentClient();
    lagReads(late);
    const { jobs: store, commands } = metered(late);
    await jobs.describe({ head, plan, recipients }, signal);
    await jobs.list({ head }, signal);
    expect(await listed(head)).toEqual([{ jobId: head.jobId, total: 11 }]);
    expect(await store.find(head.jobId)).toMatchObject({ head });
    expect(await itemOf(acceptedKey(head.jobId))).not.toHaveProperty('repeats');
    expect(await store.begin({ head, repeats: [] })).toBe('begun');
    expect(commands).toEqual(['GetItemCommand', 'UpdateItemCommand', 'GetItemCommand']);
  });

  test('that goes straight begins with its head and its addresses, and is listed', async () => {
    const job = jobOf(3, { clientId: 1004 });
    const chunk = await chunkOf(job);
    const { jobId } = job.head;
    expect(await jobs.beginStraight(chunk, signal)).toBe('begun');
    const [slice] = chunk.slices;
    // A later try carries fewer recipients.
    const later = { ...chunk, slices: [{ ...slice, try: 1, size: 3, recipients: slice?.recipients.slice(2) ?? [] }] };
    expect(await jobs.beginStraight(later)).toBe('begun');
    const item = await itemOf(jobKey(jobId));
    expect(item).toMatchObject({ head: JSON.stringify(headOfChunk(chunk)), expiresAtSeconds: in30DaysSeconds });
    expect(addressesOf(item?.['to'])).toEqual(job.recipients.map(({ to }) => to));
    expect(await listed(job.head)).toEqual([{ jobId, total: 3 }]);
  });

  test('that was stopped before it began stays so', async () => {
    const { head } = jobOf(11);
    const states = jobStateStore(client, table);
    await states.stop(head, cancelled(nowMs));
    expect(await jobs.begin({ head, repeats: [] })).toBe('begun');
    expect((await states.of([head.jobId])).get(head.jobId)).toEqual({ begun: true, stop: cancelled(nowMs) });
  });
});

describe('of beginning and withdrawal the first counts, and either may be repeated (D25)', () => {
  const claimOf = (jobId: string) => {
    const key = { jobId, slice: 0 };
    return { key, claim: { key, try: 0, owner: 'run', atMs: nowMs, size: 3 } };
  };

  test('what was taken back never begins, cannot be claimed and is in no list', async () => {
    const job = jobOf(3, { clientId: 1005 });
    const { jobId } = job.head;
    const { key, claim } = claimOf(jobId);
    for (const _ of [1, 2]) expect(await jobs.withdraw(jobId, signal)).toBe('withdrawn');
    expect(await jobs.begin({ head: job.head, repeats: [] })).toBe('withdrawn');
    expect(await jobs.beginStraight(await chunkOf(job))).toBe('withdrawn');
    const met = await slices.claim(claim);
    expect([met.kind, isWithdrawn(met.slice)]).toEqual(['met', true]);
    expect(await jobs.withdraw(jobId)).toBe('withdrawn');
    expect(await itemOf(jobKey(jobId))).toMatchObject({ withdrawnAtMs: nowMs, expiresAtSeconds: in125DaysSeconds });
    expect(isWithdrawn((await slices.find(key)) ?? met.slice)).toBe(true);
    expect(await listed(job.head)).toEqual([]);
  });

  test('what has begun is not taken back, nor is what a worker has claimed', async () => {
    const large = jobOf(11);
    await jobs.begin({ head: large.head, repeats: [] });
    expect(await jobs.withdraw(large.head.jobId)).toBe('begun');
    expect(await slices.find({ jobId: large.head.jobId, slice: 0 })).toBeUndefined();

    const straight = jobOf(3);
    const chunk = await chunkOf(straight);
    const { jobId } = straight.head;
    const { slice } = await slices.claim(claimOf(jobId).claim);
    expect(await jobs.withdraw(jobId)).toBe('begun');
    expect(await itemOf(jobKey(jobId))).toBeUndefined();
    // The same holds after the worker has ended the slice.
    await slices.end(slice, new Map());
    expect(await jobs.withdraw(jobId)).toBe('begun');
    expect(await jobs.beginStraight(chunk)).toBe('begun');
    expect(await jobs.withdraw(jobId)).toBe('begun');
  });

  test.each(['withdraw', 'begin'] as const)(
    'a %s whose reply is lost is repeated and answers as before',
    async (name) => {
      const faulty = localDocumentClient();
      const attempts = injectFaults(faulty, (operation, attempt) =>
        attempt === 1 && /TransactWrite|Update/.test(operation) ? { kind: 'lose_reply' } : undefined,
      );
      const { head } = jobOf(11);
      const store = acceptedJobsStore(faulty, table, () => nowMs);
      const ended = name === 'begin' ? await store.begin({ head, repeats: [] }) : await store.withdraw(head.jobId);
      expect(ended).toBe(name === 'begin' ? 'begun' : 'withdrawn');
      expect([...attempts.values()].reduce((sum, each) => sum + each, 0)).toBeGreaterThan(1);
    },
  );

  test('whichever of them comes first, of many that race', async () => {
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        const { head } = jobOf(3);
        const { key, claim } = claimOf(head.jobId);
        // DynamoDB may refuse a claim that collides with the transaction; a run then retries
        // (dispatch/claims/run-slice.ts).
        const claiming = vi.waitFor(() => slices.claim(claim), { timeout: 5_000 });
        const [ended, { kind }] = await Promise.all([jobs.withdraw(head.jobId), claiming]);
        expect([ended, kind]).toEqual(ended === 'begun' ? ['begun', 'claimed'] : ['withdrawn', 'met']);
        const slice = await slices.find(key);
        expect(slice !== undefined && isWithdrawn(slice)).toBe(ended === 'withdrawn');
      }),
    );
  });

  test.each([
    ['withdrawal', () => jobs.withdraw('E', AbortSignal.abort())],
    ['page', () => parameters.store(jobOf(11), AbortSignal.abort())],
    ['description', () => jobs.describe(jobOf(11), AbortSignal.abort())],
    ['pointer', () => jobs.list(jobOf(11), AbortSignal.abort())],
    ['beginning', async () => jobs.beginStraight(await chunkOf(jobOf(1)), AbortSignal.abort())],
  ])('a %s that was given up is not waited for', async (_, write) => {
    await expect(write()).rejects.toThrow('aborted');
  });

  test('a beginning that is given up once it is listed is not waited for either', async () => {
    const givenUp = new AbortController();
    const { jobs: store, commands } = metered(localDocumentClient(), (name) => {
      if (name === 'UpdateItemCommand') givenUp.abort();
    });
    await expect(store.beginStraight(await chunkOf(jobOf(1)), givenUp.signal)).rejects.toThrow('aborted');
    expect(commands).toEqual(['PutItemCommand', 'UpdateItemCommand']);
  });
});

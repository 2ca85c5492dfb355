import { beforeAll, describe, expect, test } from 'vitest';
import { messagesCancel } from '../../functions/messages-cancel.ts';
import { messagesReport } from '../../functions/messages-report.ts';
import { clientKey, didKey } from '../../lib/access/directory-items.ts';
import { directoryStore } from '../../lib/access/directory-store.ts';
import { acceptanceStore } from '../../lib/messages/accept/acceptance-store.ts';
import { claimLifeMs } from '../../lib/messages/dispatch/claim.ts';
import { dispatchStore } from '../../lib/messages/dispatch/dispatch-store.ts';
import { jobStore } from '../../lib/messages/fan-out/job-store.ts';
import type { JobHead } from '../../lib/messages/job.ts';
import { jobStateStore } from '../../lib/messages/job-state-store.ts';
import { countsOf } from '../../lib/messages/outcomes/read-report.ts';
import { reportStore } from '../../lib/messages/outcomes/report-store.ts';
import { type CallOptions, call, type TestCaller } from '../support/calls.ts';
import { makeChannel, makeWaba } from '../support/directory.ts';
import { lagReads } from '../support/lagging-reads.ts';
import { loadHandover, loadJob, putItems, recipientOf } from '../support/reported-jobs.ts';
import { meterRequests } from '../support/request-meter.ts';
import { makeJobHead } from '../support/send-jobs.ts';
import { freshTable, localDocumentClient, patientDocumentClient } from '../support/stores.ts';

const acceptedAtMs = Date.UTC(2026, 10, 22, 10);
const nowMs = acceptedAtMs + 600_000;
const did = '5491100000001';
const agent: TestCaller = { userId: 'u', clientId: 1001 };
const plain = patientDocumentClient();
const table = { documentClient: plain, tableName: await freshTable('messages') };
const directoryTable = { documentClient: plain, tableName: await freshTable('directory') };

await putItems(directoryTable, [
  ...[1001, 1002].map((clientId) => ({ ...clientKey(clientId) })),
  ...[makeChannel({ did }), makeChannel({ did: '5491100000002', channelId: 502 })].map((channel) => ({
    ...didKey(channel.did),
    channel,
    waba: makeWaba(),
  })),
]);

function headOf(name: string, changes: Partial<JobHead> = {}): JobHead {
  const jobId = name.toUpperCase().padStart(26, '0');
  return makeJobHead({ jobId, clientId: 1001, did, acceptedAtMs, total: 3, ...changes });
}

function pagesOver(client = patientDocumentClient(), atMs = nowMs) {
  const meter = meterRequests(client);
  const clock = () => atMs;
  const directory = directoryStore(client, directoryTable.tableName);
  const report = reportStore({ client, table: table.tableName, nowMs: clock, pause: async () => undefined });
  const states = jobStateStore(client, table.tableName, async () => undefined);
  const logged: string[] = [];
  const log = (event: string) => void logged.push(event);
  const cancel = messagesCancel({ directory, report, states, nowMs: clock, log });
  const read = messagesReport({ directory, report, nowMs: clock });
  // biome-ignore lint/suspicious/noExplicitAny: an answer's JSON, read as its tests say.
  type Body = any;
  const ask =
    (page: typeof cancel) =>
    async ({ jobId }: JobHead, query: CallOptions['query'] = {}, caller = agent, onDid = did) => {
      const { status, body } = await call(page, caller, { path: { did: onDid, dispatchId: jobId }, query });
      return { status, body: body as Body, cost: meter.taken() };
    };
  return { cancel: ask(cancel), report: ask(read), progressOf: (jobId: string) => countsOf(report, jobId), logged };
}

const pages = pagesOver();
const claims = dispatchStore({ client: plain, table: table.tableName, nowMs: () => nowMs });
const none = { pending: 0, held: 0, sent: 0, delivered: 0, read: 0, failed: 0, expired: 0, unknown: 0 };

async function claim({ jobId }: JobHead, index: number, settled?: 'expired', claimedAtMs = nowMs): Promise<void> {
  const key = { jobId, index };
  await claims.take({ key, at: `run-${index}/0`, state: settled ?? 'claimed', claimedAtMs, to: recipientOf(index) });
}

describe('a dispatch is cancelled (D53)', () => {
  test('that the fan-out has not begun: nothing of it is sent, and who reads its report sees why', async () => {
    const head = headOf('early');
    const recipients = [0, 1, 2].map((index) => ({ to: recipientOf(index) }));
    const store = acceptanceStore(plain, table.tableName, () => nowMs);
    await store.describe({ head, firstIndex: 0, recipients, repeats: [[3, 0]] }, AbortSignal.timeout(2_000));
    const { status, body } = await pages.cancel(head);
    expect(status).toBe(200);
    expect(body).toEqual({
      dispatch_id: head.jobId,
      client_id: 1001,
      did,
      template: { name: head.templateName, language: head.templateLanguage },
      accepted_at: '2026-11-22T10:00:00.000Z',
      total: 4,
      counts: { ...none, failed: 4 },
      complete: true,
    });
    const { body: report } = await pages.report(head);
    expect([report.counts, report.complete]).toEqual([{ ...none, failed: 4 }, true]);
    const row = { to: recipientOf(0), state: 'failed', code: 'cancelled', updated_at: '2026-11-22T10:10:00.000Z' };
    expect(report.data[0]).toEqual({ index: 0, ...row });
    expect(report.data[3]).toEqual({ index: 3, ...row, duplicate_of: 0 });
    expect(await jobStore(plain, table.tableName).begin(head, 1)).toBe(0);
    expect((await pages.report(head)).body).toEqual(report);
  });

  test('in flight: what a worker has taken up goes its way, the rest has failed', async () => {
    const head = headOf('flying', { total: 300 });
    await loadJob(table, head);
    await claim(head, 0);
    await claim(head, 260, 'expired');
    const { body } = await pages.cancel(head);
    expect([body.counts, body.complete]).toEqual([{ ...none, pending: 1, expired: 1, failed: 298 }, false]);
    expect((await pages.report(head, { state: 'pending' })).body.data).toEqual([
      { index: 0, to: recipientOf(0), state: 'pending' },
    ]);
    expect((await pages.progressOf(head.jobId))?.finalPartitions).toEqual([1]);
    await claims.settle({ jobId: head.jobId, index: 0 }, 'run-0/0', { state: 'sent', code: 'receipt' });
    expect(await pages.progressOf(head.jobId)).toMatchObject({ counts: { ...none, sent: 1, expired: 1, failed: 298 } });
  });

  test('repeated: nothing is cancelled again, and the answer is that of the moment', async () => {
    const head = headOf('again');
    await loadJob(table, head);
    const { cancel, report, logged } = pagesOver();
    const first = await cancel(head);
    expect((await pagesOver(patientDocumentClient(), nowMs + 5_000).cancel(head)).body).toEqual(first.body);
    expect((await report(head)).body.data[0].updated_at).toBe('2026-11-22T10:10:00.000Z');
    expect(logged).toEqual(['job.cancelled']);
  });

  test('repeated while workers claim what they are about to settle: once complete it stays so', async () => {
    const head = headOf('settling', { total: 300 });
    await loadJob(table, head);
    const handedOver = { [`${head.jobId}-2`]: { platformMessageId: 'platform-2' } };
    await claim(head, 2);
    await claims.recordBatch('run-2', handedOver);
    const first = await pages.cancel(head);
    expect([first.body.counts, first.body.complete]).toEqual([{ ...none, sent: 1, failed: 299 }, true]);
    // The clocks of workers differ from ours, and their writes take a while.
    for (const [index, afterMs] of [-5_000, 0, 400, 30_000].entries()) {
      await claim(head, 50 + index, undefined, nowMs + afterMs);
    }
    // Also when the worker died before it could settle it.
    for (const afterMs of [500, 30_000, claimLifeMs, 10 * claimLifeMs]) {
      const later = pagesOver(patientDocumentClient(), nowMs + afterMs);
      expect((await later.cancel(head)).body).toEqual(first.body);
      const { body: report } = await later.report(head);
      expect([report.counts, report.complete]).toEqual([first.body.counts, true]);
      expect(report.data[50]).toMatchObject({ to: recipientOf(50), state: 'failed', code: 'cancelled' });
    }
    expect(await pages.progressOf(head.jobId)).toMatchObject({ counts: first.body.counts });
  });

  test('what was lost with its worker before is no matter of the cancellation', async () => {
    const head = headOf('lost');
    await loadJob(table, head);
    await claim(head, 0, undefined, nowMs - claimLifeMs);
    const first = await pages.cancel(head);
    expect(first.body.counts).toEqual({ ...none, unknown: 1, failed: 2 });
    expect((await pages.cancel(head)).body).toEqual(first.body);
  });

  test('of which nothing is left: 200, and nothing changes', async () => {
    const head = headOf('complete', { total: 20 });
    await loadJob(table, head);
    await loadHandover(table, head, 1);
    expect((await pages.cancel(head)).body).toMatchObject({ counts: { ...none, sent: 20 }, complete: true });
    expect((await pages.report(head)).body.counts).toEqual({ ...none, sent: 20 });
  });

  test('that was stopped otherwise before: its word stays', async () => {
    const head = headOf('stopped');
    await loadJob(table, head);
    const stop = { state: 'expired', code: 'template_paused', atMs: nowMs - 1 } as const;
    await jobStateStore(plain, table.tableName).stop(head, stop);
    expect((await pages.cancel(head)).body.counts).toEqual({ ...none, expired: 3 });
  });

  test('in few requests, however large', async () => {
    const head = headOf('large', { total: 10_000 });
    await loadJob(table, head);
    const { body, cost } = await pages.cancel(head);
    expect(body.counts.failed).toBe(10_000);
    expect(cost.roundTrips).toBeLessThanOrEqual(6);
  }, 60_000);
});

describe('who may cancel', () => {
  const head = headOf('mine');
  beforeAll(() => loadJob(table, head));

  test.each([
    ['another client on the same DID', head, { userId: 'v', clientId: 1002 }, did],
    ['on another DID', head, agent, '5491100000002'],
    ['a dispatch that never was', headOf('never'), agent, did],
    ['an id that is none', { ...head, jobId: 'JOB#1' }, agent, did],
  ] as const)('%s: 404, and nothing is stopped', async (_, job, caller, onDid) => {
    const { status, body } = await pages.cancel(job, {}, caller, onDid);
    expect([status, body]).toEqual([404, { message: 'dispatch not found', code: 'dispatch_not_found' }]);
    expect((await pages.report(head)).body.counts.pending).toBe(3);
  });

  test('an operator for the client', async () => {
    const operator: TestCaller = { userId: 'o', clientId: 1, permissions: ['BSP_CN'] };
    expect((await pages.cancel(head, { client_id: '1001' }, operator)).status).toBe(200);
  });
});

describe('a report of a job that was stopped a moment ago', () => {
  test('does not call failed what was claimed before, where reads are as late as they may be', async () => {
    const head = headOf('late', { total: 4 });
    await loadJob(table, head);
    const first = await pages.report(head, { limit: '2' });
    await claim(head, 0);
    await claim(head, 3);
    await jobStateStore(plain, table.tableName).stop(head, { state: 'failed', code: 'cancelled', atMs: nowMs });
    const client = localDocumentClient();
    lagReads(client);
    const { report, progressOf } = pagesOver(client);
    const states = ({ body }: Awaited<ReturnType<typeof report>>) =>
      body.data.map(({ state }: { state: string }) => state);
    // The first page is read after the job, a later one beside it.
    expect(states(await report(head))).not.toContain('sent');
    const later = await report(head, { limit: '2', cursor: first.body.paging.cursors.after });
    expect(states(later)[1]).toBe('pending');
    expect((await progressOf(head.jobId))?.counts).toBeUndefined();
  });

  test('takes one round trip more until that is certainly over', async () => {
    const head = headOf('old', { total: 300 });
    await loadJob(table, head);
    await jobStateStore(plain, table.tableName).stop(head, { state: 'failed', code: 'cancelled', atMs: nowMs });
    const first = await pages.report(head);
    const query = { cursor: first.body.paging.cursors.after };
    expect((await pages.report(head, query)).cost.roundTrips).toBe(2);
    const afterwards = await pagesOver(patientDocumentClient(), nowMs + claimLifeMs).report(head, query);
    expect(afterwards.cost.roundTrips).toBe(1);
  });
});

test('recipients of a parked job wait, and say for what (D46)', async () => {
  const head = headOf('parked');
  await loadJob(table, head);
  await claim(head, 1, 'expired');
  const states = jobStateStore(plain, table.tableName);
  await states.park(head.jobId, { code: 'template_paused', sinceMs: nowMs });
  const waiting = (index: number) => ({ index, to: recipientOf(index), state: 'pending', code: 'template_paused' });
  const { body } = await pages.report(head);
  expect([body.data[0], body.data[2], body.counts, body.complete]).toEqual([
    waiting(0),
    waiting(2),
    { ...none, pending: 2, expired: 1 },
    false,
  ]);
  await states.resume(head.jobId, nowMs);
  expect((await pages.report(head)).body.data[0]).toEqual({ index: 0, to: recipientOf(0), state: 'pending' });
});

import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from 'vitest';
import { CommandError } from '../../../../infra/operate/command.ts';
import { outcomesCommand } from '../../../../infra/operate/outcomes.ts';
import { acceptanceStore } from '../../../../lib/messages/accept/acceptance-store.ts';
import { type Claim, claimLifeMs } from '../../../../lib/messages/dispatch/claim.ts';
import { dispatchStore } from '../../../../lib/messages/dispatch/dispatch-store.ts';
import { jobStore } from '../../../../lib/messages/fan-out/job-store.ts';
import type { JobHead } from '../../../../lib/messages/job.ts';
import { jobStateStore } from '../../../../lib/messages/job-state-store.ts';
import type { DescribedJob } from '../../../../lib/messages/outcomes/described-job.ts';
import { countStates, type ReportedOutcome } from '../../../../lib/messages/outcomes/outcome.ts';
import { type Outcomes, outcomesStore, type Period } from '../../../../lib/messages/outcomes/outcomes-store.ts';
import { receiptItems } from '../../../../lib/messages/receipts/receipt-items.ts';
import { injectFaults } from '../../../support/faults.ts';
import { makeJobHead } from '../../../support/send-jobs.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const acceptedAtMs = Date.UTC(2026, 10, 20, 23, 59, 59, 500);
const nowMs = acceptedAtMs + 10 * claimLifeMs;
const first = '01KAH00000000000000000000A';
const second = '01KAH00000000000000000000B';
let table: string;
let outcomes: Outcomes;

const head = (jobId: string, changes: Partial<JobHead> = {}) =>
  makeJobHead({ jobId, wabaId: '2', phoneNumberId: '3', acceptedAtMs, total: 600, ...changes });

/** Of whose recipients nothing is written: their addresses are those of the claims. */
function job(ofHead: JobHead): DescribedJob {
  return { head: ofHead, repeats: [], recipients: new Map() };
}

function counted(found: readonly ReportedOutcome[]) {
  return countStates(found.map(({ state }) => state));
}

function outcomesOver(client = localDocumentClient()): Outcomes {
  return outcomesStore({ client, table, nowMs: () => nowMs, pause: async () => undefined });
}

async function claimed(index: number, at: string, settled: Partial<Claim> = {}): Promise<void> {
  const store = dispatchStore({ client: localDocumentClient(), table, nowMs: () => nowMs });
  const key = { jobId: first, index };
  await store.take({ key, at, state: 'claimed', claimedAtMs: acceptedAtMs, to: String(549_000 + index), ...settled });
}

beforeAll(async () => {
  table = await freshTable('messages');
  outcomes = outcomesOver();
  const client = localDocumentClient();
  await jobStore(client, table).begin(head(first), 1);
  await jobStore(client, table).begin(head(second, { acceptedAtMs: acceptedAtMs + 1_000, total: 2 }), 1);
  const store = dispatchStore({ client, table, nowMs: () => nowMs });
  // 500 sent over 50 runs, 3 lost by their worker, 1 failed, 1 expired, 1 held, the rest not yet seen.
  for (let run = 0; run < 50; run += 1) {
    const indexes = Array.from({ length: 10 }, (_, position) => run * 10 + position);
    await Promise.all(indexes.map((index) => claimed(index, `run-${run}/${index % 10}`)));
    const sent = indexes.map((index) => [`${first}-${index}`, { platformMessageId: `platform-${index}` }]);
    await store.recordBatch(`run-${run}`, Object.fromEntries(sent));
  }
  await Promise.all([500, 501, 502].map((index) => claimed(index, `lost-${index}/0`)));
  await claimed(503, 'run-x/0', { state: 'failed', code: '131026', reason: 'undeliverable' });
  await claimed(504, 'run-x/1', { state: 'expired', code: 'expired' });
  await claimed(505, 'run-h/0');
  await store.recordBatch('run-h', { [`${first}-505`]: { platformMessageId: 'platform-505', held: 'paused' } });
});

/** What JSON can say and a DynamoDB attribute cannot: `attends` is unvalidated (D28), so all of it may come. */
test.each([
  ['40 levels deep', JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`)],
  ['a number beyond 10^126', { waitTime: 1e300 }],
  ['an integer beyond 2^53', { waitTime: 2 ** 60 }],
  ['an empty name', { '': 1 }],
])('a job is begun and found again with attends as it came: %s', async (_, attends) => {
  const jobId = '01KAH00000000000000000000C';
  expect(await jobStore(localDocumentClient(), table).begin(head(jobId, { did: '5', attends }), 1)).toBe(0);
  expect((await outcomes.findJob(jobId))?.head.attends).toEqual(attends);
});

async function printed(...commandLine: string[]): Promise<string[]> {
  const lines: string[] = [];
  await outcomesCommand(
    commandLine,
    () => ({
      outcomes,
      listDids: async () => ['5', '5491100000001'],
      clientsOf: async () => [1001],
      nowMs: () => acceptedAtMs + 2_000,
    }),
    (line) => lines.push(line),
  );
  return lines;
}

test('a word that belongs to no option is refused, with the line that was meant', async () => {
  await expect(printed(first)).rejects.toThrow(`name a job with --dispatch ${first}`);
});

test('every recipient of a job has exactly one outcome (D29, R14)', async () => {
  const ofJob = await outcomes.ofJob(job(head(first)));
  const none = { delivered: 0, read: 0 };
  expect(counted(ofJob)).toEqual({ ...none, sent: 500, held: 1, failed: 1, expired: 1, unknown: 3, pending: 94 });
  expect(ofJob.map(({ dispatchId }) => dispatchId)).toEqual(Array.from({ length: 600 }, (_, i) => `${first}-${i}`));
  expect(ofJob[123]).toMatchObject({ to: '549123', platformMessageId: 'platform-123' });
});

test('batch records that DynamoDB leaves unread are asked for again (R32)', async () => {
  const client = localDocumentClient();
  let calls = 0;
  injectFaults(client, ({ command, number }) => {
    if (command !== 'BatchGetItemCommand' || number !== 0) return undefined;
    calls += 1;
    return calls < 3 ? { kind: 'partial_batch', count: 30 } : undefined;
  });
  expect(counted(await outcomesOver(client).ofJob(job(head(first)))).sent).toBe(500);
  expect(calls).toBe(3);
});

test('claims that fill more than one page of a query are all read', async () => {
  const store = dispatchStore({ client: localDocumentClient(), table, nowMs: () => nowMs });
  const jobId = '01KAH00000000000000000PAGE';
  const settled = { state: 'failed', code: '1', reason: 'x'.repeat(6_000), at: 'run/0', claimedAtMs: nowMs } as const;
  // A few at once: a busy machine has no time for 240 connections in the second that one may take.
  for (let index = 0; index < 240; index += 24) {
    const some = Array.from({ length: 24 }, (_, at) => ({ jobId, index: index + at }));
    await Promise.all(some.map((key) => store.take({ ...settled, key })));
  }
  expect(counted(await outcomes.ofJob(job(head(jobId, { total: 240 })))).failed).toBe(240);
});

test('jobs are found by DID and time, over midnight, the end excluded', async () => {
  const ids = async (fromMs: number, toMs: number) =>
    (await outcomes.listJobs({ did: '5491100000001', clientIds: [] }, { fromMs, toMs })).map(
      ({ head: { jobId } }) => jobId,
    );
  expect(await ids(acceptedAtMs, acceptedAtMs + 1_001)).toEqual([first, second]);
  expect(await ids(acceptedAtMs, acceptedAtMs + 1_000)).toEqual([first]);
  expect(await ids(acceptedAtMs + 1, acceptedAtMs + 2_000)).toEqual([second]);
  expect(await outcomes.listJobs({ did: '5491100000009', clientIds: [1001] }, { fromMs: 0, toMs: 1 })).toEqual([]);
});

test('jobs are found from their acceptance on, of every client of the DID, each once', async () => {
  const client = localDocumentClient();
  const acceptances = acceptanceStore(client, table, () => nowMs);
  const heads = [1002, 1001, 1001].map((clientId, at) =>
    head(`01KAH0000000000000000ACC0${at}`, { clientId, did: '9', acceptedAtMs: acceptedAtMs + at, total: 1 }),
  );
  for (const each of heads) {
    const job = { head: each, firstIndex: 0, recipients: [{ to: '549' }], repeats: [] };
    await acceptances.describe(job, AbortSignal.timeout(2_000));
  }
  await jobStore(client, table).begin(heads[2] as JobHead, 1);
  const found = async (clientIds: readonly number[], period: Partial<Period> = {}) => {
    const asked = { fromMs: acceptedAtMs - 86_400_000, toMs: nowMs, ...period };
    return (await outcomes.listJobs({ did: '9', clientIds }, asked)).map(({ head: { jobId } }) => jobId);
  };
  const ids = heads.map(({ jobId }) => jobId);
  expect(await found([1001, 1002])).toEqual(ids);
  expect(await found([1001])).toEqual(ids.slice(1));
  expect(await found([])).toEqual(ids.slice(2));
  expect(await found([1001, 1002], { fromMs: acceptedAtMs + 1, toMs: acceptedAtMs + 2 })).toEqual([ids[1]]);
  expect(await found([1001, 1002], { fromMs: nowMs, toMs: acceptedAtMs })).toEqual([]);
  expect((await printed('--since', '1h', '--did', '9')).at(-1)).toMatch(/^total 2: 2 pending/);
});

test('the command lists what did not go well, with code and reason, and counts everything', async () => {
  const at = new Date(acceptedAtMs).toISOString();
  expect(await printed('--dispatch', first)).toEqual([
    `job ${first}, did 5491100000001, accepted ${at}, template order_update`,
    `  ${first}-500  549500  unknown  ${at}  worker_lost`,
    `  ${first}-501  549501  unknown  ${at}  worker_lost`,
    `  ${first}-502  549502  unknown  ${at}  worker_lost`,
    `  ${first}-503  549503  failed   ${at}  131026                     undeliverable`,
    `  ${first}-504  549504  expired  ${at}  expired`,
    `  ${first}-505  549505  held     ${at}  paused       platform-505`,
    'nobody knows whether these were sent; once you do, one line settles each:',
    `  npm run outcomes -- --resolve ${first}-500 sent   # or: failed`,
    `  npm run outcomes -- --resolve ${first}-501 sent   # or: failed`,
    `  npm run outcomes -- --resolve ${first}-502 sent   # or: failed`,
    'total 600: 94 pending, 1 held, 500 sent, 0 delivered, 0 read, 1 failed, 1 expired, 3 unknown',
  ]);
});

test('--all lists everybody; a single message by its own id; a DID over a period', async () => {
  expect(await printed('--dispatch', first, '--all')).toHaveLength(1 + 600 + 1 + 3 + 1);
  const at = new Date(acceptedAtMs).toISOString();
  expect(await printed('--dispatch', `${first}-7`)).toEqual([`  ${first}-7  549007  sent  ${at}  platform-7`]);
  const period = ['--from', '2026-11-20T00:00:00Z', '--to', '2026-11-22T00:00:00Z'];
  const lines = await printed('--did', '5491100000001', ...period);
  const total = 'total 602: 96 pending, 1 held, 500 sent, 0 delivered, 0 read, 1 failed, 1 expired, 3 unknown';
  expect(lines.at(-1)).toBe(total);
});

test('--since asks for every DID, or for one, from that long ago', async () => {
  const jobs = async (...more: string[]) =>
    (await printed('--since', '1m', ...more)).filter((line) => line.startsWith('job ')).length;
  expect([await jobs(), await jobs('--did', '5491100000001'), await jobs('--did', '5')]).toEqual([3, 2, 1]);
  await expect(printed('--since', '1m', '--did', '7')).rejects.toThrow('Nothing found');
});

test('--json says the same, for programs', async () => {
  const [told] = JSON.parse((await printed('--dispatch', first, '--json')).join('\n'));
  expect(told).toMatchObject({ dispatch_id: first, client_id: 1001, total: 600, complete: false });
  expect(told.counts).toMatchObject({ sent: 500, unknown: 3, pending: 94 });
  expect(told.data).toHaveLength(6);
  expect(told.data[3]).toEqual({
    ...{ message_id: `${first}-503`, index: 503, to: '549503', state: 'failed', code: '131026' },
    ...{ reason: 'undeliverable', updated_at: new Date(acceptedAtMs).toISOString() },
  });
});

test('what receipts say is what the command says, and an unknown that they settled cannot be resolved', async () => {
  const jobId = '01KAH00000000000000000RCPT';
  const client = localDocumentClient();
  await jobStore(client, table).begin(head(jobId, { did: '7', total: 3 }), 1);
  const store = dispatchStore({ client, table, nowMs: () => nowMs });
  for (const index of [0, 1]) {
    const lost = { state: 'unknown', at: 'x/0', claimedAtMs: acceptedAtMs, code: 'worker_lost' } as const;
    await store.take({ key: { jobId, index }, to: '549', ...lost });
  }
  const receipt = { jobId, index: 0, status: 'delivered', atMs: acceptedAtMs + 60_000, platformMessageId: 'w-0' };
  for (const Item of receiptItems(jobId, [receipt], 1_900_000_000)) {
    await client.send(new PutCommand({ TableName: table, Item }));
  }
  expect((await printed('--dispatch', jobId)).at(-1)).toMatch(
    /^total 3: 1 pending, 0 held, 0 sent, 1 delivered, .* 1 unknown$/,
  );
  await expect(printed('--resolve', `${jobId}-0`, 'failed')).rejects.toThrow(/not unknown.*delivered/);
});

test.each([
  [['--dispatch', '01KAH0000000000000000000ZZ'], 1, 'Nothing found'],
  [['--did', '1'], 2, '--from is missing'],
  [['--since', 'yesterday'], 2, '--since takes a time such as 30m, 1h or 2d'],
  [['--since', '1h', '--to', '2026-11-22'], 2, '--since stands for --from and --to'],
  [['--did', '1', '--from', 'yesterday', '--to', '2026-11-22'], 2, '--from is not a time'],
  [['--resolve', first, 'sent'], 2, '--resolve takes the id of one message'],
  [['--resolve', `${first}-500`, 'resend'], 2, 'followed by sent or failed'],
  [[], 2, '--did is missing'],
])('%j ends with status %i: %s', async (commandLine, status, text) => {
  const refused = await printed(...commandLine).catch((error: unknown) => error);
  expect(refused).toMatchObject({ exitStatus: status, message: expect.stringContaining(text) });
});

test('an operator settles an unknown message once; nothing that is known is overwritten', async () => {
  expect(await printed('--resolve', `${first}-501`, 'failed')).toEqual([`${first}-501 is now failed`]);
  const [line] = await printed('--dispatch', `${first}-501`);
  expect(line).toMatch(/-501 {2}549501 {2}failed .* resolved_by_operator$/);
  for (const [index, state] of [
    [501, 'sent'],
    [7, 'failed'],
    [505, 'failed'],
    [599, 'failed'],
  ] as const) {
    await expect(printed('--resolve', `${first}-${index}`, state)).rejects.toBeInstanceOf(CommandError);
  }
});

test('a job that was withdrawn is no job', async () => {
  const Item = { pk: 'JOB#01KAH0000000000000000000WD', sk: 'JOB', withdrawnAtMs: nowMs };
  await localDocumentClient().send(new PutCommand({ TableName: table, Item }));
  await expect(printed('--dispatch', '01KAH0000000000000000000WD')).rejects.toThrow('Nothing found');
});

test('--parked lists what waits for its template (D46), and a cancelled job says so with its recipients (D53)', async () => {
  const [parked, cancelledJob] = ['01KAH0000000000000000PARKD', '01KAH0000000000000000CANCL'];
  const client = localDocumentClient();
  const states = jobStateStore(client, table);
  for (const jobId of [parked, cancelledJob]) {
    await jobStore(client, table).begin(head(jobId, { did: '8', total: 2 }), 1);
    await states.park(jobId, { code: 'template_paused', sinceMs: acceptedAtMs });
  }
  await states.stop(head(cancelledJob), { state: 'failed', code: 'cancelled', atMs: acceptedAtMs + 500 });
  const at = '2026-11-20T23:59:59.500Z';
  const line = `job ${parked}, did 8, accepted ${at}, template order_update`;
  expect(await printed('--parked', '--did', '8')).toEqual([
    `${line}, parked ${at}: template_paused, until 2026-11-21T23:59:59.500Z at most`,
    expect.stringMatching(/^total 2: 2 pending, /),
  ]);
  const [told, ...others] = JSON.parse((await printed('--parked', '--did', '8', '--all', '--json')).join(''));
  expect([told.parked, others]).toEqual([{ at, code: 'template_paused', until: '2026-11-21T23:59:59.500Z' }, []]);
  expect(told.data[0]).toEqual({ message_id: `${parked}-0`, index: 0, state: 'pending', code: 'template_paused' });
  expect(await printed('--parked')).toEqual(['No job waits for its template.']);
  expect(await printed('--dispatch', cancelledJob)).toEqual([
    `job ${cancelledJob}, did 8, accepted ${at}, template order_update, stopped 2026-11-21T00:00:00.000Z: cancelled`,
    `  ${cancelledJob}-0  failed  2026-11-21T00:00:00.000Z  cancelled`,
    `  ${cancelledJob}-1  failed  2026-11-21T00:00:00.000Z  cancelled`,
    expect.stringMatching(/^total 2: 0 pending, .* 2 failed, /),
  ]);
  const [stopped] = JSON.parse((await printed('--dispatch', cancelledJob, '--json')).join(''));
  expect(stopped).toMatchObject({
    ...{ dispatch_id: cancelledJob, complete: true, counts: { failed: 2 } },
    stopped: { at: '2026-11-21T00:00:00.000Z', state: 'failed', code: 'cancelled' },
  });
  // A single message of it is no unknown one.
  await expect(printed('--resolve', `${cancelledJob}-0`, 'sent')).rejects.toThrow(/not unknown.*failed.*cancelled/);
});

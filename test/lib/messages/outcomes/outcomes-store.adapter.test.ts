import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from 'vitest';
import { CommandError } from '../../../../infra/operate/command.ts';
import { outcomesCommand } from '../../../../infra/operate/outcomes.ts';
import { type Claim, claimLifeMs } from '../../../../lib/messages/dispatch/claim.ts';
import { dispatchStore } from '../../../../lib/messages/dispatch/dispatch-store.ts';
import { jobStore } from '../../../../lib/messages/fan-out/job-store.ts';
import { batchKey } from '../../../../lib/messages/items.ts';
import type { JobHead } from '../../../../lib/messages/job.ts';
import { countOutcomes } from '../../../../lib/messages/outcomes/outcome.ts';
import { type Outcomes, outcomesStore } from '../../../../lib/messages/outcomes/outcomes-store.ts';
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
    await recordSent(`run-${run}`, indexes);
  }
  await Promise.all([500, 501, 502].map((index) => claimed(index, `lost-${index}/0`)));
  await claimed(503, 'run-x/0', { state: 'failed', code: '131026', reason: 'undeliverable' });
  await claimed(504, 'run-x/1', { state: 'expired', code: 'expired' });
  await claimed(505, 'run-h/0');
  await store.recordBatch('run-h', { [`${first}-505`]: { platformMessageId: 'platform-505', held: 'paused' } });
});

/** As records were written before messages could be held (D39). */
async function recordSent(invocation: string, indexes: readonly number[]): Promise<void> {
  const sent = Object.fromEntries(indexes.map((index) => [`${first}-${index}`, `platform-${index}`]));
  const Item = { ...batchKey(invocation), sent, expiresAtSeconds: Math.ceil(nowMs / 1_000) };
  await localDocumentClient().send(new PutCommand({ TableName: table, Item }));
}

/** What JSON can say and a DynamoDB attribute cannot: `attends` is unvalidated (D28), so all of it may come. */
test.each([
  ['40 levels deep', JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`)],
  ['a number beyond 10^126', { waitTime: 1e300 }],
  ['an integer beyond 2^53', { waitTime: 2 ** 60 }],
  ['an empty name', { '': 1 }],
])('a job is begun and found again with attends as it came: %s', async (_, attends) => {
  const jobId = '01KAH00000000000000000000C';
  expect(await jobStore(localDocumentClient(), table).begin(head(jobId, { acceptedAtMs: 0, attends }), 1)).toBe(0);
  expect((await outcomes.findJob(jobId))?.attends).toEqual(attends);
});

async function printed(...commandLine: string[]): Promise<string[]> {
  const lines: string[] = [];
  await outcomesCommand(
    commandLine,
    () => outcomes,
    (line) => lines.push(line),
  );
  return lines;
}

test('a word that belongs to no option is refused, with the line that was meant', async () => {
  await expect(printed(first)).rejects.toThrow(`name a job with --dispatch ${first}`);
});

test('every recipient of a job has exactly one outcome (D29, R14)', async () => {
  const ofJob = await outcomes.ofJob(head(first));
  expect(countOutcomes(ofJob)).toEqual({ sent: 500, held: 1, failed: 1, expired: 1, unknown: 3, pending: 94 });
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
  expect(countOutcomes(await outcomesOver(client).ofJob(head(first))).sent).toBe(500);
  expect(calls).toBe(3);
});

test('claims that fill more than one page of a query are all read', async () => {
  const store = dispatchStore({ client: localDocumentClient(), table, nowMs: () => nowMs });
  const jobId = '01KAH00000000000000000PAGE';
  const settled = { state: 'failed', code: '1', reason: 'x'.repeat(6_000), at: 'run/0', claimedAtMs: nowMs } as const;
  await Promise.all(Array.from({ length: 240 }, (_, index) => store.take({ ...settled, key: { jobId, index } })));
  expect(countOutcomes(await outcomes.ofJob(head(jobId, { total: 240 }))).failed).toBe(240);
});

test('jobs are found by DID and time, over midnight, the end excluded', async () => {
  const ids = async (fromMs: number, toMs: number) =>
    (await outcomes.listJobs('5491100000001', { fromMs, toMs })).map(({ jobId }) => jobId);
  expect(await ids(acceptedAtMs, acceptedAtMs + 1_001)).toEqual([first, second]);
  expect(await ids(acceptedAtMs, acceptedAtMs + 1_000)).toEqual([first]);
  expect(await ids(acceptedAtMs + 1, acceptedAtMs + 2_000)).toEqual([second]);
  expect(await outcomes.listJobs('5491100000009', { fromMs: 0, toMs: 86_400_000 })).toEqual([]);
});

test('the command lists what did not go well, with code and reason, and counts everything', async () => {
  const lines = await printed('--dispatch', first);
  expect(lines).toHaveLength(1 + 6 + 1);
  expect(lines).toContain(`  ${first}-505  549505  held  paused  platform-505`);
  expect(lines).toContain(`  ${first}-503  549503  failed  131026  undeliverable`);
  expect(lines).toContain(`  ${first}-500  549500  unknown  worker_lost`);
  expect(lines.at(-1)).toBe('total 600: 500 sent, 1 held, 1 failed, 1 expired, 3 unknown, 94 pending');
});

test('--all lists everybody; a single message by its own id; a DID over a period', async () => {
  expect(await printed('--dispatch', first, '--all')).toHaveLength(602);
  expect(await printed('--dispatch', `${first}-7`)).toEqual([`${first}-7  549007  sent  platform-7`]);
  const period = ['--from', '2026-11-20T00:00:00Z', '--to', '2026-11-22T00:00:00Z'];
  const lines = await printed('--did', '5491100000001', ...period);
  expect(lines.at(-1)).toBe('total 602: 500 sent, 1 held, 1 failed, 1 expired, 3 unknown, 96 pending');
});

test.each([
  [['--dispatch', '01KAH0000000000000000000ZZ'], 1, 'Nothing found'],
  [['--did', '1'], 2, '--from is missing'],
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
  expect(await printed('--dispatch', `${first}-501`)).toEqual([`${first}-501  549501  failed  resolved_by_operator`]);
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

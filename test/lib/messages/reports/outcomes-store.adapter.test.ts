import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from 'vitest';
import { CommandError } from '../../../../infra/operate/command.ts';
import { outcomesCommand } from '../../../../infra/operate/outcomes.ts';
import { acceptedJobsStore } from '../../../../lib/messages/accept/accepted-jobs-store.ts';
import { doubtKey } from '../../../../lib/messages/items.ts';
import type { JobHead } from '../../../../lib/messages/job.ts';
import { receiptItems } from '../../../../lib/messages/receipts/receipt-items.ts';
import { outcomesStore } from '../../../../lib/messages/reports/outcomes-store.ts';
import { claimLifeMs } from '../../../../lib/messages/slices/claim-life.ts';
import type { Outcome, Slice } from '../../../../lib/messages/slices/slice.ts';
import { sliceStore } from '../../../../lib/messages/slices/slice-store.ts';
import { recipientOf } from '../../../support/reported-jobs.ts';
import { claimOf } from '../../../support/reported-slices.ts';
import { makeJob, makeJobHead } from '../../../support/send-jobs.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const acceptedAtMs = Date.UTC(2026, 10, 20, 23, 59, 59, 500);
const nowMs = acceptedAtMs + 10 * claimLifeMs;
const client = localDocumentClient();
const table = await freshTable('messages');
const pause = async () => undefined;
const outcomes = outcomesStore({ client, table, nowMs: () => nowMs, pause });
const jobs = acceptedJobsStore(client, table, () => nowMs);
const slices = sliceStore({ client, table, nowMs: () => nowMs });
const headOf = (name: string, changes: Partial<JobHead> = {}) =>
  makeJobHead({ jobId: name.padStart(26, '0'), acceptedAtMs, total: 23, ...changes });
const first = headOf('FIRST');
const sent = { state: 'sent', platformMessageId: 'w' } as const;
const at = '2026-11-20T23:59:59.500Z';

async function accept(head: JobHead, repeats: [number, number][] = []): Promise<void> {
  const recipients = Array.from({ length: head.total }, (_, index) => ({ to: recipientOf(index) }));
  await jobs.describe({ ...makeJob(recipients), head, repeats }, new AbortController().signal);
  await jobs.begin({ head, repeats });
}

async function claim(head: JobHead, number: number): Promise<Slice> {
  return (await slices.claim(claimOf(head, number, { atMs: acceptedAtMs }))).slice;
}

beforeAll(async () => {
  await accept(first, [[23, 1]]);
  const unknown = { state: 'unknown', code: 'no_answer' } as const;
  const failed = { state: 'failed', code: '131026', reason: 'undeliverable' } as const;
  const ended: Outcome[] = [sent, unknown, failed, ...Array<Outcome>(7).fill(sent)];
  await slices.end(await claim(first, 0), new Map(ended.entries()));
  // Its worker died.
  await claim(first, 2);
});

async function printed(...commandLine: string[]): Promise<string[]> {
  const lines: string[] = [];
  const stage = { outcomes, listDids: async () => [first.did], clientsOf: async () => [1001], nowMs: () => nowMs };
  await outcomesCommand(
    commandLine,
    () => stage,
    (line) => lines.push(line),
  );
  return lines;
}

test('the command shows what stands in slices, with the addresses of the description', async () => {
  const { jobId } = first;
  const lines = await printed('--dispatch', jobId);
  const to = recipientOf;
  expect(lines.slice(0, 4)).toEqual([
    `job ${jobId}, did ${first.did}, accepted ${at}, template order_update`,
    expect.stringMatching(new RegExp(`${jobId}-1 +${to(1)} +unknown +${at} +no_answer$`)),
    expect.stringMatching(new RegExp(`${jobId}-2 +${to(2)} +failed +${at} +131026 +undeliverable$`)),
    expect.stringMatching(new RegExp(`${jobId}-20 +${to(20)} +unknown +${at} +worker_lost$`)),
  ]);
  const total = 'total 24: 10 pending, 0 held, 8 sent, 0 delivered, 0 read, 1 failed, 0 expired, 5 unknown';
  expect(lines.at(-1)).toBe(total);
  expect(await printed('--dispatch', `${jobId}-0`)).toEqual([`  ${jobId}-0  ${to(0)}  sent  ${at}  w`]);
});

test('an operator settles an unknown message once; nothing that is known is overwritten', async () => {
  const { jobId } = first;
  expect(await printed('--resolve', `${jobId}-1`, 'failed')).toEqual([`${jobId}-1 is now failed`]);
  const [line] = await printed('--dispatch', `${jobId}-1`);
  expect(line).toBe(`  ${jobId}-1  ${recipientOf(1)}  failed  ${new Date(nowMs).toISOString()}  resolved_by_operator`);
  for (const [index, state] of [
    [1, 'sent'],
    [0, 'failed'],
    [2, 'sent'],
    [15, 'failed'],
  ] as const) {
    await expect(printed('--resolve', `${jobId}-${index}`, state)).rejects.toBeInstanceOf(CommandError);
  }
});

test('also one whose worker died, of which no delivery came since: then its receipts are looked for, too', async () => {
  const head = headOf('DEAD', { total: 2 });
  await accept(head);
  await claim(head, 0);
  expect(await outcomes.resolve({ jobId: head.jobId, index: 0 }, 'sent')).toBe(true);
  expect((await slices.find({ jobId: head.jobId, slice: 0 }))?.outcomes).toEqual([
    { state: 'sent', code: 'resolved_by_operator', resolvedAtMs: nowMs },
    { state: 'unknown', code: 'worker_lost' },
  ]);
  const { Item: doubt } = await client.send(new GetCommand({ TableName: table, Key: doubtKey(head.jobId) }));
  expect(doubt).toBeDefined();
  expect(await outcomes.resolve({ jobId: head.jobId, index: 1 }, 'failed')).toBe(true);
});

test('what a receipt has settled, and what ended with its job, is not unknown', async () => {
  const head = headOf('TOLD', { total: 12 });
  await accept(head);
  await claim(head, 0);
  const receipt = { jobId: head.jobId, index: 3, status: 'delivered', atMs: nowMs, platformMessageId: 'w' };
  for (const Item of receiptItems(head.jobId, [receipt], 1_900_000_000)) {
    await client.send(new PutCommand({ TableName: table, Item }));
  }
  expect((await outcomes.ofMessage({ jobId: head.jobId, index: 3 })).state).toBe('delivered');
  expect(await outcomes.resolve({ jobId: head.jobId, index: 3 }, 'failed')).toBe(false);
  expect(await outcomes.resolve({ jobId: 'none', index: 3 }, 'failed')).toBe(false);
});

test('jobs are found by DID and time, each once, and from their acceptance on', async () => {
  const jobs = [headOf('LIST0', { did: '9' }), headOf('LIST1', { did: '9', acceptedAtMs: acceptedAtMs + 1_000 })];
  for (const head of jobs) await accept(head);
  const found = async (fromMs: number, toMs: number) =>
    (await outcomes.listJobs({ did: '9', clientIds: [1001] }, { fromMs, toMs })).map(({ head: { jobId } }) => jobId);
  const [one, other] = jobs.map(({ jobId }) => jobId);
  expect(await found(acceptedAtMs, acceptedAtMs + 1_001)).toEqual([one, other]);
  expect(await found(acceptedAtMs, acceptedAtMs + 1_000)).toEqual([one]);
  expect(await found(acceptedAtMs + 1, acceptedAtMs + 2_000)).toEqual([other]);
});

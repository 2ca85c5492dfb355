import { beforeAll, expect, test } from 'vitest';
import demo from '../../../infra/local/demo/provisioning.json' with { type: 'json' };
import { clientsCommand, clientsStage } from '../../../infra/operate/clients.ts';
import { provision } from '../../../infra/operate/provisioning-run.ts';
import type { Target } from '../../../infra/operate/target.ts';
import { acceptedJobsStore } from '../../../lib/messages/accept/accepted-jobs-store.ts';
import { chunkOfJob } from '../../../lib/messages/chunk.ts';
import { receiptStore } from '../../../lib/messages/receipts/receipt-store.ts';
import { countJobs } from '../../../lib/messages/spend/count-jobs.ts';
import { spendStore } from '../../../lib/messages/spend/spend-store.ts';
import { shippedRates } from '../../../lib/pricing/rates.ts';
import { provisioningTarget } from '../../support/provisioning-target.ts';
import { scenarioHead, startMs } from '../../support/scenario-job.ts';
import { localDocumentClient } from '../../support/stores.ts';

const client = localDocumentClient();
const dayMs = 86_400_000;
const day = (afterDays: number) => new Date(startMs + afterDays * dayMs).toISOString().slice(0, 10);
let target: Target;

beforeAll(async () => {
  ({ target } = await provisioningTarget());
  // Names go to a terminal: what would colour it is left out.
  const clients = demo.clients.map(({ name, ...each }) => ({ ...each, name: `\u001b${name}` }));
  await provision({ ...demo, clients }, target, { nowMs: () => startMs });
  await ended('A1', { afterDays: 0, status: 'delivered' });
  await ended('A2', { afterDays: 1, status: 'delivered' });
  await ended('A3', { afterDays: 1, status: 'failed' });
});

/** Client 1001 has a message to Argentina with a final receipt. */
async function ended(jobId: string, { afterDays, status }: { readonly afterDays: number; readonly status: string }) {
  const table = target.tableName('messages');
  const acceptedAtMs = startMs + afterDays * dayMs;
  const head = { ...scenarioHead, jobId, total: 1, clientId: 1001, receiptsExpected: true as const, acceptedAtMs };
  const slices = [{ try: 0, size: 1, recipients: [{ index: 0, to: '5491155550001' }] }];
  const chunk = { ...chunkOfJob(head, { limitPerSecond: 80, lane: '*' }), straight: true as const, slices };
  await acceptedJobsStore(client, table, () => acceptedAtMs).beginStraight(chunk);
  const messages = { documentClient: client, tableName: table, pause: async () => undefined };
  const pricing = { billable: true, type: 'regular', category: 'marketing' };
  const receipt = { jobId, index: 0, status, atMs: acceptedAtMs + 5_000, platformMessageId: jobId };
  await receiptStore(messages).append(head, [status === 'delivered' ? { ...receipt, pricing } : receipt]);
  const nowMs = () => acceptedAtMs + 60_000;
  await countJobs([jobId], { ledger: spendStore(messages, nowMs), rates: async () => [shippedRates] as const, nowMs });
}

async function run(...typed: string[]) {
  const lines: string[] = [];
  const error = await clientsCommand(
    typed,
    () => clientsStage(target, () => startMs + dayMs),
    (line) => void lines.push(line),
  ).catch((reason: unknown) => reason);
  return { lines: lines.map((line) => line.trim().split(/ {2,}/)), error };
}

test('prints what each client has sent by day, and together', async () => {
  const name = '1001 Andes Retail';
  const { lines, error } = await run();
  expect(error).toBeUndefined();
  expect(lines).toEqual([
    ['client', 'day', 'sent', 'failed', 'held', 'calls', 'delivered', 'billed', 'dollars'],
    [name, day(0), '1', '0', '0', '1', '1', '1', '0.06'],
    [name, day(1), '1', '1', '0', '2', '1', '1', '0.06'],
    [name, 'together', '2', '1', '0', '3', '2', '2', '0.12'],
  ]);
  expect((await run('--since', '1d', '--client', '1001')).lines.slice(1).map(([, of]) => of)).toEqual([day(1)]);
  expect((await run('--client', '1002')).lines).toEqual([
    [`nothing is counted from ${day(-5)} to ${day(1)}; what is on its way is counted later`],
  ]);
});

test.each([
  [['--since', '7h'], 2, '--since takes days'],
  [['--since', '401d'], 2, '400d at most'],
  [['--client', 'x'], 2, '--client is not a client id'],
  [['--client', '4711'], 1, 'There is no client 4711.'],
])('%j is refused', async (typed, exitStatus, message) => {
  const { error } = await run(...typed);
  expect(error).toMatchObject({ exitStatus, message: expect.stringContaining(message) });
});

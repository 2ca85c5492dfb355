import { setTimeout as pause } from 'node:timers/promises';
import * as v from 'valibot';
import { audience, orderUpdate, type Recipient } from '../../../infra/local/demo/audience.ts';
import { ApiRefusal, call, type DemoClient, logIn, type Report } from '../../../infra/local/demo/client.ts';
import type { RunningStack } from '../../../infra/local/stack.ts';
import { demoSeed } from '../../../infra/simulator/seed.ts';
import { type ReportedState, reportedStates } from '../../../lib/messages/receipts/reported-state.ts';
import type { TakenMessage, ToldRecipient } from '../../support/send-audit.ts';
import type { Chance } from './chance.ts';

const lines = [
  { user: 'supervisor1001', did: '5491100000001', numberId: '300000000000001' },
  { user: 'supervisor1002', did: '5491100000002', numberId: '300000000000002' },
  { user: 'supervisor1002', did: '5511900000003', numberId: '300000000000003' },
] as const;
export const numberIds = lines.map(({ numberId }) => numberId);
const secondWaba = '200000000000002';
const jobsPerNumber = 3;
const largestJob = 10_000;
/** Jobs of different sizes: shares of what their number sends. */
const shares = [0.5, 0.3, 0.2] as const;
export const mostRecipients = lines.length * largestJob;

export interface Job {
  readonly client: DemoClient;
  readonly did: string;
  readonly jobId: string;
}

interface Order {
  readonly line: (typeof lines)[number];
  readonly recipients: readonly Recipient[];
}

/** The template that all jobs send; the one that is paused serves the first two numbers. */
export const pausedTemplateId = orderUpdateOf(demoSeed().wabas[0]?.templates ?? []).id;

function orderUpdateOf<T extends { readonly name: string }>(templates: readonly T[]): T {
  const found = templates.find(({ name }) => name === orderUpdate.name);
  if (found === undefined) throw new Error(`the demo data has no template ${orderUpdate.name}`);
  return found;
}

/** Two clients that can send the template from all three numbers. */
export async function prepareClients(
  stack: RunningStack,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, DemoClient>> {
  const { id: _, ...template } = orderUpdateOf(demoSeed().wabas[0]?.templates ?? []);
  const body = { waba_id: secondWaba, templates: [template] };
  await call({ baseUrl: stack.addresses.platformUrl, route: 'POST /_control/templates', body, signal });
  const clients = new Map<string, DemoClient>();
  for (const user of new Set(lines.map((line) => line.user))) {
    const client = await logIn(stack.addresses, user, signal);
    await client.synchronize();
    clients.set(user, client);
  }
  return clients;
}

/** Every recipient in exactly one job, three jobs of each number, those of different numbers in turns. */
function ordersOf(recipients: readonly Recipient[]): readonly Order[] {
  const perNumber = Math.ceil(recipients.length / lines.length);
  return Array.from({ length: jobsPerNumber }, (_, job) =>
    lines.map((line, index) => {
      const own = recipients.slice(index * perNumber, (index + 1) * perNumber);
      const bounds = [job, job + 1].map((end) =>
        Math.round(own.length * shares.slice(0, end).reduce<number>((sum, share) => sum + share, 0)),
      );
      return { line, recipients: own.slice(bounds[0], bounds[1]) };
    }),
  )
    .flat()
    .filter((order) => order.recipients.length > 0);
}

/** Sends to `count` recipients that nobody else writes to; newcomers come while earlier jobs run. */
export async function acceptJobs(
  clients: ReadonlyMap<string, DemoClient>,
  { count, chance, signal }: { readonly count: number; readonly chance: Chance; readonly signal: AbortSignal },
): Promise<readonly Job[]> {
  const jobs: Job[] = [];
  for (const { line, recipients } of ordersOf(audience(count, chance.between(0, 10 ** 8 - 1)))) {
    const client = clients.get(line.user);
    if (client === undefined) throw new Error(`${line.user} is not logged in`);
    const jobId = await client.send({ did: line.did, template: orderUpdate, recipients });
    jobs.push({ client, did: line.did, jobId });
    await pause(chance.between(0, 500), undefined, { signal });
  }
  return jobs;
}

export type StateCounts = Readonly<Record<ReportedState, number>>;

/** The counts of all jobs together; undefined when a report could not be had just now. */
export async function countsOf(jobs: readonly Job[]): Promise<StateCounts | undefined> {
  const reports: Report[] = [];
  try {
    for (const { client, did, jobId } of jobs) reports.push(await client.report(did, jobId));
  } catch (error) {
    if (error instanceof ApiRefusal && error.status >= 500) return undefined;
    throw error;
  }
  const sum = (state: ReportedState) => reports.reduce((all, { counts }) => all + counts[state], 0);
  return Object.fromEntries(reportedStates.map((state) => [state, sum(state)])) as Record<ReportedState, number>;
}

/** What the reports tell of every recipient. */
export async function toldOf(jobs: readonly Job[]): Promise<readonly ToldRecipient[]> {
  const told: ToldRecipient[] = [];
  for (const { client, did, jobId } of jobs) {
    const rows = await client.rows(did, jobId);
    for (const [index, { state, code }] of rows.entries()) {
      told.push({ dispatchId: `${jobId}-${index}`, state, ...(code === undefined ? {} : { code }) });
    }
  }
  return told;
}

const MessagesSchema = v.object({
  data: v.array(v.object({ to: v.string(), request: v.object({ biz_opaque_callback_data: v.optional(v.string()) }) })),
});

/** Everything that the platform simulator took, by its own record. */
export async function takenAt(platformUrl: string, signal: AbortSignal): Promise<readonly TakenMessage[]> {
  const { json } = await call({ baseUrl: platformUrl, route: 'GET /_control/messages?limit=1000000', signal });
  return v
    .parse(MessagesSchema, json)
    .data.map(({ to, request }) => ({ to, dispatchId: request.biz_opaque_callback_data }));
}

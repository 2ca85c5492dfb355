import { templatesList } from '../../functions/templates-list.ts';
import type { RunningStack } from '../../infra/local/stack.ts';
import { directoryStore } from '../../lib/access/directory-store.ts';
import { templateStore } from '../../lib/templates/model/template-store.ts';
import { call, type TestCaller } from '../support/calls.ts';
import { makeHttpEvent } from '../support/http-event.ts';
import { meterRequests, type RequestCost } from '../support/request-meter.ts';
import { report } from './figure.ts';
import { startFunction } from './function-process.ts';
import { expectedTotal, type Question, questions } from './listing-questions.ts';
import {
  type BenchTables,
  benchTables,
  clientId,
  clientOf,
  type TemplateData,
  templateData,
} from './template-tables.ts';

const pageSize = 100;
const bytesPerMb = 1_048_576;
/** Lambda answers with so much at most. */
const answerLimitMb = 6;

const agent: TestCaller = { userId: `agent${clientId}`, clientId };
/** The operator has no user profile to read and sees unassigned templates too. */
const operator: TestCaller = { userId: 'operator', clientId, permissions: ['BSP_CN'] };

/** Measures and checks a listing with 6,000 templates and with 50,000. */
export async function benchListing(stack: RunningStack): Promise<void> {
  await benchSixThousand(stack);
  await benchFiftyThousand(stack);
}

async function benchSixThousand(stack: RunningStack): Promise<void> {
  const data = templateData(6_000, 5_000);
  const rich = await benchTables(stack, 'rich', data);
  const poor = await benchTables(stack, 'poor', templateData(6_000, 500));
  await benchCost(stack, rich, data);
  await benchRichness(listingOn(stack, rich), listingOn(stack, poor));
}

/** Reports the most that a page of any query costs either caller, and the answers that differ from the data. */
async function benchCost(stack: RunningStack, tables: BenchTables, data: TemplateData): Promise<void> {
  const listing = listingOn(stack, tables);
  const costs: RequestCost[] = [];
  const answerBytes: number[] = [];
  let wrong = 0;
  for (const caller of [agent, operator]) {
    for (const question of questions) {
      const total = expectedTotal(question, data, caller === operator);
      for (const page of pagesOf(total)) {
        const answer = await listing.list(caller, question.query, page);
        costs.push(answer.cost);
        answerBytes.push(answer.bytes);
        if (isWrong(answer, { total, page })) wrong += 1;
      }
    }
  }
  const most = (of: (cost: RequestCost) => number) => Math.max(...costs.map(of));
  report({ figure: 'listing.6000.answers', value: costs.length, unit: 'answers' });
  report({ figure: 'listing.6000.wrong_answers', value: wrong, limit: 0, unit: 'answers' });
  report({ figure: 'listing.6000.read_units', value: most((cost) => cost.readUnits), limit: 250, unit: 'units' });
  report({ figure: 'listing.6000.round_trips', value: most((cost) => cost.roundTrips), limit: 3, unit: 'round trips' });
  report({
    figure: 'listing.6000.answer',
    value: Math.max(...answerBytes) / bytesPerMb,
    limit: answerLimitMb,
    unit: 'MB',
  });
}

function pagesOf(total: number): number[] {
  const last = Math.max(1, Math.ceil(total / pageSize));
  return [...new Set([1, Math.ceil(last / 2), last])];
}

interface Listed {
  readonly data: readonly unknown[];
  readonly total: number;
}

function isWrong({ data, total }: Listed, expected: { readonly total: number; readonly page: number }): boolean {
  const shown = Math.min(pageSize, expected.total - (expected.page - 1) * pageSize);
  return total !== expected.total || data.length !== shown;
}

const rounds = 15;

/**
 * Compares a page with bodies of 5 KB to one of 500 bytes, in turns. The quickest of each counts, because other
 * processes only add time.
 */
async function benchRichness(rich: Listing, poor: Listing): Promise<void> {
  const times = { rich: Number.POSITIVE_INFINITY, poor: Number.POSITIVE_INFINITY };
  for (let round = 0; round < rounds; round += 1) {
    times.rich = Math.min(times.rich, await timed(rich));
    times.poor = Math.min(times.poor, await timed(poor));
  }
  report({ figure: 'listing.6000.time_5kb_to_500b', value: times.rich / times.poor, limit: 1.2, unit: 'ratio' });
}

async function timed(listing: Listing): Promise<number> {
  const startedMs = performance.now();
  await listing.list(agent, {}, 2);
  return performance.now() - startedMs;
}

type Listing = ReturnType<typeof listingOn>;

/** Builds the endpoint over the real stores, with a meter. */
function listingOn(stack: RunningStack, tables: BenchTables) {
  const client = clientOf(stack);
  const meter = meterRequests(client);
  const endpoint = templatesList({
    directory: directoryStore(client, tables.directory.tableName),
    templates: templateStore(client, tables.templates.tableName),
    nowMs: Date.now,
  });
  return {
    list: async (caller: TestCaller, question: Question['query'], page: number) => {
      const query = { ...question, client_id: String(clientId), size: String(pageSize), page: String(page) };
      const { status, body } = await call(endpoint, caller, { query });
      if (status !== 200) throw new Error(`the listing answered ${status}`);
      return { ...(body as Listed), bytes: Buffer.byteLength(JSON.stringify(body)), cost: meter.taken() };
    },
  };
}

/** The built function lists 50,000 templates of one client in a process with the memory of the deployed one. */
async function benchFiftyThousand(stack: RunningStack): Promise<void> {
  const data = templateData(50_000, 500);
  const tables = await benchTables(stack, 'many', data);
  const variables = { DIRECTORY_TABLE: tables.directory.tableName, TEMPLATES_TABLE: tables.templates.tableName };
  const listing = startFunction(stack, 'templates-list', { variables });
  let [wrong, answerBytes, peakBytes] = [0, 0, 0];
  try {
    for (const question of questions.slice(0, 2)) {
      const total = expectedTotal(question, data, true);
      for (const page of pagesOf(total)) {
        const answer = await listing.invoke(listEvent(question.query, page));
        if (isWrong(JSON.parse(answer.body) as Listed, { total, page })) wrong += 1;
        answerBytes = Math.max(answerBytes, Buffer.byteLength(answer.body));
        peakBytes = Math.max(peakBytes, answer.peakBytes);
      }
    }
  } finally {
    listing.stop();
  }
  const figure = (what: string) => `listing.50000.${what}`;
  report({ figure: figure('wrong_answers'), value: wrong, limit: 0, unit: 'answers' });
  report({ figure: figure('answer'), value: answerBytes / bytesPerMb, limit: answerLimitMb, unit: 'MB' });
  report({ figure: figure('peak_memory'), value: peakBytes / bytesPerMb, limit: listing.memoryMb, unit: 'MB' });
}

function listEvent(question: Question['query'], page: number) {
  return makeHttpEvent({
    routeKey: 'GET /v1/templates',
    query: { ...question, client_id: String(clientId), size: String(pageSize), page: String(page) },
    token: {
      userId: operator.userId,
      clientId,
      permissions: ['BSP_CN'],
      expiresAtSeconds: Math.ceil(Date.now() / 1_000) + 3_600,
    },
  });
}

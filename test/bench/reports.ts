import { dispatchesList } from '../../functions/dispatches-list.ts';
import { messagesReport } from '../../functions/messages-report.ts';
import type { RunningStack } from '../../infra/local/stack.ts';
import { directoryStore } from '../../lib/access/directory-store.ts';
import { tableOf } from '../../lib/aws/table.ts';
import type { DispatchHead } from '../../lib/messages/dispatch/head.ts';
import { dispatchesStore } from '../../lib/messages/report/dispatches-store.ts';
import { reportStore } from '../../lib/messages/report/report-store.ts';
import { call, type TestCaller } from '../support/calls.ts';
import { makeHttpEvent } from '../support/http-event.ts';
import { loadDispatch, loadReceipts, shippedKnownRates } from '../support/reported-dispatches.ts';
import { loadSlices } from '../support/reported-slices.ts';
import { meterRequests, type RequestCost } from '../support/request-meter.ts';
import { type LoadedTable, loadClients } from '../support/scale-loading.ts';
import { report } from './figure.ts';
import { startFunction } from './function-process.ts';
import { benchTable, clientOf, directoryFile } from './template-tables.ts';

const recipientCount = 10_000;
const pageSize = 1_000;
const listedCount = 300;
const bytesPerMb = 1_048_576;
const clientId = 1001;
const otherClientId = 1002;
const acceptedAtMs = Date.now() - 3_600_000;
const caller: TestCaller = { userId: 'bench', clientId };

/**
 * Measures the report of 10,000 recipients before and after its receipts, and a list of dispatches on a shared number.
 */
export async function benchReports(stack: RunningStack): Promise<void> {
  const directory = await benchTable(stack, 'reports', 'directory');
  const messages = await benchTable(stack, 'reports', 'messages');
  await loadClients(directory, directoryFile);
  const pages = pagesOn(stack, directory, messages);
  const large = headOf('LARGE', { total: recipientCount });
  await loadDispatch(messages, large);
  await loadSlices(messages, large);
  await benchFirstPage('before_receipts', 100, () => pages.report(large, {}, 'sent'));
  await benchLaterPages('before_receipts', () => pages.allOf(large, 'sent'));
  // A run without a backlog sees so many receipts in an hour.
  await loadReceipts(messages, large, 300);
  await benchFirstPage('after_receipts', 250, () => pages.report(large, {}, 'read'));
  await benchLaterPages('after_receipts', () => pages.allOf(large, 'read'));
  await benchList(messages, pages);
  await benchMemory(stack, { directory, messages }, large);
}

function headOf(name: string, facts: Pick<DispatchHead, 'total'> & Partial<DispatchHead>): DispatchHead {
  const did = directoryFile.channels[0]?.did ?? '';
  return {
    ...{ dispatchId: name.padStart(26, '0'), clientId, did, wabaId: '2', phoneNumberId: '3', credential: 'main' },
    ...{
      throughputPerSecond: 80,
      path: 'messages',
      category: 'MARKETING',
      templateName: 'order_update',
      templateLanguage: 'en_US',
    },
    acceptedAtMs,
    ...facts,
  };
}

interface Page {
  readonly cost: RequestCost;
  readonly wrong: number;
}

async function benchFirstPage(name: string, unitsLimit: number, ask: () => Promise<Page>): Promise<void> {
  const { cost, wrong } = await ask();
  const figure = (what: string) => `report.${name}.${what}`;
  report({ figure: figure('wrong_counts'), value: wrong, limit: 0, unit: 'messages' });
  report({ figure: figure('read_units'), value: cost.readUnits, limit: unitsLimit, unit: 'units' });
  report({ figure: figure('round_trips'), value: cost.roundTrips, limit: 2, unit: 'round trips' });
}

async function benchLaterPages(name: string, ask: () => Promise<readonly Page[]>): Promise<void> {
  const [, ...later] = await ask();
  const figure = (what: string) => `report.${name}.later_${what}`;
  const most = (of: (page: Page) => number) => Math.max(...later.map(of));
  report({ figure: figure('wrong_counts'), value: most(({ wrong }) => wrong), limit: 0, unit: 'messages' });
  report({ figure: figure('read_units'), value: most(({ cost }) => cost.readUnits), unit: 'units' });
  report({ figure: figure('round_trips'), value: most(({ cost }) => cost.roundTrips), limit: 1, unit: 'round trips' });
}

type Pages = ReturnType<typeof pagesOn>;

/** Two clients have dispatches on one number. Reads every page of one client. */
async function benchList(messages: LoadedTable, pages: Pages): Promise<void> {
  for (let at = 0; at < listedCount; at += 1) {
    const owner = at % 2 === 0 ? clientId : otherClientId;
    await loadDispatch(messages, headOf(`L${at}`, { total: 1, clientId: owner, acceptedAtMs: acceptedAtMs + at }));
  }
  const listed = await pages.list();
  const found = listed.reduce((sum, { rows }) => sum + rows, 0);
  // The dispatch of the report above is listed too.
  report({ figure: 'dispatches.missing', value: listedCount / 2 + 1 - found, limit: 0, unit: 'dispatches' });
  const roundTrips = Math.max(...listed.map(({ cost }) => cost.roundTrips));
  report({
    figure: 'dispatches.round_trips',
    value: roundTrips,
    limit: 2,
    unit: 'round trips',
  });
}

/** Builds both endpoints over the real stores, with one meter. */
function pagesOn(stack: RunningStack, directory: LoadedTable, messages: LoadedTable) {
  const client = clientOf(stack);
  const meter = meterRequests(client);
  const ports = { directory: directoryStore(client, directory.tableName), nowMs: Date.now };
  const reports = messagesReport({
    ...ports,
    rates: shippedKnownRates,
    report: reportStore(tableOf(client, messages.tableName, { nowMs: Date.now })),
  });
  const lists = dispatchesList({
    ...ports,
    dispatches: dispatchesStore(tableOf(client, messages.tableName, { nowMs: Date.now })),
  });

  const askReport = async ({ dispatchId, did, total }: DispatchHead, query: Record<string, string>, state: string) => {
    const asked = { limit: String(pageSize), ...query };
    const { status, body } = await call(reports, caller, { path: { did, dispatchId: dispatchId }, query: asked });
    if (status !== 200) throw new Error(`the report answered ${status}`);
    const { counts, paging } = body as {
      readonly counts: Readonly<Record<string, number>>;
      readonly paging: { readonly cursors: { readonly after?: string } };
    };
    return { cost: meter.taken(), wrong: total - (counts[state] ?? 0), after: paging.cursors.after };
  };

  return {
    report: askReport,
    allOf: async (head: DispatchHead, state: string) => {
      const found: Page[] = [];
      let cursor: string | undefined;
      do {
        const page = await askReport(head, cursor === undefined ? {} : { cursor }, state);
        found.push(page);
        cursor = page.after;
      } while (cursor !== undefined);
      return found;
    },
    list: async () => {
      const { did } = headOf('', { total: 1 });
      const found: { readonly cost: RequestCost; readonly rows: number }[] = [];
      let cursor: string | undefined;
      do {
        const query = { limit: '100', ...(cursor === undefined ? {} : { cursor }) };
        const { status, body } = await call(lists, caller, { path: { did }, query });
        if (status !== 200) throw new Error(`the list of dispatches answered ${status}`);
        const { data, paging } = body as { data: unknown[]; paging: { cursors: { after?: string } } };
        found.push({ cost: meter.taken(), rows: data.length });
        cursor = paging.cursors.after;
      } while (cursor !== undefined);
      return found;
    },
  };
}

/** The built function reads all receipts of 10,000 messages in a process with the memory of the deployed one. */
async function benchMemory(
  stack: RunningStack,
  tables: { readonly directory: LoadedTable; readonly messages: LoadedTable },
  { dispatchId, did }: DispatchHead,
): Promise<void> {
  const variables = { DIRECTORY_TABLE: tables.directory.tableName, MESSAGES_TABLE: tables.messages.tableName };
  const reports = startFunction(stack, 'messages-report', { variables });
  try {
    const { body, peakBytes } = await reports.invoke(
      makeHttpEvent({
        routeKey: 'GET /v1/template/messages/{did}/{dispatchId}',
        pathParameters: { did, dispatchId: dispatchId },
        query: { limit: String(pageSize) },
        token: { ...caller, permissions: [], expiresAtSeconds: Math.ceil(Date.now() / 1_000) + 3_600 },
      }),
    );
    report({ figure: 'report.answer', value: Buffer.byteLength(body) / bytesPerMb, limit: 6, unit: 'MB' });
    report({ figure: 'report.peak_memory', value: peakBytes / bytesPerMb, limit: reports.memoryMb, unit: 'MB' });
  } finally {
    reports.stop();
  }
}

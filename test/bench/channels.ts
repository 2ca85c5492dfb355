import { channelsList } from '../../functions/channels-list.ts';
import type { RunningStack } from '../../infra/local/stack.ts';
import type { ListedChannel } from '../../lib/channels/channel.ts';
import { channelStore } from '../../lib/channels/channel-store.ts';
import { call, type TestCaller } from '../support/calls.ts';
import { channelsAtScale } from '../support/channels.ts';
import { memoryDirectory } from '../support/directory.ts';
import { makeHttpEvent } from '../support/http-event.ts';
import { meterRequests, type RequestCost } from '../support/request-meter.ts';
import { type LoadedTable, loadChannels } from '../support/scale-loading.ts';
import { report } from './figure.ts';
import { startFunction } from './function-process.ts';
import { benchTable, clientOf } from './template-tables.ts';

const count = 50_000;
const clientId = 1001;
const pageSize = 100;
const bytesPerMb = 1_048_576;
const supervisor: TestCaller = { userId: 'supervisor', clientId };
const operator: TestCaller = { userId: 'operator', clientId: 1, permissions: ['BSP_CN'] };

/** Each filter of the listing has the channels that it must find, computed from the data. Deleted ones are left out. */
const questions: readonly {
  readonly query: Readonly<Record<string, string>>;
  readonly finds: (channel: ListedChannel) => boolean;
}[] = [
  { query: {}, finds: () => true },
  { query: { wa_id: '5491100000777' }, finds: ({ waId }) => waId === '5491100000777' },
  { query: { waba_id: '200000000000007' }, finds: ({ wabaId }) => wabaId === '200000000000007' },
  { query: { status: 'RESTRICTED' }, finds: ({ status }) => status === 'RESTRICTED' },
  { query: { business_id: '400000000000003' }, finds: ({ businessId }) => businessId === '400000000000003' },
  { query: { business_name: 'COMPANY 1' }, finds: ({ businessName }) => businessName.includes('company 1') },
  {
    query: { q: '77', status: 'ACTIVE', fields: 'wa_id' },
    finds: ({ status, waId, wabaId, wabaName, clientName }) =>
      status === 'ACTIVE' && [waId, wabaId, wabaName, clientName].some((text) => text.includes('77')),
  },
];

/**
 * Measures what each page and filter costs with 50,000 channels: of one client, asked by it; of 500 clients, asked for
 * all.
 */
export async function benchChannels(stack: RunningStack): Promise<void> {
  const ofOne = channelsAtScale(count, () => clientId);
  const one = await benchTable(stack, 'one', 'channels');
  await loadChannels(one, ofOne);
  await benchCost(stack, 'one_client', { table: one, channels: ofOne, caller: supervisor });

  const ofMany = channelsAtScale(count, (index) => clientId + (index % 500));
  const many = await benchTable(stack, 'many', 'channels');
  await loadChannels(many, ofMany);
  await benchCost(stack, '500_clients', { table: many, channels: ofMany, caller: operator });
  await benchMemory(stack, many.tableName);
}

interface Loaded {
  readonly table: LoadedTable;
  readonly channels: readonly ListedChannel[];
  readonly caller: TestCaller;
}

async function benchCost(stack: RunningStack, name: string, { table, channels, caller }: Loaded): Promise<void> {
  const client = clientOf(stack);
  const meter = meterRequests(client);
  const endpoint = channelsList({
    directory: memoryDirectory({}),
    channels: channelStore(client, table.tableName),
    nowMs: Date.now,
  });
  const costs: RequestCost[] = [];
  let wrong = 0;
  for (const { query, finds } of questions) {
    const total = channels.filter((channel) => !channel.deleted && finds(channel)).length;
    const lastPage = Math.max(1, Math.ceil(total / pageSize));
    for (const page of new Set([1, Math.ceil(lastPage / 2), lastPage])) {
      const asked = { query: { ...query, size: String(pageSize), page: String(page) } };
      const { status, body } = await call(endpoint, caller, asked);
      const answer = body as { readonly data?: readonly unknown[]; readonly total?: number };
      const shown = Math.min(pageSize, total - (page - 1) * pageSize);
      if (status !== 200 || answer.total !== total || answer.data?.length !== shown) wrong += 1;
      costs.push(meter.taken());
    }
  }
  const most = (of: (cost: RequestCost) => number) => Math.max(...costs.map(of));
  const figure = (what: string) => `channels.50000.${name}.${what}`;
  report({ figure: figure('wrong_answers'), value: wrong, limit: 0, unit: 'answers' });
  report({ figure: figure('round_trips'), value: most((cost) => cost.roundTrips), limit: 2, unit: 'round trips' });
  report({ figure: figure('requests'), value: most((cost) => cost.requests), limit: 32, unit: 'requests' });
  report({ figure: figure('read_units'), value: most((cost) => cost.readUnits), unit: 'read units' });
}

/** The built function lists all 50,000 channels in a process with the memory of the deployed one. */
async function benchMemory(stack: RunningStack, tableName: string): Promise<void> {
  const listing = startFunction(stack, 'channels-list', {
    variables: { CHANNELS_TABLE: tableName, DIRECTORY_TABLE: 'not-asked' },
  });
  try {
    const expiresAtSeconds = Math.ceil(Date.now() / 1_000) + 3_600;
    const token = { userId: 'operator', clientId: 1, permissions: ['BSP_CN'], expiresAtSeconds };
    const { peakBytes } = await listing.invoke(
      makeHttpEvent({ routeKey: 'GET /v1/client-messaging-channels', query: { size: String(pageSize) }, token }),
    );
    const peak = { figure: 'channels.50000.peak_memory', value: peakBytes / bytesPerMb, unit: 'MB' };
    report({ ...peak, limit: listing.memoryMb });
  } finally {
    listing.stop();
  }
}

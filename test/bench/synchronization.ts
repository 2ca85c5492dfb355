import { parseSeed, type Seed, startSimulator } from '#simulator/contract';
import type { RunningStack } from '../../infra/local/stack.ts';
import { directoryStore } from '../../lib/access/directory-store.ts';
import { platformTransport } from '../../lib/platform/transport.ts';
import { platformTemplates } from '../../lib/templates/model/platform-templates.ts';
import { templateStore } from '../../lib/templates/model/template-store.ts';
import { runSync, type SyncPorts } from '../../lib/templates/sync/sync.ts';
import { syncLockStore } from '../../lib/templates/sync/sync-lock-store.ts';
import { noCounts, type SyncCounts } from '../../lib/templates/sync/sync-message.ts';
import { MemoryEvents } from '../support/memory-events.ts';
import { meterRequests } from '../support/request-meter.ts';
import { report } from './figure.ts';
import { benchTables, clientId, clientOf, templateData, wabaId } from './template-tables.ts';

const count = 6_000;
const templatesPerRequest = 20;
const accessToken = 'token-at-scale';

/**
 * Synchronizes 6,000 templates of a WABA with two clients: first all are new, then none has changed. The lease is not
 * counted.
 */
export async function benchSynchronization(stack: RunningStack): Promise<void> {
  const simulator = await startSimulator({ seed: platformData() });
  try {
    const { directory, templates } = await benchTables(stack, 'sync');
    const client = clientOf(stack);
    const meter = meterRequests(client);
    const transport = platformTransport({ baseUrl: simulator.url, version: 'v26.0', timeoutMs: 10_000 });
    const workshop: SyncPorts = {
      directory: directoryStore(directory.documentClient, directory.tableName),
      templates: templateStore(client, templates.tableName),
      platform: platformTemplates(transport, async () => ({ accessToken, appId: '1' })),
      refreshChannels: async () => 0,
      locks: syncLockStore(templates.documentClient, templates.tableName),
      events: new MemoryEvents(),
      nowMs: Date.now,
      pause: async () => undefined,
    };
    const first = await synchronize(workshop, 'first');
    const perTwenty = meter.taken().writes / (count / templatesPerRequest);
    report({ figure: 'sync.new.writes_per_20_templates', value: perTwenty, limit: 1.05, unit: 'requests' });
    requireCount('created', first);
    const second = await synchronize(workshop, 'second');
    report({ figure: 'sync.unchanged.writes', value: meter.taken().writes, limit: 0, unit: 'requests' });
    requireCount('unchanged', second);
  } finally {
    await simulator.stop();
  }
}

function platformData(): Seed {
  const { templates } = templateData(count, 5_000);
  return parseSeed({
    tokens: [{ token: accessToken, waba_ids: [wabaId] }],
    wabas: [{ node: { id: wabaId, name: 'WABA' }, phone_numbers: [], product_catalogs: [], templates }],
  });
}

async function synchronize(workshop: SyncPorts, owner: string): Promise<SyncCounts> {
  const lock = await workshop.locks.acquire({ name: 'sync', owner, contender: 'test', nowMs: Date.now() });
  if (lock === undefined) throw new Error('the lock is not free');
  const message = { lock, clientId, wabaIds: [wabaId], counts: noCounts };
  const result = await runSync(workshop, message, () => 900_000);
  if (result.kind === 'unfinished') throw new Error('the synchronization came to no end');
  return result.counts;
}

function requireCount(kind: keyof SyncCounts, counts: SyncCounts): void {
  if (counts[kind] !== count) throw new Error(`${count} templates should be ${kind}: ${JSON.stringify(counts)}`);
}

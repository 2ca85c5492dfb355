import { beforeEach, expect, test } from 'vitest';
import type { RefreshChannels } from '../../../lib/channels/refresh.ts';
import { PlatformFailure } from '../../../lib/platform/failure.ts';
import { templateStore } from '../../../lib/templates/model/template-store.ts';
import { runSync, type SyncPorts } from '../../../lib/templates/sync/sync.ts';
import { leaseMs } from '../../../lib/templates/sync/sync-lock.ts';
import { syncLockStore } from '../../../lib/templates/sync/sync-lock-store.ts';
import { noCounts, type SyncMessage } from '../../../lib/templates/sync/sync-message.ts';
import { makeWaba, memoryDirectory } from '../../support/directory.ts';
import { MemoryEvents } from '../../support/memory-events.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';
import { makeTemplate } from '../../support/templates.ts';

const wabaIds = ['200000000000001', '200000000000002'];
const wabas = wabaIds.map((wabaId) => makeWaba({ wabaId, clientIds: [1001] }));
const client = localDocumentClient();
const plentyMs = () => 900_000;

let table: string;
let now: number;
let refreshed: string[];
beforeEach(async () => {
  table = await freshTable('templates');
  now = 1_800_000_000_000;
  refreshed = [];
});

function workshop(refreshChannels: RefreshChannels): SyncPorts {
  return {
    directory: memoryDirectory({ wabas }),
    templates: templateStore(client, table),
    platform: {
      page: async ({ wabaId }, after) => ({
        templates: [makeTemplate({ name: `of_${wabaId}_${after ?? 'first'}` })],
        unreadable: [],
        ...(after === undefined ? { after: 'second' } : {}),
      }),
    },
    refreshChannels: async (waba, mayGoOn) => {
      refreshed.push(waba.wabaId);
      return refreshChannels(waba, mayGoOn);
    },
    locks: syncLockStore(client, table),
    events: new MemoryEvents(),
    nowMs: () => now,
    pause: async () => undefined,
  };
}

async function begun(owner = 'first'): Promise<SyncMessage> {
  const lock = await syncLockStore(client, table).acquire({ name: 'sync', owner, contender: 'test', nowMs: now });
  if (lock === undefined) throw new Error('the lock is not free');
  return { lock, clientId: 1001, wabaIds, counts: noCounts };
}

test("every WABA's channels are refreshed once, and the changes counted", async () => {
  const result = await runSync(
    workshop(async () => 3),
    await begun(),
    plentyMs,
  );
  expect(result).toEqual({ kind: 'finished', counts: { ...noCounts, created: 4, refreshedChannels: 6 } });
  expect(refreshed).toEqual(wabaIds);
});

test('a refresh that fails is counted and leaves the templates alone', async () => {
  const failing: RefreshChannels = async ({ wabaId }) => {
    if (wabaId === wabaIds[0]) throw new PlatformFailure('ambiguous');
    return 1;
  };
  const result = await runSync(workshop(failing), await begun(), plentyMs);
  const counts = { ...noCounts, created: 4, refreshedChannels: 1, failedRefreshes: 1 };
  expect(result).toEqual({ kind: 'finished', counts });
});

test('a list of templates that goes on in another run is not preceded by another refresh', async () => {
  let message = await begun();
  const seen: string[] = [];
  for (;;) {
    const result = await runSync(
      workshop(async () => 1),
      message,
      () => 44_999,
    );
    seen.push(`${result.kind} after ${refreshed.length}`);
    if (result.kind === 'finished') break;
    message = JSON.parse(JSON.stringify(result.checkpoint));
  }
  expect(seen).toEqual(['unfinished after 1', 'unfinished after 1', 'unfinished after 2', 'finished after 2']);
});

test('a refresh that takes the time of its WABA leaves the WABA to the next run, and is told to end', async () => {
  let leftMs = 100_000;
  const going: boolean[] = [];
  const slow: RefreshChannels = async ({ wabaId }, mayGoOn) => {
    going.push(await mayGoOn());
    if (wabaId === wabaIds[1]) leftMs = 44_999;
    going.push(await mayGoOn());
    return 0;
  };
  const result = await runSync(workshop(slow), await begun(), () => leftMs);
  expect(going).toEqual([true, true, true, false]);
  expect(result).toMatchObject({ kind: 'unfinished', checkpoint: { wabaIds: [wabaIds[1]], counts: { created: 2 } } });
  expect(result.kind === 'unfinished' && result.checkpoint.listing).toBeUndefined();
});

test('a refresh that sleeps through the lease ends the synchronization', async () => {
  const message = await begun();
  const asleep: RefreshChannels = async (_, mayGoOn) => {
    now += 2 * leaseMs;
    await begun('second');
    await mayGoOn();
    return 1;
  };
  await expect(runSync(workshop(asleep), message, plentyMs)).rejects.toThrow('lock is held by another run');
  expect(await templateStore(client, table).rowsOf(1001)).toEqual([]);
});

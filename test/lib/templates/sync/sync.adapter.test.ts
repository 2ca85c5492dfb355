import { randomBytes } from 'node:crypto';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { platformTransport } from '../../../../lib/platform/transport.ts';
import { factKey, rowKey } from '../../../../lib/templates/model/items.ts';
import { platformTemplates } from '../../../../lib/templates/model/platform-templates.ts';
import type { PlatformTemplate } from '../../../../lib/templates/model/template.ts';
import { templateKey } from '../../../../lib/templates/model/template-key.ts';
import { templateStore } from '../../../../lib/templates/model/template-store.ts';
import { runSync, type SyncPorts, type SyncResult } from '../../../../lib/templates/sync/sync.ts';
import { clockSkewMs, leaseMs } from '../../../../lib/templates/sync/sync-lock.ts';
import { syncLockStore } from '../../../../lib/templates/sync/sync-lock-store.ts';
import { noCounts, type SyncMessage } from '../../../../lib/templates/sync/sync-message.ts';
import { makeWaba, memoryDirectory } from '../../../support/directory.ts';
import { injectFaults } from '../../../support/dynamo-faults.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';
import { type PlatformServer, startPlatformServer } from '../../../support/platform-server.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';
import { makeTemplate } from '../../../support/templates.ts';
import { thorough } from '../../../support/thorough.ts';
import { crashingAt, refuseWritesOf } from './crashing-sync.ts';

const shared = makeWaba({ wabaId: '200000000000001', clientIds: [1001, 1002] });
const own = makeWaba({ wabaId: '200000000000002', clientIds: [1002] });
const plentyMs = () => 900_000;
const documentClient = localDocumentClient();
let platform: PlatformServer;
let table: string;
let now: number;

beforeAll(async () => {
  platform = await startPlatformServer();
});
afterAll(() => platform.close());
beforeEach(async () => {
  table = await freshTable('templates');
  now = 1_800_000_000_000;
  platform.failures.clear();
  platform.requests.length = 0;
  platform.templates.clear();
  platform.templates.set(shared.wabaId, many(130, 'shared'));
  platform.templates.set(own.wabaId, many(30, 'own'));
});

function many(count: number, prefix: string): PlatformTemplate[] {
  return Array.from({ length: count }, (_, index) => makeTemplate({ id: `${index + 1}`, name: `${prefix}_${index}` }));
}

function workshop(overrides: Partial<SyncPorts> = {}): SyncPorts {
  const transport = platformTransport({ baseUrl: platform.baseUrl, version: 'v26.0', timeoutMs: 2_000 });
  return {
    directory: memoryDirectory({ wabas: [shared, own] }),
    templates: templateStore(documentClient, table),
    platform: platformTemplates(transport, async () => ({ accessToken: 'demo-token', appId: '1' })),
    refreshChannels: async () => 0,
    locks: syncLockStore(documentClient, table),
    events: new MemoryEvents(),
    nowMs: () => now,
    pause: async () => undefined,
    ...overrides,
  };
}

/** Returns a request's queued message: client 1002, which has both WABAs, holds the lock. */
async function started(owner = 'first'): Promise<SyncMessage> {
  const lock = await workshop().locks.acquire({ name: 'sync', owner, contender: 'test', nowMs: now });
  if (lock === undefined) throw new Error('the lock is not free');
  return { lock, clientId: 1002, wabaIds: [shared.wabaId, own.wabaId], counts: noCounts };
}

async function synchronize(over: Partial<SyncPorts> = {}): Promise<SyncResult> {
  now += 1_000;
  return runSync(workshop(over), await started(`sync at ${now}`), plentyMs);
}

const lockIsFree = async () =>
  (await workshop().locks.acquire({ name: 'sync', owner: `probe ${Math.random()}`, contender: 'test', nowMs: now })) !==
  undefined;

const rowsOf = (clientId: number) => templateStore(documentClient, table).rowsOf(clientId);

const liveNames = async (clientId: number) =>
  (await rowsOf(clientId))
    .filter((row) => !row.deleted)
    .map((row) => row.name)
    .toSorted();
const namesUpstream = (...wabaIds: string[]) =>
  wabaIds.flatMap((id) => (platform.templates.get(id) as PlatformTemplate[]).map(({ name }) => name)).toSorted();

test('everything new is given to every client of its WABA, and the lock is free again', async () => {
  expect(await synchronize()).toEqual({ kind: 'finished', counts: { ...noCounts, created: 160 } });
  expect(await liveNames(1001)).toEqual(namesUpstream(shared.wabaId));
  expect(await liveNames(1002)).toEqual(namesUpstream(shared.wabaId, own.wabaId));
  expect(await lockIsFree()).toBe(true);
});

test('what has not changed is not written', async () => {
  await synchronize();
  const client = localDocumentClient();
  const attempts = injectFaults(client, () => undefined);
  const result = await synchronize({ templates: templateStore(client, table) });
  expect(result).toEqual({ kind: 'finished', counts: { ...noCounts, unchanged: 160 } });
  expect([...attempts.keys()]).toEqual(['QueryCommand']);
});

test('changed, gone, back again and new, while the clients keep what is theirs', async () => {
  await synchronize();
  const templates = platform.templates.get(shared.wabaId) as PlatformTemplate[];
  const key = templateKey({ ...makeTemplate({ name: 'shared_0' }), wabaId: shared.wabaId });
  await documentClient.send(
    new UpdateCommand({
      TableName: table,
      Key: rowKey(1001, key),
      UpdateExpression: 'SET a = :off, d = :documents',
      ExpressionAttributeValues: { ':off': false, ':documents': '1:501:10' },
    }),
  );
  const [first, second, ...rest] = templates;
  if (first === undefined || second === undefined) throw new Error('no templates');
  platform.templates.set(shared.wabaId, [{ ...first, status: 'FLAGGED' }, ...rest, makeTemplate({ name: 'fresh' })]);
  expect(await synchronize()).toEqual({
    kind: 'finished',
    counts: { ...noCounts, created: 1, updated: 1, deleted: 1, unchanged: 158 },
  });
  const rows = new Map((await rowsOf(1001)).map((row) => [row.name, row]));
  expect(rows.get('shared_0')).toMatchObject({ status: 'FLAGGED', active: false });
  expect(rows.get('shared_0')?.documents).toEqual([{ id: `${key}-rt-1`, pair: { channelId: 501, campaignId: 10 } }]);
  expect(rows.get('shared_1')).toMatchObject({ deleted: true, active: true });
  platform.templates.get(shared.wabaId)?.push(second);
  expect(await synchronize()).toMatchObject({ counts: { updated: 1, deleted: 0 } });
  expect(await liveNames(1001)).toContain('shared_1');
});

test.each([
  ['unreachable', { status: 502, body: '<html>' }, 3],
  ['refused', { status: 403, body: { error: { message: 'no', code: 200 } } }, 1],
])('a WABA that is %s does not stop the others', async (_, failure, attempts) => {
  platform.failures.set(shared.wabaId, failure);
  expect(await synchronize()).toEqual({ kind: 'finished', counts: { ...noCounts, created: 30, failedWabas: 1 } });
  expect(platform.requests.filter((request) => request.startsWith(shared.wabaId))).toHaveLength(attempts);
  expect(await liveNames(1001)).toEqual([]);
  expect(await lockIsFree()).toBe(true);
});

test('a failure in the middle of a list marks nothing as deleted', async () => {
  await synchronize();
  platform.templates.set(shared.wabaId, many(129, 'shared'));
  const real = workshop().platform;
  const page: typeof real.page = async (waba, after) => {
    if (after !== undefined) throw new PlatformFailure('ambiguous');
    return real.page(waba, after);
  };
  expect(await synchronize({ platform: { page } })).toMatchObject({ counts: { deleted: 0, failedWabas: 1 } });
  expect(await liveNames(1001)).toHaveLength(130);
});

test('a template that cannot be read is not gone; one without a name lets nothing be gone', async () => {
  await synchronize();
  const [first, second, ...rest] = platform.templates.get(shared.wabaId) ?? [];
  const unreadable = { ...(first as PlatformTemplate), status: 5 };
  platform.templates.set(shared.wabaId, [unreadable, ...rest]);
  expect(await synchronize()).toMatchObject({ counts: { deleted: 1, failedWabas: 0, skipped: 1 } });
  expect(await liveNames(1001)).toEqual(expect.arrayContaining(['shared_0']));
  platform.templates.set(shared.wabaId, [unreadable, second, { id: '9' }]);
  expect(await synchronize()).toMatchObject({ counts: { deleted: 0, updated: 1 } });
});

/** Makes templates that cannot be compared or stored, each for another reason. */
function unholdable(): PlatformTemplate[] {
  let deep: Record<string, unknown> = {};
  for (let level = 0; level < 3_000; level += 1) deep = { deep };
  return [
    makeTemplate({ id: '901', name: 'deep', optimization_spec: { bid_country_multiplier_overrides: deep } }),
    makeTemplate({ id: '902', name: 'large', flow: randomBytes(450_000).toString('base64') }),
    makeTemplate({ id: '903', name: 'shared_0', flow: randomBytes(450_000).toString('base64') }),
    { ...makeTemplate({ id: '904', name: 'odd' }), components: 5 } as unknown as PlatformTemplate,
  ];
}

test('what cannot be compared or stored is skipped, counted and told; nothing else is, and nothing is gone (D22)', async () => {
  platform.templates.set(shared.wabaId, many(3, 'shared'));
  await synchronize();
  platform.templates.set(shared.wabaId, [...unholdable(), ...many(5, 'shared').slice(1)]);
  const events = new MemoryEvents();
  expect(await synchronize({ events })).toEqual({
    kind: 'finished',
    counts: { ...noCounts, created: 2, unchanged: 2 + 30, skipped: 4 },
  });
  expect(events.sent).toMatchObject([{ type: 'sync.completed', data: { skipped: 4, deleted: 0, failed_wabas: 0 } }]);
  expect(await liveNames(1001)).toEqual(['shared_0', 'shared_1', 'shared_2', 'shared_3', 'shared_4']);
});

test('what the table does not take is skipped alike, its neighbours are written', async () => {
  platform.templates.set(shared.wabaId, many(25, 'shared'));
  const client = localDocumentClient();
  const key = factKey(templateKey({ ...makeTemplate({ name: 'shared_4' }), wabaId: shared.wabaId }));
  refuseWritesOf(client, key.pk);
  const result = await synchronize({ templates: templateStore(client, table) });
  expect(result).toMatchObject({ counts: { created: 24 + 30, skipped: 1, failedWabas: 0 } });
  expect(await liveNames(1002)).toEqual(namesUpstream(shared.wabaId, own.wabaId).filter((name) => name !== 'shared_4'));
});

test('with little time each run does one page and leaves a checkpoint; together they do it all', async () => {
  platform.templates.set(shared.wabaId, many(250, 'shared'));
  await synchronize();
  platform.templates.set(shared.wabaId, many(249, 'shared'));
  let message: SyncMessage | undefined = await started('in pieces');
  let runs = 0;
  let counts: SyncResult | undefined;
  while (message !== undefined) {
    runs += 1;
    now += 40_000;
    counts = await runSync(workshop(), JSON.parse(JSON.stringify(message)), () => 44_999);
    message = counts.kind === 'unfinished' ? counts.checkpoint : undefined;
  }
  expect(runs).toBe(4);
  expect(counts).toEqual({ kind: 'finished', counts: { ...noCounts, unchanged: 279, deleted: 1 } });
  expect(await liveNames(1001)).toHaveLength(249);
  expect(await lockIsFree()).toBe(true);
});

test('a message of a finished or superseded synchronization stops before it reads anything', async () => {
  const message = await started('done');
  await workshop().locks.release(message.lock, now);
  await expect(runSync(workshop(), message, plentyMs)).rejects.toThrow('lock is held by another run');
  const superseded = await started('crashed');
  now += leaseMs + clockSkewMs + 1;
  await started('next');
  await expect(runSync(workshop(), superseded, plentyMs)).rejects.toThrow('lock is held by another run');
  expect(platform.requests).toEqual([]);
});

test('a worker that slept through its lease writes nothing more (R26)', async () => {
  const message = await started('sleeper');
  const asleep = now;
  const real = workshop().platform;
  let slept = false;
  const page: typeof real.page = async (waba, after) => {
    const read = await real.page(waba, after);
    if (!slept) {
      slept = true;
      now += leaseMs + clockSkewMs + 1;
      const newer = (platform.templates.get(shared.wabaId) as PlatformTemplate[]).map((template) => ({
        ...template,
        status: 'PAUSED',
      }));
      platform.templates.set(shared.wabaId, newer);
      await runSync(workshop(), await started('next'), plentyMs);
    }
    return read;
  };
  // The sleeper's clock stands still, so it does not know that its lease is over: only the fence can stop it.
  const sleeper = runSync(workshop({ platform: { page }, nowMs: () => asleep }), message, plentyMs);
  await expect(sleeper).rejects.toThrow('lock is held by another run');
  expect(new Set((await rowsOf(1001)).map((row) => row.status))).toEqual(new Set(['PAUSED']));
});

test('a template that is stored while the list is read is not taken for gone', async () => {
  await synchronize();
  const [moved, ...listed] = platform.templates.get(shared.wabaId) as PlatformTemplate[];
  platform.templates.set(shared.wabaId, listed);
  const real = workshop().platform;
  const page: typeof real.page = async (waba, after) => {
    const read = await real.page(waba, after);
    now += 5;
    await templateStore(documentClient, table).refresh(shared, moved as PlatformTemplate, now);
    now += 5;
    return read;
  };
  expect(await synchronize({ platform: { page } })).toMatchObject({ counts: { deleted: 0 } });
  expect(await liveNames(1001)).toContain('shared_0');
});

test('the lease is renewed while the work goes on, and once more for the way through the queue', async () => {
  platform.templates.set(shared.wabaId, many(600, 'shared'));
  const real = workshop().platform;
  const contenders: unknown[] = [];
  const page: typeof real.page = async (waba, after) => {
    now += 16_000;
    contenders.push(
      await workshop().locks.acquire({ name: 'sync', owner: 'contender', contender: 'test', nowMs: now }),
    );
    return real.page(waba, after);
  };
  const inTime = [true, true, true, true];
  const timeLeftMs = () => {
    if (inTime.shift()) return 900_000;
    // The time passes after the last page and before the checkpoint.
    now += 14_000;
    return 0;
  };
  const result = await runSync(workshop({ platform: { page } }), await started(), timeLeftMs);
  expect(result).toMatchObject({ kind: 'unfinished', checkpoint: { listing: { after: '500' } } });
  now += leaseMs + clockSkewMs - 1;
  contenders.push(await workshop().locks.acquire({ name: 'sync', owner: 'contender', contender: 'test', nowMs: now }));
  expect(contenders).toEqual(Array(6).fill(undefined));
});

test('a crash at any point leaves a lock that frees itself and work that a redelivery finishes (R27)', async () => {
  platform.templates.set(shared.wabaId, many(110, 'shared'));
  platform.templates.set(own.wabaId, many(3, 'own'));
  const upstream = namesUpstream(shared.wabaId, own.wabaId);
  let crashedAt = 0;
  for (let point = 1; ; point += thorough ? 1 : 5) {
    table = await freshTable('templates');
    const message = await started();
    const { crashing, crashed } = crashingAt(point, workshop());
    const ended = await Promise.race([runSync(crashing, message, plentyMs).then(() => 'finished'), crashed]);
    if (ended === 'finished') break;
    crashedAt = point;
    if (point % 2 === 0) {
      // The message is delivered again before another contender comes, so the run continues.
      now += 400_000;
      await runSync(workshop(), message, plentyMs).catch(() => undefined);
    } else {
      // Another contender comes within a minute, so the next delivery has nothing left to do.
      now += 60_000;
      await runSync(workshop(), await started('second'), plentyMs);
      await expect(runSync(workshop(), message, plentyMs)).rejects.toThrow('lock is held by another run');
    }
    expect(await liveNames(1002), `crash at ${point}`).toEqual(upstream);
    expect(await lockIsFree()).toBe(true);
  }
  expect(crashedAt).toBeGreaterThan(10);
}, 120_000);

import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import type { SQSEvent } from 'aws-lambda';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { templatesSync } from '../../functions/templates-sync.ts';
import { templatesSyncWorker } from '../../functions/templates-sync-worker.ts';
import { delayedQueue } from '../../lib/aws/sqs-batch.ts';
import { platformTransport } from '../../lib/platform/transport.ts';
import { platformTemplates } from '../../lib/templates/model/platform-templates.ts';
import { templateStore } from '../../lib/templates/model/template-store.ts';
import type { SyncLockScope } from '../../lib/templates/sync/sync-lock.ts';
import { syncLockStore } from '../../lib/templates/sync/sync-lock-store.ts';
import { encodeSync, syncGroup } from '../../lib/templates/sync/sync-message.ts';
import { syncWalkStore } from '../../lib/templates/sync/sync-walk-store.ts';
import { call } from '../support/calls.ts';
import { makeWaba, memoryDirectory } from '../support/directory.ts';
import { MemoryEvents } from '../support/memory-events.ts';
import { noTemplateHolds } from '../support/no-template-holds.ts';
import { type PlatformServer, startPlatformServer } from '../support/platform-server.ts';
import { freshQueue, freshTable, localDocumentClient, localQueueClient } from '../support/stores.ts';
import { makeTemplate } from '../support/templates.ts';

const supervisor = { userId: 'u-1', clientId: 1001 };
const operator = { userId: 'u-0', clientId: 1, permissions: ['BSP_CN'] };
const shared = makeWaba();
const own = makeWaba({ wabaId: '200000000000002', clientIds: [1002], credential: 'expired' });

let platform: PlatformServer;
let table: string;
let queueUrl: string;
const documentClient = localDocumentClient();

beforeAll(async () => {
  platform = await startPlatformServer();
});
afterAll(() => platform.close());
beforeEach(async () => {
  [table, queueUrl] = await Promise.all([freshTable('templates'), freshQueue()]);
  platform.failures.clear();
  platform.requests.length = 0;
  platform.templates.set(shared.wabaId, [makeTemplate()]);
});

function dependencies(overrides: { lockScope?: SyncLockScope; queueUrl?: string; baseUrl?: string } = {}) {
  const { lockScope = 'deployment', baseUrl = platform.baseUrl } = overrides;
  const transport = platformTransport({ baseUrl, version: 'v26.0', timeoutMs: 2_000 });
  const tokens: Record<string, string> = { demo: 'demo-token', expired: 'old-token' };
  let ids = 0;
  return {
    directory: memoryDirectory({ wabas: [own, shared] }),
    templates: templateStore(documentClient, table),
    templateHolds: noTemplateHolds,
    refreshChannels: async () => 0,
    locks: syncLockStore(documentClient, table),
    walks: syncWalkStore(documentClient, table),
    platform: platformTemplates(transport, async (name) => ({ accessToken: tokens[name] ?? '', appId: '1' })),
    queue: delayedQueue({ client: localQueueClient(), url: overrides.queueUrl ?? queueUrl }, encodeSync, syncGroup),
    events: new MemoryEvents(),
    lockScope,
    nowMs: Date.now,
    newId: () => `sync-${process.hrtime.bigint()}-${++ids}`,
    pause: async () => undefined,
  };
}

async function queued(): Promise<string[]> {
  const { Messages = [] } = await localQueueClient().send(
    new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10 }),
  );
  return Messages.map((message) => message.Body ?? '');
}

const work = (body: string, over = {}) =>
  templatesSyncWorker(dependencies(over))({ Records: [{ body }] } as SQSEvent, {
    getRemainingTimeInMillis: () => 300_000,
  });

test('starts, and the worker does the rest; meanwhile no other request can start', async () => {
  const sync = templatesSync(dependencies());
  expect(await call(sync, supervisor)).toMatchObject({
    status: 200,
    body: { status: 'started', message: 'the synchronization has started', clientId: 1001 },
  });
  expect(await call(sync, operator, { body: '{"client_id":1002}' })).toMatchObject({
    status: 409,
    body: { message: 'a synchronization is already in progress', code: 'sync_in_progress' },
  });
  const [message = '', ...others] = await queued();
  expect(others).toEqual([]);
  await work(message);
  expect(await templateStore(documentClient, table).rowsOf(1002)).toMatchObject([{ name: 'order_update' }]);
  expect(await call(sync, operator, { body: '{"client_id":1002}' })).toMatchObject({
    status: 200,
    body: { clientId: 1002 },
  });
});

test('a run that has too little time queues its checkpoint', async () => {
  platform.templates.set(
    shared.wabaId,
    Array.from({ length: 101 }, (_, n) => makeTemplate({ name: `t_${n}` })),
  );
  await call(templatesSync(dependencies()), supervisor);
  const [message = ''] = await queued();
  const late = { getRemainingTimeInMillis: () => 1_000 };
  await templatesSyncWorker(dependencies())({ Records: [{ body: message }] } as SQSEvent, late);
  const [checkpoint = ''] = await queued();
  expect(JSON.parse(checkpoint)).toMatchObject({ wabaIds: [shared.wabaId], counts: { created: 100 } });
  await work(checkpoint);
  expect(await templateStore(documentClient, table).rowsOf(1001)).toHaveLength(101);
});

test('a message that is none is an error, so that it ends in the dead-letter queue', async () => {
  await expect(work('{"clientId":1}')).rejects.toThrow();
});

test.each([
  ['is refused', { status: 401, body: { error: { code: 190 } } }],
  ['is unreachable', { status: 502, body: '<html>' }],
  ['is throttled', { status: 400, body: { error: { code: 80_008 } } }],
])('a WABA that %s does not keep the others from starting, and is named (D22)', async (_, reply) => {
  const asked = { body: '{"client_id":1002}' };
  const directory = memoryDirectory({ wabas: [{ ...own, credential: 'demo' }, shared] });
  for (const silent of [own, shared]) {
    const answers = platform.requests.length;
    platform.failures.clear();
    platform.failures.set(silent.wabaId, reply);
    // Each start has a lock of its own.
    const sync = templatesSync({
      ...dependencies(),
      directory,
      locks: syncLockStore(documentClient, await freshTable('templates')),
    });
    expect(await call(sync, operator, asked)).toMatchObject({
      status: 200,
      body: {
        status: 'started',
        message: `the synchronization has started; of the client's 2 WABAs the platform does not answer for ${silent.wabaId}`,
      },
    });
    expect(
      platform.requests
        .slice(answers)
        .map((request) => request.split('?')[0])
        .sort(),
    ).toEqual([shared.wabaId, own.wabaId]);
  }
  platform.failures.set(own.wabaId, reply).set(shared.wabaId, reply);
  const refused = await call(templatesSync({ ...dependencies(), directory }), operator, asked);
  expect([refused.status, (refused.body as { code: string }).code]).toEqual(
    reply.status === 400 ? [429, 'platform_rate_limited'] : [502, 'platform_unreachable'],
  );
  platform.failures.clear();
  expect(await call(templatesSync(dependencies()), operator, asked)).toMatchObject({ status: 200 });
});

test('a client without a WABA is told so, and the synchronization ends by itself (D22)', async () => {
  const none = templatesSync({ ...dependencies(), directory: memoryDirectory({ wabas: [] }) });
  expect(await call(none, supervisor)).toMatchObject({
    status: 200,
    body: { message: 'the synchronization has started; the client has no WABA, so there is nothing to read' },
  });
  const [message = ''] = await queued();
  await work(message);
  expect(await call(templatesSync(dependencies()), supervisor)).toMatchObject({ status: 200 });
});

test('the queue takes nothing: 502, and the lock is free again', async () => {
  const broken = templatesSync(dependencies({ queueUrl: `${queueUrl}-missing` }));
  expect(await call(broken, supervisor)).toMatchObject({ status: 502, body: { code: 'dispatch_unavailable' } });
  expect(await call(templatesSync(dependencies()), supervisor)).toMatchObject({ status: 200 });
});

test('with the scope `client` two clients synchronize side by side, one of them not twice', async () => {
  const sync = templatesSync(dependencies({ lockScope: 'client' }));
  expect(await call(sync, supervisor)).toMatchObject({ status: 200 });
  expect(await call(sync, operator, { body: '{"client_id":1002}' })).toMatchObject({ status: 200 });
  expect(await call(sync, supervisor)).toMatchObject({ status: 409 });
});

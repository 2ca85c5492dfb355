import { beforeEach, expect, test } from 'vitest';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { parseCreateRequest } from '../../../../lib/templates/create/create-request.ts';
import { createTemplate } from '../../../../lib/templates/create/create-template.ts';
import { creationStore } from '../../../../lib/templates/create/creation-store.ts';
import { deleteTemplate } from '../../../../lib/templates/delete/delete-template.ts';
import { editTemplate } from '../../../../lib/templates/edit/edit-template.ts';
import type { PlatformTemplates } from '../../../../lib/templates/model/platform-templates.ts';
import type { PlatformTemplate } from '../../../../lib/templates/model/template.ts';
import { documentId, templateKey } from '../../../../lib/templates/model/template-key.ts';
import { type TemplateStore, templateStore } from '../../../../lib/templates/model/template-store.ts';
import { runSync, type SyncPorts } from '../../../../lib/templates/sync/sync.ts';
import { syncLockStore } from '../../../../lib/templates/sync/sync-lock-store.ts';
import { noCounts, type SyncMessage } from '../../../../lib/templates/sync/sync-message.ts';
import type { EventSink } from '../../../../lib/webhooks/event.ts';
import { makeChannel, makeWaba, memoryDirectory } from '../../../support/directory.ts';
import { type QueuedEvents, queuedEvents } from '../../../support/events.ts';
import { recordedPlatform } from '../../../support/management.ts';
import { noTemplateHolds } from '../../../support/no-template-holds.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';
import { makeTemplate } from '../../../support/templates.ts';

const waba = makeWaba();
const { wabaId, clientIds } = waba;
const other = makeWaba({ wabaId: '200000000000002', clientIds: [1001] });
const client = localDocumentClient();
const template = makeTemplate();
const key = templateKey({ ...template, wabaId });
const idFor = (clientId: number, sequence = 0) => documentId({ templateKey: key, clientId, sequence });
const broken: EventSink = { send: () => Promise.reject(new Error('the event queue takes nothing')) };

let table: string;
let now: number;
let events: QueuedEvents;
let platform: ReturnType<typeof recordedPlatform>;
beforeEach(async () => {
  [table, events] = await Promise.all([freshTable('templates'), queuedEvents()]);
  now = 1_800_000_000_000;
  platform = recordedPlatform();
});

const store = (): TemplateStore => templateStore(client, table);
const storeIsAway = () => Promise.reject(new Error('the table is away'));
const told = async () =>
  (await events.arrived()).map(({ type, clientId, data }) => [
    type,
    clientId,
    'template_id' in data ? data.template_id : undefined,
  ]);
const toBoth = (type: string) => [
  [type, 1001, idFor(1001)],
  [type, 1002, idFor(1002)],
];

const noMedia = {
  fetchPublic: () => Promise.reject(new Error('no media here')),
  uploadMedia: () => Promise.reject(new Error('no media here')),
};

interface Broken {
  readonly sink?: EventSink;
  readonly writeUpstream?: TemplateStore['writeUpstream'];
}

function create({ sink = events.sink, away = false }: Broken & { readonly away?: boolean } = {}) {
  const creations = creationStore(client, table, async () => undefined);
  const { name, language, category, components } = template;
  const request = parseCreateRequest({ name, language, category, components }, {});
  const order = { request, did: { waba, channel: makeChannel() }, clientId: 1001, userId: 'u-1', startedAtMs: now };
  const ports = {
    creations: away ? { ...creations, store: storeIsAway } : creations,
    management: platform.management,
    pairFaults: async () => [],
    ...noMedia,
    events: sink,
    nowMs: () => now,
  };
  return createTemplate(ports, order);
}

function managing({ sink = events.sink, ...templates }: Broken) {
  const { management, platformTemplates } = platform;
  return { templates: { ...store(), ...templates }, management, platformTemplates, events: sink, nowMs: () => now };
}

const edit = (over: Broken = {}, text = 'Order {{1}} is on its way.') =>
  editTemplate({ ...managing(over), ...noMedia, templateHolds: noTemplateHolds }, waba, {
    messageTemplateId: idFor(1002),
    clientId: 1002,
    startedAtMs: now,
    request: { urlChange: false, components: [{ type: 'BODY', text, example: { body_text: [['7']] } }] },
  });
const remove = (over: Broken = {}) => deleteTemplate(managing(over), waba, idFor(1002));
const stored = (more: Partial<PlatformTemplate> = {}) => {
  platform.found = { ...template, ...more };
  return store().refresh({ wabaId, clientIds }, platform.found, now - 1_000);
};

test('a creation is told to every client of the WABA, each with its own document', async () => {
  await create();
  expect(await told()).toEqual(toBoth('template.created'));
  const { rows } = await store().stateOf(key, clientIds);
  expect(rows.map(({ documents }) => documents[0]?.id).sort()).toEqual([idFor(1001), idFor(1002)]);
});

test('a name that comes back has new documents, and the event names those', async () => {
  await stored();
  await store().writeUpstream([{ kind: 'gone', templateKey: key, clientIds, readAtMs: now }]);
  await create();
  expect(await told()).toEqual([1001, 1002].map((id) => ['template.created', id, idFor(id, 1)]));
  const { rows } = await store().stateOf(key, [1001]);
  expect(rows[0]?.documents).toEqual([{ id: idFor(1001, 1) }]);
});

test('an edit sends an event for a changed status, and none when the template is in review already', async () => {
  await stored();
  await edit();
  expect(await told()).toEqual(toBoth('template.status_changed'));
  platform.found = { ...template, status: 'PENDING' };
  await edit({}, 'Order {{1}} is nearly there.');
  expect(platform.calls).toHaveLength(2);
  expect(await told()).toEqual([]);
});

test('a deletion is told to every client of the WABA', async () => {
  await stored();
  await remove();
  expect(await told()).toEqual(toBoth('template.deleted'));
});

test('what the platform did is told also when it cannot be stored', async () => {
  await create({ away: true });
  expect(await told()).toEqual(toBoth('template.created'));
  await stored();
  await edit({ writeUpstream: storeIsAway });
  expect(await told()).toEqual(toBoth('template.status_changed'));
  await expect(remove({ writeUpstream: storeIsAway })).rejects.toThrow('the table is away');
  expect(await told()).toEqual(toBoth('template.deleted'));
});

test('what cannot be told is done and answered all the same', async () => {
  expect((await create({ sink: broken })).created).toEqual(platform.created);
  await stored();
  expect(await edit({ sink: broken })).toMatchObject({ changed: true });
  platform.found = undefined;
  await remove({ sink: broken });
  expect((await store().stateOf(key, clientIds)).fact).toMatchObject({ deleted: true });
});

test('what the platform refuses sends no event', async () => {
  await stored();
  platform.failure = new PlatformFailure('ambiguous');
  await expect(edit()).rejects.toThrow();
  await expect(remove()).rejects.toThrow();
  expect(await told()).toEqual([]);
});

/** The platform has these templates on the first WABA and none on the other. */
function listing(templates: readonly PlatformTemplate[]): Pick<PlatformTemplates, 'page'> {
  return { page: async (asked) => ({ templates: asked.wabaId === wabaId ? [...templates] : [], unreadable: [] }) };
}

function workshop(templates: readonly PlatformTemplate[], over: Partial<SyncPorts> = {}): SyncPorts {
  return {
    directory: memoryDirectory({ wabas: [waba, other] }),
    templates: store(),
    platform: listing(templates),
    refreshChannels: async () => 0,
    locks: syncLockStore(client, table),
    events: events.sink,
    nowMs: () => now,
    pause: async () => undefined,
    ...over,
  };
}

async function begun(owner: string): Promise<SyncMessage> {
  const lock = await syncLockStore(client, table).acquire({ name: 'sync', owner, contender: 'test', nowMs: now });
  if (lock === undefined) throw new Error('the lock is not free');
  return { lock, clientId: 1001, wabaIds: [wabaId, other.wabaId], counts: noCounts };
}

const plentyMs = () => 900_000;

test('a synchronization tells changes and disappearances to all, and its end to the client it is for', async () => {
  const gone = makeTemplate({ name: 'gone', id: '7' });
  await stored();
  await store().refresh({ wabaId, clientIds: [1002] }, gone, now - 1_000);
  const found = [{ ...template, status: 'PAUSED' }, makeTemplate({ name: 'new', id: '8' })];
  await runSync(workshop(found), await begun('first'), plentyMs);
  const arrived = await events.arrived();
  expect(arrived.map(({ type, clientId }) => [type, clientId])).toEqual([
    ['sync.completed', 1001],
    ['template.deleted', 1002],
    ['template.status_changed', 1001],
    ['template.status_changed', 1002],
  ]);
  expect(arrived[0]?.data).toEqual({
    client_id: 1001,
    sync_id: 'first',
    created: 1,
    updated: 1,
    deleted: 1,
    unchanged: 0,
    skipped: 0,
    failed_wabas: 0,
    finished_at: new Date(now).toISOString(),
  });
  await runSync(workshop(found), await begun('second'), plentyMs);
  expect((await told()).map(([type]) => type)).toEqual(['sync.completed']);
});

test('a deletion that was not stored is told by the synchronization under the id it had', async () => {
  await stored();
  await expect(remove({ writeUpstream: storeIsAway })).rejects.toThrow();
  const first = await events.arrived();
  await runSync(workshop([]), await begun('after'), plentyMs);
  const ids = (await events.arrived()).filter(({ type }) => type === 'template.deleted').map(({ id }) => id);
  expect(ids).toEqual(first.map(({ id }) => id));
});

test('a crash between telling and writing tells again, under the same id', async () => {
  await stored();
  const found = [{ ...template, status: 'PAUSED' }];
  const message = await begun('crashing');
  const templates = { ...store(), writeUpstream: () => new Promise<never>(() => undefined) };
  void runSync(workshop(found, { templates }), message, plentyMs);
  await expect.poll(told).toEqual(toBoth('template.status_changed'));
  const again = await begun('crashing');
  const before = again.lock.fence;
  await runSync(workshop(found), again, plentyMs);
  expect(before).toBe(message.lock.fence);
  expect(await told()).toEqual([['sync.completed', 1001, undefined], ...toBoth('template.status_changed')]);
});

test('changes that cannot be told fail their WABA, stay unwritten, and are told by the next synchronization', async () => {
  await stored();
  const found = [{ ...template, status: 'PAUSED' }];
  const sink: EventSink = {
    send: (batch) =>
      batch.some(({ type }) => type === 'template.status_changed') ? broken.send(batch) : events.sink.send(batch),
  };
  const { kind } = await runSync(workshop(found, { events: sink }), await begun('first'), plentyMs);
  expect(kind).toBe('finished');
  const [completed] = await events.arrived();
  expect(completed?.data).toMatchObject({ updated: 0, failed_wabas: 1 });
  expect((await store().stateOf(key, [1001])).rows[0]?.status).toBe('APPROVED');
  await runSync(workshop(found), await begun('second'), plentyMs);
  expect(await told()).toEqual([['sync.completed', 1001, undefined], ...toBoth('template.status_changed')]);
});

test('while its end cannot be told a synchronization keeps the lock, and its redelivery tells it', async () => {
  const message = await begun('untold');
  await expect(runSync(workshop([], { events: broken }), message, plentyMs)).rejects.toThrow('event queue');
  await expect(begun('another')).rejects.toThrow('not free');
  await runSync(workshop([]), message, plentyMs);
  expect(await told()).toEqual([['sync.completed', 1001, undefined]]);
  await begun('another');
});

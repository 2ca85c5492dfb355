import { randomBytes } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseCreateRequest } from '../../../../lib/templates/create/create-request.ts';
import { type CreationPorts, createTemplate } from '../../../../lib/templates/create/create-template.ts';
import { type CreationStore, creationStore } from '../../../../lib/templates/create/creation-store.ts';
import { deleteTemplate } from '../../../../lib/templates/delete/delete-template.ts';
import { selectTemplates } from '../../../../lib/templates/listing/listing.ts';
import { documentId, templateKey } from '../../../../lib/templates/model/template-key.ts';
import { templateStore } from '../../../../lib/templates/model/template-store.ts';
import { makeChannel, makeWaba } from '../../../support/directory.ts';
import { failures, type RecordedPlatform, recordedPlatform } from '../../../support/management.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';
import { meterRequests } from '../../../support/request-meter.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';
import { makeTemplate } from '../../../support/templates.ts';

const waba = makeWaba();
const nowMs = 1_800_000_000_000;
const dayMs = 86_400_000;
const client = localDocumentClient();
const body = { type: 'BODY', text: 'Your order {{1}} is on its way.', example: { body_text: [['7']] } };
const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const jpeg = Buffer.from('\xff\xd8\xff', 'latin1');
const pairs = [
  { channel_id: 501, campaign_id: 10 },
  { channel_id: 501, campaign_id: 11 },
];

let table: string;
let platform: RecordedPlatform;
const uploads: unknown[] = [];
beforeAll(async () => {
  table = await freshTable('templates');
});
beforeEach(() => {
  platform = recordedPlatform();
  uploads.length = 0;
});

const store = () => templateStore(client, table);
const noPause = async () => undefined;
const creations = () => creationStore(client, table, noPause);

let count = 0;
const newName = () => `created_${++count}`;
const keyOf = (name: string) => templateKey({ wabaId: waba.wabaId, name, language: 'en_US' });
const stateOf = (name: string) => store().stateOf(keyOf(name), [1001, 1002]);
const beforeOf = (name: string, clientIds: readonly number[]) =>
  creations().before({ templateKey: keyOf(name), wabaId: waba.wabaId, name }, clientIds);
const idOf = (name: string, sequence: number, clientId = 1001) =>
  documentId({ templateKey: keyOf(name), clientId, sequence });

type Overrides = Partial<CreationPorts> & { readonly file?: { bytes: Buffer; contentType: string; name: string } };

async function create(name: string, more: object = {}, { file, ...overrides }: Overrides = {}) {
  const ports: CreationPorts = {
    creations: creations(),
    management: platform.management,
    events: new MemoryEvents(),
    pairFaults: async ({ clientId }, asked) =>
      asked
        .filter(({ channelId }) => channelId !== 501)
        .map(() => ({ path: 'channel_campaigns[0].channel_id', message: `client ${clientId} has no such channel` })),
    fetchPublic: async () => ({ bytes: png, contentType: 'image/png' }),
    uploadMedia: async (credential, upload) => `4::${uploads.push([credential, upload])}`,
    nowMs: () => nowMs,
    ...overrides,
  };
  const content = { name, language: 'en_US', category: 'UTILITY', components: [body], ...more };
  const request = parseCreateRequest(content, { file });
  const did = { waba, channel: makeChannel() };
  return createTemplate(ports, { request, file, did, clientId: 1001, userId: 'u-1', startedAtMs: ports.nowMs() });
}

const refusalOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'created',
    ({ status, message }: { status: number; message: string }) => `${status} ${message}`,
  );

test('goes upstream as the platform writes it, and every client has it: the creator assigned, the others not (D13)', async () => {
  const name = newName();
  const more = { channel_campaigns: pairs, message_send_ttl_seconds: 60, allow_category_change: true };
  expect((await create(name, more)).created).toEqual(platform.created);
  const passedOn = { message_send_ttl_seconds: 60, allow_category_change: true };
  const sent = {
    name,
    language: 'en_US',
    category: 'UTILITY',
    parameter_format: 'POSITIONAL',
    components: [body],
    ...passedOn,
  };
  expect(platform.calls).toEqual([['create', waba.wabaId, sent]]);
  const { fact, rows } = await stateOf(name);
  expect(fact).toEqual({
    wabaId: waba.wabaId,
    template: { ...sent, ...platform.created },
    deleted: false,
    readAtMs: 0,
    sinceMs: nowMs,
  });
  expect(rows.find(({ clientId }) => clientId === 1001)).toMatchObject({
    status: 'PENDING',
    active: true,
    documents: [
      { id: idOf(name, 0), pair: { channelId: 501, campaignId: 10 } },
      { id: idOf(name, 1), pair: { channelId: 501, campaignId: 11 } },
    ],
    nextSequence: 2,
  });
  expect(rows.find(({ clientId }) => clientId === 1002)?.documents).toEqual([{ id: idOf(name, 0, 1002) }]);
});

test('the country is the one given, else the one of the number', async () => {
  const [own, given] = [newName(), newName()];
  await create(own);
  await create(given, { country: 'br' });
  const countries = await Promise.all(
    [own, given].map(async (name) => (await beforeOf(name, [])).fact?.item['country']),
  );
  expect(countries).toEqual(['AR', 'BR']);
});

test('a name is taken while a template of that language has it', async () => {
  const name = newName();
  await create(name);
  expect(await refusalOf(create(name))).toBe('400 a template of this name and language exists already');
  await expect(create(name, { channel_campaigns: { channel_id: 9, campaign_id: 10 } })).rejects.toMatchObject({
    details: { errors: [{ path: 'name' }, { path: 'channel_campaigns[0].channel_id' }] },
  });
  expect(platform.calls).toHaveLength(1);
});

test('the name of a deleted approved template is held for 30 days; then the old documents stay, archived', async () => {
  const name = newName();
  const { wabaId, clientIds } = waba;
  const old = makeTemplate({ name, id: '111' });
  await store().refresh({ wabaId, clientIds }, old, nowMs - 40 * dayMs);
  const nameHeldUntilMs = nowMs + 1;
  const gone = {
    kind: 'gone',
    templateKey: keyOf(name),
    clientIds,
    readAtMs: nowMs - 30 * dayMs,
    nameHeld: { untilMs: nameHeldUntilMs, wabaId, name },
  } as const;
  await store().writeUpstream([gone]);
  expect(await refusalOf(create(name))).toBe(
    `400 an approved template of this name was deleted; the name can be used again from ${new Date(nowMs + 1).toISOString()}`,
  );

  await create(name, { channel_campaigns: pairs[0] }, { nowMs: () => nowMs + 1 });
  const rows = (await store().rowsOf(1001)).filter((row) => row.name === name);
  const facts = await store().factsOf(rows);
  const shown = (deleted: boolean) =>
    selectTemplates(rows, { deleted, documents: {} }, { scope: undefined, stands: () => true }).map(({ row }) => [
      row.documents.map(({ id }) => id),
      facts.get(row.templateKey)?.template.id,
    ]);
  expect(shown(true)).toEqual([[[idOf(name, 0)], '111']]);
  expect(shown(false)).toEqual([[[idOf(name, 1)], platform.created.id]]);
  expect((await stateOf(name)).fact?.nameHeldUntilMs).toBeUndefined();
});

describe('a name whose last live template is gone is held in every language (D18)', () => {
  const { wabaId, clientIds } = waba;
  const templateIn = (name: string, language: string, status = 'APPROVED') =>
    makeTemplate({ name, language, status, id: `${name}${language}` });
  const live = (name: string, language: string, status?: string) =>
    store().refresh({ wabaId, clientIds }, templateIn(name, language, status), nowMs);
  const remove = async (name: string, language: string) => {
    const template = templateKey({ wabaId, name, language });
    const { rows } = await store().stateOf(template, clientIds);
    const ports = { templates: store(), ...platform, events: new MemoryEvents(), nowMs: () => nowMs };
    await deleteTemplate(ports, waba, rows[0]?.documents[0]?.id ?? '');
  };
  const untilMs = nowMs + 30 * dayMs;
  const held = `400 an approved template of this name was deleted and no other language has it; the name can be used again from ${new Date(untilMs).toISOString()}`;

  test('until 30 days after an approved one was deleted', async () => {
    const name = newName();
    await live(name, 'es');
    await remove(name, 'es');
    expect(await refusalOf(create(name, { language: 'pt_BR' }))).toBe(held);
    expect(await refusalOf(create(name, { language: 'es' }))).toMatch(
      /^400 an approved template of this name was deleted; the name can/,
    );
    expect(await refusalOf(create(newName(), { language: 'pt_BR' }))).toBe('created');
    expect(await refusalOf(create(name, { language: 'pt_BR' }, { nowMs: () => untilMs }))).toBe('created');
  });

  test('not while another language has it; only then in the language that was deleted', async () => {
    const name = newName();
    await live(name, 'es');
    await live(name, 'fr', 'REJECTED');
    await remove(name, 'es');
    expect(await refusalOf(create(name, { language: 'pt_BR' }))).toBe('created');
    expect(await refusalOf(create(name, { language: 'es' }))).toMatch(/^400 an approved template of this name/);
    await remove(name, 'fr');
    await remove(name, 'pt_BR');
    expect(await refusalOf(create(name, { language: 'it' }))).toBe(held);
  });

  test('not after one that was not approved, nor on another WABA', async () => {
    const name = newName();
    await live(name, 'es', 'REJECTED');
    await remove(name, 'es');
    expect(await refusalOf(create(name, { language: 'pt_BR' }))).toBe('created');
    const place = { templateKey: 'x', wabaId: '1', name };
    expect(await creations().before(place, [])).toEqual({ rows: new Map() });
  });
});

describe('what could not be stored or compared never reaches the platform (D18)', () => {
  test('as much as is taken is stored, listed and synchronized', async () => {
    const name = newName();
    const flow = { type: 'FLOW', text: 'Start', flow_json: randomBytes(220_000).toString('base64') };
    const components = [body, { type: 'BUTTONS', buttons: [flow] }];
    await create(name, { category: 'MARKETING', components });
    const { fact } = await stateOf(name);
    expect(fact?.template.components).toEqual(components);
    const read = makeTemplate({ ...fact?.template, quality_score: { score: 'GREEN' } });
    await store().refresh(waba, read, nowMs + 1);
    expect((await stateOf(name)).fact?.template.quality_score).toEqual({ score: 'GREEN' });
  });
});

test('what the platform does not show of a code is kept beside the fact, and synchronizations leave it there (D20)', async () => {
  const name = newName();
  const button = { type: 'OTP', otp_type: 'COPY_CODE', autofill_text: 'Fill in' };
  const code = { category: 'AUTHENTICATION', components: [{ type: 'BODY' }, { type: 'BUTTONS', buttons: [button] }] };
  await create(name, code);
  const { fact } = await stateOf(name);
  expect(fact?.sentCode).toMatchObject({ platformId: platform.created.id, ownLabel: false });
  await store().refresh(waba, makeTemplate({ ...fact?.template, status: 'APPROVED' }), nowMs + 1);
  expect((await stateOf(name)).fact?.sentCode).toEqual(fact?.sentCode);
  const late = newName();
  const { store: keep, ...others } = creations();
  const slow: CreationStore = {
    ...others,
    store: async (creation, before) => {
      await store().refresh(waba, makeTemplate({ ...platform.created, name: late }), nowMs);
      await keep(creation, before);
    },
  };
  await create(late, code, { creations: slow });
  expect((await stateOf(late)).fact?.sentCode).toEqual(fact?.sentCode);
});

test.each([
  ['unreachable', '502 the platform could not be reached'],
  [
    'brokenOff',
    '502 the platform did not answer clearly and may have done what was asked; synchronize before repeating it',
  ],
  ['throttled', '429 the platform limits the rate of requests, try again later'],
  ['content', '400 Not now.'],
] as const)('platform %s: nothing is stored', async (failure, refusal) => {
  const name = newName();
  platform.failure = failures[failure];
  expect(await refusalOf(create(name))).toBe(refusal);
  expect(await stateOf(name)).toEqual({ rows: [] });
});

test('a synchronization that was quicker keeps its reading; its placeholder becomes the first pair', async () => {
  const name = newName();
  const read = makeTemplate({ ...platform.created, name, components: [body], status: 'APPROVED' });
  const { store: keep } = creations();
  const late: CreationStore = {
    ...creations(),
    store: async (creation, seen) => {
      await store().refresh({ wabaId: waba.wabaId, clientIds: waba.clientIds }, read, nowMs);
      await keep(creation, seen);
    },
  };
  await create(name, { channel_campaigns: pairs }, { creations: late });
  const { fact, rows } = await stateOf(name);
  expect(fact?.template).toEqual(read);
  const own = rows.find(({ clientId }) => clientId === 1001);
  expect(own).toMatchObject({ status: 'APPROVED', nextSequence: 2 });
  expect(own?.documents).toEqual([
    { id: idOf(name, 0), pair: { channelId: 501, campaignId: 10 } },
    { id: idOf(name, 1), pair: { channelId: 501, campaignId: 11 } },
  ]);
});

test('media of all three kinds end as a handle of the platform', async () => {
  const header = { type: 'HEADER', format: 'IMAGE' };
  const sources = [
    [{ header_handle: '4::mine' }, undefined],
    [{ header_source: 'https://a.example.com/pics/x.png' }, undefined],
    [{}, { bytes: jpeg, contentType: 'image/jpeg', name: 'y.jpg' }],
  ] as const;
  for (const [source, file] of sources) {
    const components = [{ ...header, ...source }, body];
    await create(newName(), { components }, file === undefined ? {} : { file });
  }
  const handles = platform.calls.map(
    (call) => (call as [string, string, { components: { example: unknown }[] }])[2].components[0],
  );
  expect(handles).toEqual(
    ['4::mine', '4::1', '4::2'].map((handle) => ({ ...header, example: { header_handle: [handle] } })),
  );
  expect(uploads).toEqual([
    ['demo', { bytes: png, type: 'image/png', name: 'x.png' }],
    ['demo', { bytes: jpeg, type: 'image/jpeg', name: 'y.jpg' }],
  ]);
});

test('a WABA of 120 clients: all of them have it', async () => {
  const name = newName();
  const clientIds = Array.from({ length: 120 }, (_, index) => 2_000 + index);
  const before = await beforeOf(name, clientIds);
  const template = makeTemplate({ name });
  const creator = { clientId: 2_050, userId: 'u-1', pairs: [{ channelId: 501, campaignId: 10 }] };
  const creation = { templateKey: keyOf(name), wabaId: waba.wabaId, template, clientIds, readAtMs: nowMs, creator };
  await creations().store(creation, before);
  const { rows } = await store().stateOf(keyOf(name), clientIds);
  expect(rows).toHaveLength(120);
  expect(rows.filter(({ documents }) => documents[0]?.pair !== undefined).map(({ clientId }) => clientId)).toEqual([
    2_050,
  ]);
});

test('two requests of the store, one to look and one to write', async () => {
  const counting = localDocumentClient();
  const meter = meterRequests(counting);
  await create(newName(), { channel_campaigns: pairs }, { creations: creationStore(counting, table) });
  expect(meter.taken().requests).toBe(2);
});

import { beforeAll, beforeEach, expect, test } from 'vitest';
import { templatesCreate } from '../../functions/templates-create.ts';
import { pairFaults } from '../../lib/templates/assignments/assignment-request.ts';
import { creationStore } from '../../lib/templates/create/creation-store.ts';
import { templateKey } from '../../lib/templates/model/template-key.ts';
import { templateStore } from '../../lib/templates/model/template-store.ts';
import { makeChannel, makeWaba, memoryDirectory } from '../support/directory.ts';
import { callEndpoint, type EventOverrides, makeHttpEvent } from '../support/http-event.ts';
import { failures, type RecordedPlatform, recordedPlatform } from '../support/management.ts';
import { MemoryEvents } from '../support/memory-events.ts';
import { freshTable, localDocumentClient } from '../support/stores.ts';

const token = { userId: 'u-1', clientId: 1001, permissions: [], expiresAtSeconds: 9_999_999_999 };
const waba = makeWaba();
const directory = memoryDirectory({
  wabas: [waba],
  channels: [makeChannel()],
  campaigns: [{ campaignId: 10, clientId: 1001, name: 'Onboarding' }],
});
const client = localDocumentClient();
const draft = {
  name: 'created',
  language: 'en_US',
  category: 'UTILITY',
  components: [{ type: 'BODY', text: 'Hello there, good news.' }],
};

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

function create(body: string, { did = '5491100000001', ...more }: EventOverrides & { readonly did?: string } = {}) {
  const handler = templatesCreate({
    directory,
    creations: creationStore(client, table),
    management: platform.management,
    events: new MemoryEvents(),
    pairFaults: (template, pairs) => pairFaults(directory, template, pairs),
    fetchPublic: async () => ({ bytes: Buffer.from('%PDF-1.7'), contentType: 'application/pdf' }),
    uploadMedia: async (credential, file) => `4::${uploads.push([credential, file])}`,
    nowMs: () => 1_800_000_000_000,
  });
  return callEndpoint(handler, makeHttpEvent({ token, body, pathParameters: { did }, ...more }));
}

const json = (more: object) => JSON.stringify({ ...draft, ...more });

test('answers id, status and category, and nothing else; the creator is assigned', async () => {
  const channel_campaigns = { channel_id: 501, campaign_id: 10 };
  const { status, body } = await create(json({ name: 'assigned', client_id: 1001, channel_campaigns }));
  expect({ status, body }).toEqual({ status: 200, body: platform.created });
  const key = templateKey({ wabaId: waba.wabaId, name: 'assigned', language: 'en_US' });
  const { rows } = await templateStore(client, table).stateOf(key, [1001]);
  expect(rows[0]?.documents).toMatchObject([{ pair: { channelId: 501, campaignId: 10 } }]);
});

test('a form with a file', async () => {
  const components = [{ type: 'HEADER', format: 'DOCUMENT' }, ...draft.components];
  const form = [
    '--b\r\ncontent-disposition: form-data; name="template"\r\n\r\n',
    json({ name: 'with_file', components }),
    '\r\n--b\r\ncontent-disposition: form-data; name="file"; filename="a.pdf"\r\ncontent-type: application/pdf\r\n\r\n',
    '%PDF-1.7\r\n--b--\r\n',
  ].join('');
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  const body = Buffer.from(form).toString('base64');
  expect(await create(body, { headers, isBase64Encoded: true })).toMatchObject({ status: 200, body: platform.created });
  expect(uploads).toEqual([['demo', { bytes: Buffer.from('%PDF-1.7'), type: 'application/pdf', name: 'a.pdf' }]]);
});

test.each<[string, string, EventOverrides & { did?: string }, string]>([
  ['no JSON', '{', {}, '400 malformed_body'],
  ['null', 'null', {}, '400 malformed_body'],
  ['a list', '[]', {}, '400 malformed_body'],
  ['no did', json({}), { did: '' }, '400 invalid_request'],
  ['a client id as text', json({ client_id: '1001' }), {}, '400 invalid_client_id'],
  ['another client without BSP_CN', json({ client_id: 1002 }), {}, '403 cross_client_forbidden'],
  ['a did of nobody', json({}), { did: '5491199999999' }, '403 did_forbidden'],
  ['faults come before rights', json({ client_id: 1002, name: 'X' }), {}, '400 invalid_request'],
  [
    'a campaign of another',
    json({ channel_campaigns: { channel_id: 501, campaign_id: 20 } }),
    {},
    '400 invalid_request',
  ],
  ['a broken form', '--b', { headers: { 'content-type': 'multipart/form-data; boundary=b' } }, '400 malformed_body'],
])('%s', async (_, body, more, expected) => {
  const answer = await create(body, more);
  expect(`${answer.status} ${answer.body.code}`).toBe(expected);
  expect(platform.calls).toEqual([]);
});

test('a credential of ours that the platform refuses is a 502', async () => {
  platform.failure = failures.ours;
  expect(await create(json({ name: 'refused' }))).toMatchObject({
    status: 502,
    body: { code: 'platform_unreachable' },
  });
});

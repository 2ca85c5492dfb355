import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from 'vitest';
import { templatesList } from '../../functions/templates-list.ts';
import { rowKey } from '../../lib/templates/model/items.ts';
import { encodeDocuments } from '../../lib/templates/model/row.ts';
import { templateKey } from '../../lib/templates/model/template-key.ts';
import { templateStore } from '../../lib/templates/model/template-store.ts';
import { call } from '../support/calls.ts';
import { makeChannel, makeWaba, memoryDirectory } from '../support/directory.ts';
import { freshTable, localDocumentClient } from '../support/stores.ts';
import { makeTemplate, type Pair } from '../support/templates.ts';

const operator = { userId: 'u-0', clientId: 1, permissions: ['BSP_CN'] };
const supervisor = { userId: 'u-1', clientId: 1001 };
const collector = { userId: 'u-3', clientId: 1001 };
const profile = { clientId: 1001, permissions: [] };
const waba = makeWaba();
const directory = memoryDirectory({
  wabas: [waba],
  channels: [
    makeChannel(),
    makeChannel({ channelId: 502, clientId: 1002, did: '5491100000002' }),
    makeChannel({ channelId: 504, did: '5491100000004', name: '' }),
  ],
  campaigns: [
    { campaignId: 10, clientId: 1001, name: 'Onboarding' },
    { campaignId: 11, clientId: 1001, name: 'Collections' },
    { campaignId: 20, clientId: 1002, name: 'Reminders' },
  ],
  users: [
    { ...profile, userId: 'u-1', username: 'supervisor1001', campaignIds: [10, 11] },
    { ...profile, userId: 'u-2', username: 'agent1001', campaignIds: [] },
    { ...profile, userId: 'u-3', username: 'collector1001', campaignIds: [11] },
  ],
});

const documentClient = localDocumentClient();
let list: ReturnType<typeof templatesList>;
let table: string;

const keyFor = (name: string) => templateKey({ wabaId: waba.wabaId, name, language: 'en_US' });

async function own(name: string, pairs: readonly Pair[], active = true): Promise<void> {
  const documents = pairs.map(([channelId, campaignId], index) => ({
    sequence: index + 1,
    pair: { channelId, campaignId },
  }));
  await documentClient.send(
    new UpdateCommand({
      TableName: table,
      Key: rowKey(1001, keyFor(name)),
      UpdateExpression: 'SET d = :documents, a = :active',
      ExpressionAttributeValues: { ':documents': encodeDocuments(documents), ':active': active },
    }),
  );
}

const templates = [
  makeTemplate({ id: '11', name: 'order_update', quality_score: { score: 'GREEN' } }),
  makeTemplate({ id: '12', name: 'summer_sale', status: 'PENDING', category: 'MARKETING' }),
  makeTemplate({ id: '13', name: 'old_notice', status: 'DISABLED' }),
  makeTemplate({ id: '14', name: 'welcome_offer', category: 'MARKETING' }),
  makeTemplate({ id: '15', name: 'bygone', status: 'DELETED' }),
];

beforeAll(async () => {
  table = await freshTable('templates');
  const store = templateStore(documentClient, table);
  await store.writeUpstream(
    templates.map((template) => ({
      kind: 'present',
      wabaId: waba.wabaId,
      template,
      clientIds: waba.clientIds,
      readAtMs: 1,
    })),
  );
  await own('order_update', [
    [504, 11],
    [501, 10],
    [501, 11],
  ]);
  await own('summer_sale', [[501, 10]], false);
  list = templatesList({ directory, templates: store, nowMs: Date.now });
});

interface Listing {
  data: { id: string; platform_template: { name: string }; channel_campaigns: { campaign_id: number }[] }[];
  total: number;
}

test('a template in full, with the envelope of the contract', async () => {
  const answer = await call(list, operator, { query: { client_id: '1001', name: 'order_update' } });
  const main = { channel_id: 501, name: 'Main line', did: '5491100000001', type: 'MESSAGING' };
  expect(answer).toMatchObject({ status: 200 });
  expect(answer.body).toEqual({
    data: [
      {
        id: `${keyFor('order_update')}-rt-1`,
        active: true,
        client_id: 1001,
        namespace: 'ns_andes',
        waba_id: waba.wabaId,
        platform_template: {
          id: '11',
          name: 'order_update',
          language: 'en_US',
          status: 'APPROVED',
          category: 'UTILITY',
          components: [{ type: 'BODY', text: 'Your order {{1}} is on its way.', example: { body_text: [['7']] } }],
          quality_score: { score: 'GREEN' },
        },
        channel_campaigns: [
          { campaign_id: 10, campaign_name: 'Onboarding', channels: [main] },
          {
            campaign_id: 11,
            campaign_name: 'Collections',
            channels: [main, { channel_id: 504, did: '5491100000004', type: 'MESSAGING' }],
          },
        ],
      },
    ],
    total: 1,
    page: 1,
    pageSize: 20,
    paging: null,
  });
});

test.each<[typeof supervisor, Record<string, string>, string[], number[][]]>([
  [supervisor, {}, ['order_update', 'summer_sale'], [[10, 11], [10]]],
  [collector, {}, ['order_update'], [[11]]],
  [collector, { client_id: '1001' }, ['order_update'], [[11]]],
  [collector, { campaign_name: 'Onboarding' }, [], []],
  [collector, { campaign_name: 'Unassigned' }, ['old_notice', 'welcome_offer'], [[], []]],
])('without BSP_CN, %j with %j: only the own campaigns (D15)', async (caller, query, names, groups) => {
  const { body } = await call(list, caller, { query });
  const { data, total } = body as Listing;
  expect(data.map((template) => template.platform_template.name)).toEqual(names);
  expect(data.map((template) => template.channel_campaigns.map((group) => group.campaign_id))).toEqual(groups);
  expect(total).toBe(names.length);
});

test('only the wanted fields, and no body is read for them', async () => {
  const withoutBodies = templatesList({
    directory,
    templates: { rowsOf: templateStore(documentClient, table).rowsOf, factsOf: () => Promise.reject(new Error()) },
    nowMs: Date.now,
  });
  const query = { client_id: '1001', name: 'summer_sale', fields: 'active,id,createdBy' };
  expect(await call(withoutBodies, operator, { query })).toMatchObject({
    status: 200,
    body: { data: [{ id: `${keyFor('summer_sale')}-rt-1`, active: false }], total: 1 },
  });
});

test('what a client has of a WABA that it has left is listed no more, and is back when it comes back', async () => {
  const left = { ...waba, clientIds: [1002] };
  const listed = async (clientIds: number[]) => {
    const wabas = [{ ...left, clientIds }];
    const after = templatesList({
      directory: { ...directory, listWabas: memoryDirectory({ wabas }).listWabas },
      templates: templateStore(documentClient, table),
      nowMs: Date.now,
    });
    const answers = await Promise.all(
      [{}, { deleted: 'true' }].map((query) => call(after, operator, { query: { client_id: '1001', ...query } })),
    );
    return answers.map(({ body }) => (body as Listing).total);
  };
  expect(await listed([1002])).toEqual([0, 0]);
  expect(await listed([1001, 1002])).toEqual([4, 1]);
});

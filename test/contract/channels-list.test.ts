import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import demo from '../../infra/local/demo/provisioning.json' with { type: 'json' };
import { provision } from '../../infra/operate/tables/provisioning-run.ts';
import { type ApiReply, as, type DemoUser, platform, synchronize } from '../support/api.ts';
import { channels, clients, dids, onDeployedStage, wabas } from '../support/demo.ts';
import { rows } from '../support/rows.ts';
import { runningTarget } from '../support/running-target.ts';

/* Filters, pages and fields are in test/lib/{channels/listing,http/query}.test.ts, clients in contract/tenancy/. */

const { andes, boreal, saoPaulo } = dids;
const target = runningTarget();

const list = (user: DemoUser, query = ''): Promise<ApiReply> => as(user, `GET /v1/client-messaging-channels?${query}`);
const numbersOf = ({ body }: ApiReply) => body.data.map(({ wa_id }: { wa_id: string }) => wa_id);

beforeAll(async () => {
  await synchronize('supervisor1002');
});

test.skipIf(onDeployedStage)('a channel in full: all fields, with what the platform says', async () => {
  const fields =
    'wa_id,client_id,client_name,waba_id,waba_name,status,business_id,business_name,current_limit,quality_rating,' +
    'phone_id,phone_number_id,is_on_biz_app,phone_code,phone_number,create_at,create_by,register_at,external_webhook,channel_id,' +
    'did,name';
  const { status, body } = await list('supervisor1001', `fields=${fields}`);
  const channel = {
    ...{ wa_id: andes, client_id: clients.andes, client_name: 'Andes Retail', did: andes, name: 'Andes sales' },
    ...{ waba_id: wabas.shared, waba_name: 'Shared WABA', channel_id: channels.andes, status: 'ACTIVE' },
    ...{ business_id: '400000000000001', business_name: 'Andes Retail' },
    ...{ current_limit: 'TIER_100K', quality_rating: 'GREEN', is_on_biz_app: false },
    ...{
      phone_id: '300000000000001',
      phone_number_id: '300000000000001',
      phone_code: '54',
      phone_number: '91100000001',
    },
    ...{ create_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/), create_by: 'provisioning' },
    ...{ register_at: '2026-03-02T14:00:00.000Z', external_webhook: 'https://gateway.example.com/inbound' },
  };
  expect([status, body]).toEqual([200, { data: [channel], total: 1, page: 1, page_size: 20, fields }]);
});

test('the fields that are there by default, and those that are asked for', async () => {
  const { body } = await list('supervisor1001');
  const fields = 'wa_id,client_id,client_name,waba_id,waba_name,status,business_id,business_name';
  expect([body.fields, Object.keys(body.data[0]).join()]).toEqual([fields, fields]);
  const some = await list('supervisor1001', 'fields=wa_id,nonsense,status');
  expect([some.body.fields, some.body.data]).toEqual(['wa_id,status', [{ wa_id: andes, status: 'ACTIVE' }]]);
});

test.each(rows`
  supervisor1001 |                              | ${andes}
  agent1001      |                              | ${andes}
  supervisor1002 |                              | ${boreal},${saoPaulo}
  operator       | client_id=${clients.boreal}  | ${boreal},${saoPaulo}
  operator       | client_id=${clients.operator}|
`)('%s with ?%s sees %s (contract, Authentication 4)', async (user, query, numbers) => {
  const { status, body, ...reply } = await list(user as DemoUser, query);
  expect([status, numbersOf({ body, status, ...reply }).join(), body.total]).toEqual([
    ...[200, numbers, numbers.split(',').filter(Boolean).length],
  ]);
});

describe.skipIf(onDeployedStage)('filters, all at once (D35), and pages (D8)', () => {
  test.each(rows`
    business_name=ANDES                                | ${andes},${boreal}  | 2
    q=boreal&waba_id=${wabas.shared}                   | ${boreal}           | 1
    q=&business_name=&fields=&deleted=false            | ${andes},${boreal},${saoPaulo} | 3
    deleted=true&wa_id=${andes}                        |                     | 0
    size=2                                             | ${andes},${boreal}  | 3
    limit=1&page=3                                     | ${saoPaulo}         | 3
  `)('?%s: %s of %s', async (query, numbers, total) => {
    const reply = await list('operator', query);
    expect([reply.status, numbersOf(reply).join(), reply.body.total]).toEqual([200, numbers, Number(total)]);
  });

  test('a channel that provisioning has removed is listed only when asked for', async () => {
    const channels = demo.channels.filter(({ did }) => did !== saoPaulo);
    await provision({ ...demo, channels }, target, { removalsAllowed: 1 });
    try {
      expect(numbersOf(await list('supervisor1002'))).toEqual([boreal]);
      // Another file may have removed a number of its own.
      const deleted = numbersOf(await list('supervisor1002', 'deleted=true'));
      expect([deleted.includes(saoPaulo), deleted.includes(boreal)]).toEqual([true, false]);
    } finally {
      await provision(demo, target);
    }
  });
});

test('every fault of a query with the field it is in', async () => {
  const { status, body } = await list('supervisor1001', 'deleted=1&page=x');
  expect([status, body.code, body.errors]).toEqual([
    ...[400, 'invalid_request'],
    [
      { path: 'deleted', message: 'deleted must be true or false, received "1"' },
      { path: 'page', message: 'page must be a whole number from 1, received "x"' },
    ],
  ]);
});

describe.skipIf(onDeployedStage)('what the platform says is refreshed by a synchronization', () => {
  const number = '/_control/numbers/300000000000002';
  const fields = 'wa_id,status,quality_rating,current_limit,create_at,create_by,register_at';
  const seen = async () => (await list('supervisor1002', `wa_id=${boreal}&fields=${fields}`)).body.data[0];
  afterAll(async () => {
    const now = { status: 'CONNECTED', quality_rating: 'GREEN' };
    await platform(`POST ${number}`, { ...now, whatsapp_business_manager_messaging_limit: 'TIER_100K' });
    await synchronize('supervisor1002');
  });

  test('by one of any client of the WABA; what provisioning knows stays', async () => {
    const before = await seen();
    const now = { status: 'RESTRICTED', quality_rating: 'RED' };
    await platform(`POST ${number}`, { ...now, whatsapp_business_manager_messaging_limit: 'TIER_2K' });
    expect(await seen()).toEqual(before);
    await synchronize('supervisor1001');
    expect(await seen()).toEqual({ ...before, ...now, current_limit: 'TIER_2K' });
    expect(numbersOf(await list('operator', 'status=RESTRICTED'))).toEqual([boreal]);
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import demo from '../../infra/local/demo/provisioning.json' with { type: 'json' };
import { provision } from '../../infra/operate/tables/provisioning-run.ts';
import { type ApiReply, api, type DemoUser, platform, synchronize, tokenOf } from '../support/api.ts';
import { channels, clients, dids, onDeployedStage, wabas } from '../support/demo.ts';
import { runningTarget } from '../support/running-target.ts';

const route = 'GET /v1/client-messaging-channels';
const { andes, boreal, saoPaulo } = dids;
const target = runningTarget();

const list = async (user: DemoUser, query = ''): Promise<ApiReply> =>
  api(`${route}?${query}`, { token: await tokenOf(user) });
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
  expect(status).toBe(200);
  expect(body).toEqual({
    data: [
      {
        wa_id: andes,
        client_id: clients.andes,
        client_name: 'Andes Retail',
        waba_id: wabas.shared,
        waba_name: 'Shared WABA',
        status: 'ACTIVE',
        business_id: '400000000000001',
        business_name: 'Andes Retail',
        current_limit: 'TIER_100K',
        quality_rating: 'GREEN',
        phone_id: '300000000000001',
        phone_number_id: '300000000000001',
        is_on_biz_app: false,
        phone_code: '54',
        phone_number: '91100000001',
        create_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        create_by: 'provisioning',
        register_at: '2026-03-02T14:00:00.000Z',
        external_webhook: 'https://gateway.example.com/inbound',
        channel_id: channels.andes,
        did: andes,
        name: 'Andes sales',
      },
    ],
    total: 1,
    page: 1,
    page_size: 20,
    fields,
  });
});

test('the fields that are there by default', async () => {
  const { body } = await list('supervisor1001');
  const fields = 'wa_id,client_id,client_name,waba_id,waba_name,status,business_id,business_name';
  expect(body.fields).toBe(fields);
  expect(Object.keys(body.data[0]).join(',')).toBe(fields);
});

describe('who sees what (contract, Authentication 4)', () => {
  test.each<[DemoUser, string, string[]]>([
    ['supervisor1001', '', [andes]],
    ['agent1001', '', [andes]],
    ['supervisor1001', `client_id=${clients.andes}`, [andes]],
    ['supervisor1002', '', [boreal, saoPaulo]],
    ...(onDeployedStage ? [] : ([['operator', '', [andes, boreal, saoPaulo]]] as [DemoUser, string, string[]][])),
    ['operator', `client_id=${clients.boreal}`, [boreal, saoPaulo]],
    ['operator', `client_id=${clients.operator}`, []],
  ])('%s, "%s"', async (user, query, numbers) => {
    const reply = await list(user, query);
    expect([reply.status, numbersOf(reply), reply.body.total]).toEqual([200, numbers, numbers.length]);
  });
});

describe.skipIf(onDeployedStage)('filters, all at once (D35)', () => {
  test.each<[string, string[]]>([
    [`wa_id=${boreal}`, [boreal]],
    [`waba_id=${wabas.shared}`, [andes, boreal]],
    ['business_name=ANDES', [andes, boreal]],
    ['q=boreal%20waba', [saoPaulo]],
    [`q=boreal&waba_id=${wabas.shared}`, [boreal]],
    [`q=boreal&client_id=${clients.andes}`, []],
    ['q=&business_name=&fields=&deleted=false', [andes, boreal, saoPaulo]],
    [`deleted=true&wa_id=${andes}`, []],
  ])('%s', async (query, numbers) => {
    const reply = await list('operator', query);
    expect([reply.status, numbersOf(reply), reply.body.total]).toEqual([200, numbers, numbers.length]);
  });

  test('a channel that provisioning has removed is listed only when asked for', async () => {
    const channels = demo.channels.filter(({ did }) => did !== saoPaulo);
    await provision({ ...demo, channels }, target, { removalsAllowed: 1 });
    try {
      expect(numbersOf(await list('supervisor1002'))).toEqual([boreal]);
      // Another file may have removed a number of its own.
      const deleted = numbersOf(await list('supervisor1002', 'deleted=true'));
      expect([deleted.includes(saoPaulo), deleted.includes(boreal)]).toEqual([true, false]);
      expect(numbersOf(await list('supervisor1001', `deleted=true&wa_id=${saoPaulo}`))).toEqual([]);
    } finally {
      await provision(demo, target);
    }
  });
});

describe('pages and fields (D8)', () => {
  test.skipIf(onDeployedStage).each<[string, string[], number, number]>([
    ['size=2', [andes, boreal], 1, 2],
    ['size=2&page=2', [saoPaulo], 2, 2],
    ['limit=1&page=3', [saoPaulo], 3, 1],
    ['size=100&page=2', [], 2, 100],
  ])('%s', async (query, numbers, page, page_size) => {
    const reply = await list('operator', query);
    expect(numbersOf(reply)).toEqual(numbers);
    expect(reply.body).toMatchObject({ total: 3, page, page_size });
  });

  test('fields: unknown names are dropped, the applied ones told', async () => {
    const { body } = await list('supervisor1001', 'fields=wa_id,nonsense,status');
    expect(body).toMatchObject({ data: [{ wa_id: andes, status: 'ACTIVE' }], total: 1, fields: 'wa_id,status' });
    expect(Object.keys(body.data[0])).toEqual(['wa_id', 'status']);
    const all = await list('supervisor1001', 'fields=nonsense');
    expect(all.body).toEqual((await list('supervisor1001')).body);
  });
});

describe('refusals (contract, Errors)', () => {
  const whole = (field: string, value: string) => `${field} must be a whole number from 1, received "${value}"`;
  const upTo = (field: string, value: string) => `${field} must be a whole number from 1 to 100, received "${value}"`;
  test.each([
    ['client_id=abc', 400, 'invalid_client_id', 'invalid client_id: abc'],
    [
      `client_id=${clients.andes}&client_id=${clients.andes}`,
      400,
      'invalid_client_id',
      `invalid client_id: ${clients.andes},${clients.andes}`,
    ],
    ['deleted=yes', 400, 'invalid_request', 'deleted must be true or false, received "yes"'],
    ['page=0', 400, 'invalid_request', whole('page', '0')],
    ['size=101', 400, 'invalid_request', upTo('size', '101')],
    ['size=5&limit=6', 400, 'invalid_request', 'size and limit mean the same and differ'],
    [
      `client_id=${clients.boreal}`,
      403,
      'cross_client_forbidden',
      'BSP_CN permission required for cross-client access',
    ],
    [`client_id=${clients.boreal}&page=0`, 400, 'invalid_request', whole('page', '0')],
  ])('%s: %i %s', async (query, status, code, message) => {
    const reply = await list('supervisor1001', query);
    expect([reply.status, reply.body.code, reply.body.message]).toEqual([status, code, message]);
  });

  test('every fault with the field it is in', async () => {
    const { body } = await list('supervisor1001', 'deleted=1&page=x');
    expect(body.errors).toEqual([
      { path: 'deleted', message: 'deleted must be true or false, received "1"' },
      { path: 'page', message: whole('page', 'x') },
    ]);
  });

  test('no token', async () => {
    expect(await api(route)).toMatchObject({ status: 401, body: { message: 'Unauthorized' } });
  });
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
    await platform(`POST ${number}`, {
      status: 'RESTRICTED',
      quality_rating: 'RED',
      whatsapp_business_manager_messaging_limit: 'TIER_2K',
    });
    expect(await seen()).toEqual(before);
    await synchronize('supervisor1001');
    const live = { status: 'RESTRICTED', quality_rating: 'RED', current_limit: 'TIER_2K' };
    expect(await seen()).toEqual({ ...before, ...live });
    expect(numbersOf(await list('operator', 'status=RESTRICTED'))).toEqual([boreal]);
  });
});

import { beforeAll, describe, expect, test } from 'vitest';
import { api, type DemoUser, synchronize, tokenOf } from '../support/api.ts';
import { channels, clients, dids, wabas } from '../support/demo.ts';

beforeAll(async () => {
  await synchronize('supervisor1001');
  await synchronize('supervisor1002');
});

async function list(username: DemoUser, query = '') {
  return api(`GET /v1/templates${query}`, { token: await tokenOf(username) });
}

describe('errors of GET /v1/templates', () => {
  test.each([
    ['agent1001', '', 400, 'agent without campaigns'],
    ['operator', '', 400, 'client_id is required'],
    ['operator', '?client_id=abc', 400, 'invalid client_id: abc'],
    [
      'operator',
      `?client_id=${clients.andes}&client_id=${clients.boreal}`,
      400,
      `invalid client_id: ${clients.andes},${clients.boreal}`,
    ],
    ['supervisor1001', `?client_id=${clients.boreal}`, 403, 'BSP_CN permission required for cross-client access'],
  ] as const)('%s %s -> %i %s', async (user, query, status, message) => {
    expect(await list(user, query)).toMatchObject({ status, body: { message, code: expect.any(String) } });
  });

  test.each([
    '?page=0',
    '?campain_name=Onboarding',
    '?clientId=1001',
    '?size=101',
    '?limit=0',
    '?size=10&limit=20',
    '?active=yes',
    '?deleted=1',
  ])('%s is 400 and names the field', async (query) => {
    const reply = await list('supervisor1001', query);
    expect(reply.status).toBe(400);
    const field = query.slice(1).split('=')[0] ?? '';
    expect(reply.body.errors.map((fault: { path: string }) => fault.path).join()).toContain(
      query.includes('limit=20') ? '' : field,
    );
  });
});

describe('what the listing shows', () => {
  test('an operator sees every template of the client, in order, with exact totals', async () => {
    const reply = await list('operator', `?client_id=${clients.andes}`);
    expect(reply.status).toBe(200);
    expect(Object.keys(reply.body).sort()).toEqual(['data', 'page', 'pageSize', 'paging', 'total']);
    expect(reply.body).toMatchObject({ total: 21, page: 1, pageSize: 20, paging: null });
    const names = reply.body.data.map(
      (template: { platform_template: { name: string } }) => template.platform_template.name,
    );
    expect(names).toEqual([...names].sort());
    expect(reply.body.data[0]).toMatchObject({
      id: expect.any(String),
      active: true,
      client_id: clients.andes,
      namespace: expect.any(String),
      waba_id: wabas.shared,
      channel_campaigns: [],
    });
  });

  test('pages concatenate to the whole set, and a page past the end is empty with the true total', async () => {
    const whole = await list('operator', `?client_id=${clients.boreal}&size=100`);
    const second = await list('operator', `?client_id=${clients.boreal}&size=100&page=2`);
    expect(whole.body.total).toBe(135);
    const pieces: unknown[] = [];
    for (let page = 1; page <= 8; page += 1) {
      const reply = await list('operator', `?client_id=${clients.boreal}&limit=20&page=${page}`);
      expect(reply.body).toMatchObject({ total: 135, page, pageSize: 20 });
      pieces.push(...reply.body.data);
    }
    expect(pieces).toEqual([...whole.body.data, ...second.body.data]);
  });

  test.each([
    ['?state=APPROVED', 17],
    ['?state=PENDING,PAUSED', 2],
    ['?category=AUTHENTICATION', 1],
    ['?lang=es', 4],
    ['?name=order_update', 1],
    ['?name=order', 0],
    ['?search=ORDER', 1],
    ['?state=APPROVED&category=UTILITY', 7],
    ['?active=false', 0],
    ['?deleted=true', 0],
    ['?campaign_name=Unassigned', 21],
    [`?channel_ids=${channels.andes}`, 0],
    [`?did=${dids.andes}`, 0],
  ])(`%s -> %i of client ${clients.andes}`, async (query, total) => {
    expect((await list('operator', `${query}&client_id=${clients.andes}`)).body.total).toBe(total);
  });

  test('a supervisor sees what is assigned to the own campaigns, and what is unassigned on request (D15)', async () => {
    expect((await list('supervisor1001')).body).toMatchObject({ total: 0, data: [] });
    expect((await list('supervisor1001', '?campaign_name=Unassigned')).body.total).toBe(21);
  });

  test('fields are chosen from the whitelist; nothing known left means all (D8)', async () => {
    const some = await list('operator', `?client_id=${clients.andes}&fields=id,waba_id,nope&size=1`);
    expect(Object.keys(some.body.data[0]).sort()).toEqual(['id', 'waba_id']);
    const all = await list('operator', `?client_id=${clients.andes}&fields=nope&size=1`);
    expect(Object.keys(all.body.data[0]).sort()).toEqual([
      'active',
      'channel_campaigns',
      'client_id',
      'id',
      'namespace',
      'platform_template',
      'waba_id',
    ]);
  });

  test('empty facts are left out of platform_template', async () => {
    const reply = await list('operator', `?client_id=${clients.andes}&name=order_update`);
    const template = reply.body.data[0].platform_template;
    for (const field of ['example', 'format', 'text', 'buttons', 'previous_category']) {
      expect(template).not.toHaveProperty(field);
    }
    const byId = await list('operator', `?client_id=${clients.andes}&template_platform_id=${template.id}`);
    expect(byId.body.data).toEqual(reply.body.data);
    expect(template).toMatchObject({
      name: 'order_update',
      language: 'en_US',
      status: 'APPROVED',
      category: 'UTILITY',
    });
  });
});

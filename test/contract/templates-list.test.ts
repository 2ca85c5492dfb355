import { beforeAll, describe, expect, test } from 'vitest';
import { as, type DemoUser, synchronize } from '../support/api.ts';
import { channels, clients, dids, wabas } from '../support/demo.ts';
import { rows } from '../support/rows.ts';

/* Filters, scopes and pages are in test/lib/templates/listing/, clients in contract/tenancy/. */

beforeAll(async () => {
  await synchronize('supervisor1001');
  await synchronize('supervisor1002');
});

const list = (user: DemoUser, query = '') => as(user, `GET /v1/templates${query}`);
const ofAndes = (query = '') => list('operator', `?client_id=${clients.andes}${query}`);

test('who asks without a client or without campaigns is refused', async () => {
  expect(await list('agent1001')).toMatchObject({
    status: 400,
    body: { code: 'agent_without_campaigns', message: 'agent without campaigns' },
  });
  expect(await list('operator')).toMatchObject({
    status: 400,
    body: { code: 'client_id_required', message: 'client_id is required' },
  });
});

test.each(['page=0', 'size=101', 'active=yes', 'deleted=1'])('?%s is 400 and names the field', async (query) => {
  const { status, body } = await list('supervisor1001', `?${query}`);
  expect([status, body.errors.map(({ path }: { path: string }) => path)]).toEqual([400, [query.split('=')[0]]]);
});

describe('what the listing shows', () => {
  test('an operator sees every template of the client, in order, with exact totals; empty facts are left out', async () => {
    const { status, body } = await ofAndes();
    expect([status, Object.keys(body).sort()]).toEqual([200, ['data', 'page', 'pageSize', 'paging', 'total']]);
    expect(body).toMatchObject({ total: 21, page: 1, pageSize: 20, paging: null });
    const names = body.data.map(({ platform_template: { name } }: { platform_template: { name: string } }) => name);
    expect(names).toEqual([...names].sort());
    const [entry] = (await ofAndes('&name=order_update')).body.data;
    expect(entry).toEqual({
      ...{ id: expect.any(String), active: true, client_id: clients.andes, waba_id: wabas.shared },
      ...{ namespace: expect.any(String), channel_campaigns: [] },
      platform_template: expect.objectContaining({ name: 'order_update', language: 'en_US', status: 'APPROVED' }),
    });
    expect(entry.platform_template).not.toHaveProperty('previous_category');
  });

  test('pages concatenate to the whole set, and a page past the end is empty with the true total', async () => {
    const ofBoreal = (query: string) => list('operator', `?client_id=${clients.boreal}&${query}`);
    const [whole, second] = [await ofBoreal('size=100'), await ofBoreal('size=100&page=2')];
    const pieces: unknown[] = [];
    for (let page = 1; page <= 8; page += 1) {
      const reply = await ofBoreal(`limit=20&page=${page}`);
      expect(reply.body).toMatchObject({ total: 135, page, pageSize: 20 });
      pieces.push(...reply.body.data);
    }
    expect(pieces).toEqual([...whole.body.data, ...second.body.data]);
  });

  test.each(rows`
    state=PENDING,PAUSED             | 2
    lang=es                          | 4
    search=ORDER                     | 1
    state=APPROVED&category=UTILITY  | 7
    campaign_name=Unassigned         | 21
    channel_ids=${channels.andes}    | 0
    did=${dids.andes}                | 0
  `)('?%s has %s of them', async (query, total) => {
    expect((await ofAndes(`&${query}`)).body.total).toBe(Number(total));
  });

  test('a supervisor sees what is assigned to the own campaigns, and what is unassigned on request (D15)', async () => {
    expect((await list('supervisor1001')).body).toMatchObject({ total: 0, data: [] });
    expect((await list('supervisor1001', '?campaign_name=Unassigned')).body.total).toBe(21);
  });

  test('fields are chosen from the whitelist (D8)', async () => {
    const { body } = await ofAndes('&fields=id,waba_id,nope&size=1');
    expect(Object.keys(body.data[0]).sort()).toEqual(['id', 'waba_id']);
  });
});

import { beforeAll, expect, test } from 'vitest';
import { api, type DemoUser, synchronize, tokenOf } from '../support/api.ts';
import { campaigns, clients, dids, onDeployedStage } from '../support/demo.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
const get = async (route: string, user: DemoUser): Promise<any> => {
  const { status, body } = await api(`GET ${route}`, { token: await tokenOf(user) });
  return { status, body };
};

const unassigned = '/v1/templates?campaign_name=Unassigned&size=100';

beforeAll(async () => {
  await synchronize('supervisor1001');
});

test('every listed template is there by itself, as it is listed, with what sending it takes (D49)', async () => {
  const listed = (await get(unassigned, 'supervisor1001')).body.data;
  expect(listed.length).toBeGreaterThan(5);
  for (const entry of listed) {
    const { status, body } = await get(`/v1/templates/${entry.id}`, 'supervisor1001');
    const { parameters, sendable, ...own } = body;
    expect(status).toBe(200);
    expect(own).toEqual(entry);
    if (sendable.can) expect(parameters.params).toBeDefined();
    else expect(sendable.reason).toMatch(/./);
    expect(sendable.can && entry.platform_template.status !== 'APPROVED').toBe(false);
  }
});

test.skipIf(onDeployedStage)('a send that carries what is said to be needed is taken', async () => {
  const [{ id }] = (await get(`${unassigned}&name=order_update`, 'supervisor1001')).body.data;
  const {
    parameters,
    sendable,
    platform_template: template,
  } = (await get(`/v1/templates/${id}`, 'supervisor1001')).body;
  expect(sendable).toEqual({ can: true });
  const { body = { count: 0 }, buttons = [] } = parameters.params;
  const params = {
    ...(body.count > 0 ? { body: Array(body.count).fill('A-17') } : {}),
    ...(buttons.length > 0 ? { buttons: buttons.map(() => 'A17') } : {}),
  };
  const { status } = await api(`POST /v1/template/messages/${dids.andes}`, {
    token: await tokenOf('supervisor1001'),
    body: {
      did: dids.andes,
      type: 'template',
      channel: 'MESSAGING',
      template: { name: template.name, language: template.language },
      recipients: [{ to: '549400000049', params }],
    },
  });
  expect(status).toBe(200);
});

test('a one-time code is said to reach phone numbers only', async () => {
  const [{ id }] = (await get(`${unassigned}&name=login_code`, 'supervisor1001')).body.data;
  const { body } = await get(`/v1/templates/${id}`, 'supervisor1001');
  expect(body.parameters).toMatchObject({ phone_numbers_only: true, params: { body: { max_length: 15 } } });
});

test('a user sees the own campaigns, an operator all of a client (D50)', async () => {
  const all = {
    data: [
      { id: campaigns.onboarding, name: 'Onboarding' },
      { id: campaigns.collections, name: 'Collections' },
    ],
    total: 2,
  };
  expect(await get('/v1/campaigns', 'supervisor1001')).toEqual({ status: 200, body: all });
  expect(await get(`/v1/campaigns?client_id=${clients.andes}`, 'operator')).toEqual({ status: 200, body: all });
  expect(await get('/v1/campaigns', 'operator')).toEqual({ status: 200, body: { data: [], total: 0 } });
  expect(await get('/v1/campaigns', 'agent1001')).toEqual({ status: 200, body: { data: [], total: 0 } });
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keptMs } from '../../lib/templates/sync/sync-lock-state.ts';
import { type ApiReply, api, type DemoUser, eventually, platform, synchronize, tokenOf } from '../support/api.ts';
import { eraseTemplate } from '../support/erase-template.ts';
import { runningTarget } from '../support/running-target.ts';
import { syncLock } from '../support/sync-lock.ts';

const path = 'POST /v1/templates/sync-from-platform';
const sharedWaba = '200000000000001';
const target = runningTarget();

const start = async (user: DemoUser, body?: unknown): Promise<ApiReply> =>
  api(path, { token: await tokenOf(user), ...(body === undefined ? {} : { body }) });

/** Retries while another synchronization runs (409), and returns the first other answer. */
const startWhenFree = (user: DemoUser, body?: unknown): Promise<ApiReply> =>
  eventually('the lock is free', async () => {
    const reply = await start(user, body);
    return reply.status === 409 ? undefined : reply;
  });

const started = (clientId: number) => ({ status: 'started', message: expect.stringMatching(/\w/), clientId });

async function listed(clientId: number, query: string): Promise<ApiReply['body']> {
  const token = await tokenOf('operator');
  return (await api(`GET /v1/templates?client_id=${clientId}&${query}`, { token })).body;
}

const listRequests = async (waba = ''): Promise<number> =>
  (await platform(`GET /_control/requests?path=${waba}/message_templates&limit=0`)).body.total;

/** Waits until no worker runs and the lease is free; the worker releases it at its very end. */
async function rest(): Promise<void> {
  await eventually('no synchronization runs', async () => {
    const { waiting = {}, lease, releasedAtMs } = await syncLock();
    const kept = Object.keys(waiting as object).length > 0 && Date.now() < Number(releasedAtMs) + keptMs;
    return lease === undefined && !kept ? true : undefined;
  });
}

beforeAll(async () => {
  await synchronize('supervisor1001');
});
beforeEach(rest);
afterEach(async () => {
  await platform('DELETE /_control/faults');
});

// Bodies, the queue and WABAs that do not answer are in test/functions/templates-sync.adapter.test.ts.
describe('who starts what', () => {
  test.each([
    ['without a body: the own client', 'supervisor1001', undefined, 1001],
    ['another client, with BSP_CN', 'operator', { client_id: 1002 }, 1002],
  ] as const)('%s', async (_, user, body, clientId) => {
    const reply = await startWhenFree(user, body);
    expect([reply.status, reply.body]).toEqual([200, started(clientId)]);
  });

  test('the WABAs of the client and no others are asked', async () => {
    const before = [await listRequests(sharedWaba), await listRequests('200000000000002')];
    await synchronize('supervisor1001');
    expect(await listRequests(sharedWaba)).toBeGreaterThan(before[0] ?? 0);
    expect(await listRequests('200000000000002')).toBe(before[1]);
  });
});

describe('one at a time for the whole deployment (D22)', () => {
  const inProgress = {
    status: 409,
    body: { message: 'a synchronization is already in progress', code: 'sync_in_progress' },
  };

  test('409 to everybody while the first answer of the platform is awaited and while the worker runs', async () => {
    const before = await listRequests();
    await platform('POST /_control/faults', { match: { path: 'message_templates' }, action: { delay_ms: 1_500 } });
    const first = start('supervisor1001');
    await eventually('the platform is asked', async () => ((await listRequests()) > before ? true : undefined));
    expect(await start('supervisor1001')).toMatchObject(inProgress);
    expect(await start('supervisor1002')).toMatchObject(inProgress);
    expect((await first).body).toEqual(started(1001));
    await eventually('the worker asks', async () => ((await listRequests()) > before + 1 ? true : undefined));
    expect(await start('operator', { client_id: 1002 })).toMatchObject(inProgress);
    // The refused synchronizations have not asked the platform.
    expect(await listRequests()).toBe(before + 2);
  });
});

describe('what a synchronization changes, for every client of the WABA', () => {
  const name = 'sync_probe';
  let platformId: string;

  // Other files count templates, so this one must be removed.
  afterAll(async () => {
    await platform(`DELETE /_control/templates/${platformId}`);
    await eraseTemplate(target, name);
  });

  const found = async (clientId: number, query = '') => (await listed(clientId, `name=${name}${query}`)).data;

  test('a new one appears to both, active and unassigned (D13), with ids of their own', async () => {
    const { body } = await platform('POST /_control/templates', {
      waba_id: sharedWaba,
      templates: [
        { name, language: 'en_US', category: 'UTILITY', components: [{ type: 'BODY', text: 'Your table is ready.' }] },
      ],
    });
    platformId = body.ids[0];
    expect(await found(1001)).toEqual([]);
    await synchronize('supervisor1001');
    const [[first], [second]] = [await found(1001), await found(1002)];
    for (const [template, clientId] of [
      [first, 1001],
      [second, 1002],
    ]) {
      expect(template).toMatchObject({
        active: true,
        client_id: clientId,
        waba_id: sharedWaba,
        channel_campaigns: [],
        platform_template: { id: platformId, name, status: 'APPROVED', category: 'UTILITY' },
      });
    }
    expect(first.id).not.toBe(second.id);
  });

  test('one that the platform has generated is in no listing, and is not sent, edited or deleted (D22)', async () => {
    const token = await tokenOf('supervisor1001');
    const [{ id }] = await found(1001);
    const turnInto = async (source: string | null) => {
      await platform(`POST /_control/templates/${platformId}`, { status: 'APPROVED', source });
      await synchronize('supervisor1001');
    };
    await turnInto('AUTO_GENERATED');
    for (const clientId of [1001, 1002]) {
      for (const query of ['', '&deleted=true', '&campaign_name=Unassigned']) {
        expect(await found(clientId, query)).toEqual([]);
      }
    }
    const asked = async () => (await platform('GET /_control/requests?limit=0')).body.total;
    const notHere = (what: string) => `direct-message templates cannot be ${what} through this interface`;
    const refused = (status: number, code: string, what: string) => ({
      status,
      body: { code, message: notHere(what) },
    });

    const before = await asked();
    const route = `/v1/templates/5491100000001/${id}`;
    const components = [{ type: 'BODY', text: 'Another text.' }];
    const disabled = (what: string) => refused(409, 'template_disabled', what);
    expect(await api(`PUT ${route}`, { token, body: { components } })).toMatchObject(disabled('edited'));
    expect(await api(`DELETE ${route}`, { token })).toMatchObject(disabled('deleted'));
    expect(await asked()).toBe(before);
    const { body: one } = await api(`GET /v1/templates/${id}`, { token });
    expect(one).toMatchObject({ id, sendable: { can: false, reason: notHere('sent') } });
    expect(one).not.toHaveProperty('parameters');
    const send = {
      did: '5491100000001',
      type: 'template',
      channel: 'MESSAGING',
      recipients: [{ to: '5491155550001' }],
    };
    for (const headers of [{}, { 'dry-run': 'true' }]) {
      const body = { ...send, template: { name, language: 'en_US' } };
      const reply = await api('POST /v1/template/messages/5491100000001', { token, body, headers });
      expect(reply).toMatchObject(refused(422, 'template_not_sendable', 'sent'));
    }

    await turnInto(null);
    expect(await found(1001)).toMatchObject([{ id, platform_template: { status: 'APPROVED' } }]);
  });

  test('one that is gone is marked deleted for both; when it is back, so is it', async () => {
    const [{ id }] = await found(1001);
    await platform(`DELETE /_control/templates/${platformId}`);
    await synchronize('supervisor1001');
    for (const clientId of [1001, 1002]) {
      expect(await found(clientId)).toEqual([]);
      expect(await found(clientId, '&deleted=true')).toMatchObject([{ platform_template: { name } }]);
    }
    const { body } = await platform('POST /_control/templates', {
      waba_id: sharedWaba,
      templates: [{ name, language: 'en_US', category: 'UTILITY', components: [{ type: 'BODY', text: 'Back.' }] }],
    });
    platformId = body.ids[0];
    await synchronize('supervisor1001');
    expect(await found(1001)).toMatchObject([{ id, platform_template: { id: platformId } }]);
    expect(await found(1001, '&deleted=true')).toEqual([]);
  });
});

import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { routes } from '../../infra/routes.ts';
import { issueToken, tokenLifetimeSeconds } from '../../lib/access/tokens/token.ts';
import { signingKey } from '../../lib/access/tokens/token-keys.ts';
import { redirectCode } from '../../lib/redirects/code.ts';
import { redirectStore } from '../../lib/redirects/redirect-store.ts';
import { templateKey } from '../../lib/templates/model/template-key.ts';
import { type ApiReply, api, eventually, platform, synchronize, tokenOf } from '../support/api.ts';
import { builtOperations } from '../support/built-operations.ts';
import { eraseTemplate } from '../support/erase-template.ts';
import { expectRefusal } from '../support/expected-refusal.ts';
import { forgottenTemplate } from '../support/forgotten-template.ts';
import { asSupervisor, orderDid as did, orderBody } from '../support/order-updates.ts';
import { demoApp, signedWebhook } from '../support/platform-webhook.ts';
import { runningTarget } from '../support/running-target.ts';

const target = runningTarget();
let recipient = 549_500_000_000;
let templateId: string;
let createdId = '';

/** `afterAll` removes these templates. */
const traces = {
  forgotten: `forgotten_${randomUUID().replaceAll('-', '_')}`,
  created: `created_${randomUUID().replaceAll('-', '_')}`,
};

beforeAll(async () => {
  await synchronize('supervisor1001');
  templateId = (await asSupervisor('GET /v1/templates?campaign_name=Unassigned&fields=id&size=1')).body.data[0].id;
});
afterEach(async () => {
  await platform('DELETE /_control/faults');
});
afterAll(async () => {
  await platform(`DELETE /_control/templates/${createdId}`);
  for (const name of Object.values(traces)) await eraseTemplate(target, name);
});

const sendBody = () => orderBody([String(++recipient)]);
const send = (body: unknown = sendBody()) => asSupervisor(`POST /v1/template/messages/${did}`, { body });

async function ownTemplate(): Promise<{ readonly id: string; readonly components: unknown }> {
  const { body } = await asSupervisor('GET /v1/templates?name=order_update&campaign_name=Unassigned');
  return { id: body.data[0].id, components: body.data[0].platform_template.components };
}

describe('every route, asked for what it does and for what it must refuse (R4, R5)', () => {
  const asked: Readonly<Record<string, { success(): Promise<ApiReply>; refused(): Promise<ApiReply> }>> = {
    health: { success: () => api('GET /health'), refused: () => api('GET /health?client_id=abc') },
    login: {
      success: () => api('POST /login', { body: { username: 'operator', password: 'demo-operator' } }),
      refused: () => api('POST /login', { body: '{' }),
    },
    redirect: {
      success: async () => {
        const button = {
          templateKey: templateKey({ wabaId: '1', name: 'gone', language: 'en_US' }),
          place: 'buttons[0]',
        };
        const url = 'https://example.com/';
        const code = redirectCode({ ...button, url });
        const redirects = redirectStore(target.documentClient, target.tableName('redirects'));
        await redirects.put([{ code, url }], { ...button, clientId: 1001, wabaId: '1', createdAtMs: Date.now() });
        await redirects.keep([code], button.templateKey);
        return api(`GET /r/${code}`);
      },
      refused: () => api('GET /r/x'),
    },
    'platform-webhook-verify': {
      success: () =>
        api(`GET /platform/webhook?hub.mode=subscribe&hub.verify_token=${demoApp.verifyToken}&hub.challenge=7`),
      refused: () => api('GET /platform/webhook'),
    },
    'platform-webhook-receive': {
      success: () => api('POST /platform/webhook', signedWebhook({})),
      refused: () => api('POST /platform/webhook', { body: {} }),
    },
    'messages-send': { success: () => send(), refused: () => send({}) },
    'templates-list': {
      success: () => asSupervisor('GET /v1/templates'),
      refused: () => asSupervisor('GET /v1/templates?page=0'),
    },
    'templates-get': {
      success: async () => asSupervisor(`GET /v1/templates/${(await ownTemplate()).id}`),
      refused: () => asSupervisor('GET /v1/templates/x?client_id=abc'),
    },
    'campaigns-list': {
      success: () => asSupervisor('GET /v1/campaigns'),
      refused: () => asSupervisor('GET /v1/campaigns?client_id=abc'),
    },
    'channels-list': {
      success: () => asSupervisor('GET /v1/client-messaging-channels'),
      refused: () => asSupervisor('GET /v1/client-messaging-channels?deleted=perhaps'),
    },
    'templates-create': {
      success: async () => {
        const reply = await asSupervisor(`POST /v1/templates/${did}`, {
          body: {
            name: traces.created,
            language: 'en_US',
            category: 'UTILITY',
            components: [{ type: 'BODY', text: 'Your order is ready to be picked up.' }],
          },
        });
        createdId = reply.body.id;
        return reply;
      },
      refused: () => asSupervisor(`POST /v1/templates/${did}`, { body: {} }),
    },
    'templates-edit': {
      success: async () => {
        const { id, components } = await ownTemplate();
        return asSupervisor(`PUT /v1/templates/${did}/${id}`, { body: { components } });
      },
      refused: () => asSupervisor(`PUT /v1/templates/${did}/x`, { body: {} }),
    },
    'templates-delete': {
      success: async () =>
        asSupervisor(`DELETE /v1/templates/${did}/${await forgottenTemplate(target, traces.forgotten)}`),
      refused: () => asSupervisor(`DELETE /v1/templates/${did}/x?client_id=abc`),
    },
    'templates-sync': {
      success: () =>
        eventually('the lock is free', async () => {
          const reply = await asSupervisor('POST /v1/templates/sync-from-platform');
          return reply.status === 409 ? undefined : reply;
        }),
      refused: () => asSupervisor('POST /v1/templates/sync-from-platform?client_id=abc'),
    },
    'templates-status': {
      success: () => asSupervisor('PATCH /v1/templates/status', { body: { action: 'enable', templates: ['x'] } }),
      refused: () => asSupervisor('PATCH /v1/templates/status', { body: {} }),
    },
    'catalogs-list': {
      success: () => asSupervisor(`GET /v1/catalogs/${did}`),
      refused: () => asSupervisor(`GET /v1/catalogs/${did}?client_id=abc`),
    },
    me: {
      success: () => asSupervisor('GET /v1/me'),
      refused: () => asSupervisor('GET /v1/me?client_id=abc'),
    },
    'clients-list': {
      success: async () => api('GET /v1/clients', { token: await tokenOf('operator') }),
      refused: () => asSupervisor('GET /v1/clients?size=0'),
    },
    'catalog-products-list': {
      success: () => asSupervisor(`GET /v1/catalogs/${did}/products?catalog_id=600000000000001`),
      refused: () => asSupervisor(`GET /v1/catalogs/${did}/products`),
    },
    'messages-report': {
      success: async () => {
        const sent = await send();
        return await asSupervisor(`GET /v1/template/messages/${did}/${sent.headers.get('dispatch-id')}`);
      },
      refused: () => asSupervisor(`GET /v1/template/messages/${did}/01KAH00000000000000000000A?state=lost`),
    },
    'messages-cancel': {
      success: async () => {
        const sent = await send();
        return await asSupervisor(`DELETE /v1/template/messages/${did}/${sent.headers.get('dispatch-id')}`);
      },
      refused: () => asSupervisor(`DELETE /v1/template/messages/${did}/01KAH00000000000000000000A?client_id=abc`),
    },
    'messages-retry': {
      success: async () => {
        const failing = String(recipient + 1);
        await platform('POST /_control/faults', { match: { to: failing }, action: { code: 132069 }, times: 1 });
        const bodies = Array.from({ length: 11 }, () => sendBody());
        const recipients = bodies.flatMap((body) => body['recipients'] as object[]);
        const sent = await asSupervisor(`POST /v1/template/messages/${did}`, { body: { ...bodies[0], recipients } });
        const dispatch = `/v1/template/messages/${did}/${sent.headers.get('dispatch-id')}`;
        return await eventually('it may be retried', async () => {
          const reply = await asSupervisor(`POST ${dispatch}/retry`);
          return reply.body.code === 'nothing_to_retry' ? undefined : reply;
        });
      },
      refused: () => asSupervisor(`POST /v1/template/messages/${did}/01KAH00000000000000000000A/retry?client_id=abc`),
    },
    'dispatches-list': {
      success: () => asSupervisor(`GET /v1/template/messages/${did}`),
      refused: () => asSupervisor(`GET /v1/template/messages/${did}?limit=0`),
    },
    'dispatches-find': {
      success: () => asSupervisor('GET /v1/dispatches'),
      refused: () => asSupervisor('GET /v1/dispatches?state=lost'),
    },
    'dispatches-cancel': {
      success: () => asSupervisor('DELETE /v1/dispatches?campaign_id=11'),
      refused: () => asSupervisor('DELETE /v1/dispatches'),
    },
    'pricing-get': {
      success: () => asSupervisor('GET /v1/pricing?market=AR&category=Marketing'),
      refused: () => asSupervisor('GET /v1/pricing'),
    },
    'spend-get': {
      success: () => asSupervisor('GET /v1/spend?group=market'),
      refused: () => asSupervisor('GET /v1/spend?group=planet'),
    },
    'opt-outs-put': {
      success: () => asSupervisor('PUT /v1/opt-outs/5491155550088'),
      refused: () => asSupervisor('PUT /v1/opt-outs/nobody'),
    },
    'opt-outs-delete': {
      success: () => asSupervisor('DELETE /v1/opt-outs/5491155550088'),
      refused: () => asSupervisor('DELETE /v1/opt-outs/nobody'),
    },
    'opt-outs-list': {
      success: () => asSupervisor('GET /v1/opt-outs'),
      refused: () => asSupervisor('GET /v1/opt-outs?limit=0'),
    },
    'webhook-config-put': {
      success: () =>
        asSupervisor('PUT /v1/webhook/config', { body: { url: 'https://hooks.example.com/', active: false } }),
      refused: () => asSupervisor('PUT /v1/webhook/config', { body: {} }),
    },
    'webhook-config-get': {
      success: () => asSupervisor('GET /v1/webhook/config'),
      refused: () => asSupervisor('GET /v1/webhook/config?client_id=abc'),
    },
    'channel-campaigns-grouped': assignments('GET', '-grouped'),
    'channel-campaigns-add': assignments('POST'),
    'channel-campaigns-replace': assignments('PUT'),
    'channel-campaigns-remove': assignments('DELETE'),
  };
  /** No channel or campaign is ever assigned to this template. */
  function assignments(method: string, suffix = '') {
    const route = (query = '') => `${method} /v1/templates/${templateId}/channel-campaigns${suffix}${query}`;
    return { success: () => asSupervisor(route()), refused: () => asSupervisor(route('?client_id=abc')) };
  }
  const built = routes.filter(({ operation }) => builtOperations().includes(operation));

  test('every route that is built is asked here', () => {
    expect(Object.keys(asked).sort()).toEqual(built.map(({ operation }) => operation).sort());
  });

  test.each(built.map(({ operation }) => operation))('%s', async (operation) => {
    const success = await asked[operation]?.success();
    const refused = await asked[operation]?.refused();
    const isPublic = built.find((route) => route.operation === operation)?.public === true;
    for (const reply of [success, refused]) expect(reply?.headers.has('x-ratelimit-limit')).toBe(!isPublic);
    // A browser is redirected without a body.
    if (operation === 'redirect') {
      expect(success).toMatchObject({ status: 302, text: '' });
      expectRefusal(refused as ApiReply, 404, 'redirect_not_found');
      return;
    }
    if (operation === 'platform-webhook-verify') {
      expect(success).toMatchObject({ status: 200, text: '7' });
      expectRefusal(refused as ApiReply, 403, 'verification_refused');
      return;
    }
    expect(success?.status).toBe(operation === 'channel-campaigns-add' ? 201 : 200);
    expect(success?.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(success?.body).toEqual(expect.any(Object));
    // No client can make /health refuse.
    if (operation === 'health') expect(refused).toMatchObject({ status: 200, text: success?.text });
    else expectRefusal(refused as ApiReply, operation === 'platform-webhook-receive' ? 401 : 400);
  });
});

describe('a token that ends while the gateway remembers it (D3, R34)', () => {
  test('is refused by the function, with the gateway’s own text', async () => {
    const lifeSeconds = 4;
    const signing = await signingKey((await target.secrets.read(target.secretName('TOKEN_SIGNING_KEYS_SECRET'))) ?? '');
    const { iss, aud, sub, cid } = JSON.parse(
      Buffer.from((await tokenOf('supervisor1001')).split('.')[1] ?? '', 'base64url').toString(),
    );
    const issuedAtMs = Date.now() - (tokenLifetimeSeconds - lifeSeconds) * 1_000;
    const token = await issueToken(
      signing,
      { issuer: iss, audience: aud },
      { userId: sub, clientId: cid, permissions: [], tokenId: randomUUID(), nowMs: issuedAtMs },
    );
    expect(await api('GET /v1/templates', { token })).toMatchObject({ status: 200 });
    const ended = await eventually('the token ends', async () => {
      const reply = await api('GET /v1/templates', { token });
      return reply.status === 200 ? undefined : reply;
    });
    // The function's 401 has a code and the authorizer's has none, so the authorizer was not asked again.
    expect(ended).toMatchObject({ status: 401, body: { message: 'Unauthorized', code: 'unauthorized' } });
  });
});

import { randomUUID } from 'node:crypto';
import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { routes } from '../../infra/routes.ts';
import { issueToken, tokenLifetimeSeconds } from '../../lib/access/tokens/token.ts';
import { signingKey } from '../../lib/access/tokens/token-keys.ts';
import { questionKey } from '../../lib/messages/items.ts';
import { redirectCode } from '../../lib/redirects/code.ts';
import { redirectStore } from '../../lib/redirects/redirect-store.ts';
import { factKey } from '../../lib/templates/model/items.ts';
import { documentId, templateKey } from '../../lib/templates/model/template-key.ts';
import { templateStore } from '../../lib/templates/model/template-store.ts';
import { type ApiReply, type ApiRequest, api, eventually, platform, synchronize, tokenOf } from '../support/api.ts';
import { builtOperations } from '../support/built-operations.ts';
import { eraseTemplate } from '../support/erase-template.ts';
import { demoApp, signedWebhook } from '../support/platform-webhook.ts';
import { runningTarget } from '../support/running-target.ts';
import { makeTemplate } from '../support/templates.ts';

const did = '5491100000001';
const target = runningTarget();
let recipient = 549_500_000_000;
let templateId: string;

beforeAll(async () => {
  await synchronize('supervisor1001');
  templateId = (await asSupervisor('GET /v1/templates?campaign_name=Unassigned&fields=id&size=1')).body.data[0].id;
});
afterEach(async () => {
  await platform('DELETE /_control/faults');
});

async function asSupervisor(route: string, request: ApiRequest = {}): Promise<ApiReply> {
  return api(route, { token: await tokenOf('supervisor1001'), ...request });
}

function sendBody(template = { name: 'order_update', language: 'en_US' }): Record<string, unknown> {
  recipient += 1;
  const recipients = [{ to: String(recipient), params: { body: ['Ana', 'A-1'], buttons: ['A-1'] } }];
  return { did, type: 'template', channel: 'MESSAGING', template, recipients };
}

const send = (body: unknown = sendBody(), headers?: ApiRequest['headers']) =>
  asSupervisor(`POST /v1/template/messages/${did}`, { body, ...(headers === undefined ? {} : { headers }) });
/**
 * `afterAll` removes these templates. The store knows the forgotten one and the platform does not, so that it can be
 * deleted.
 */
const traces = {
  forgotten: `forgotten_${randomUUID().replaceAll('-', '_')}`,
  created: `created_${randomUUID().replaceAll('-', '_')}`,
};

afterAll(async () => {
  await platform(`DELETE /_control/templates/${createdId}`);
  for (const name of Object.values(traces)) await eraseTemplate(target, name);
});

let createdId = '';

async function forgottenTemplate(): Promise<string> {
  const wabaId = '200000000000001';
  const template = makeTemplate({ name: traces.forgotten, id: '1' });
  const templates = templateStore(target.documentClient, target.tableName('templates'));
  await templates.refresh({ wabaId, clientIds: [1001] }, template, Date.now());
  return documentId({ templateKey: templateKey({ wabaId, ...template }), clientId: 1001, sequence: 0 });
}

async function ownTemplate(): Promise<{ readonly id: string; readonly components: unknown }> {
  const { body } = await asSupervisor('GET /v1/templates?name=order_update&campaign_name=Unassigned');
  return { id: body.data[0].id, components: body.data[0].platform_template.components };
}

const synchronizeOnce = () => asSupervisor('POST /v1/templates/sync-from-platform');

/** A refusal of the service has these keys and no others, and nothing internal (D1, R5). */
function expectRefusal(reply: ApiReply, status: number, code?: string): void {
  expect([reply.status, reply.body?.code]).toEqual([status, code ?? expect.stringMatching(/^[a-z_]+$/)]);
  expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
  expect(reply.body.message).toEqual(expect.stringMatching(/\w/));
  const optional = Object.keys(reply.body).filter((key) => !['message', 'code'].includes(key));
  for (const key of optional) expect(['errors', 'platform_code']).toContain(key);
  for (const fault of reply.body.errors ?? []) expect(Object.keys(fault).sort()).toEqual(['message', 'path']);
  expect(reply.text).not.toMatch(
    /\n\s+at |\.ts:|\.mjs:|node:|node_modules|Exception|ECONN|127\.0\.0\.1|<html|fbtrace/i,
  );
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
      success: async () => asSupervisor(`DELETE /v1/templates/${did}/${await forgottenTemplate()}`),
      refused: () => asSupervisor(`DELETE /v1/templates/${did}/x?client_id=abc`),
    },
    'templates-sync': {
      success: () =>
        eventually('the lock is free', async () => {
          const reply = await synchronizeOnce();
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
        const sent = await asSupervisor(`POST /v1/template/messages/${did}`, { body: sendBody() });
        return await asSupervisor(`GET /v1/template/messages/${did}/${sent.headers.get('dispatch-id')}`);
      },
      refused: () => asSupervisor(`GET /v1/template/messages/${did}/01KAH00000000000000000000A?state=lost`),
    },
    'messages-cancel': {
      success: async () => {
        const sent = await asSupervisor(`POST /v1/template/messages/${did}`, { body: sendBody() });
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

describe('bodies are JSON whatever they are called (D6, R7)', () => {
  const types = [
    undefined,
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/vnd.api+json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/octet-stream',
    'multipart/form-data; boundary=x',
    'nonsense',
  ];
  // Without a text type the gateway passes the body to the function in base64.
  const typed = (type: string | undefined, value: unknown) => ({
    body: new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value)),
    headers: type === undefined ? {} : { 'content-type': type },
  });

  test.each(types)('content type %s', async (type) => {
    const login = { username: 'operator', password: 'demo-operator' };
    expect(await api('POST /login', typed(type, login))).toMatchObject({ status: 200, body: { access: true } });
    const sent = await asSupervisor(`POST /v1/template/messages/${did}`, typed(type, sendBody()));
    expect(sent).toMatchObject({ status: 200, text: '{"success":true}' });
    const foreign = await asSupervisor('POST /v1/templates/sync-from-platform', typed(type, { client_id: 1002 }));
    expectRefusal(foreign, 403, 'cross_client_forbidden');
  });

  const malformed = [
    '{',
    '{"a":1,}',
    "{'a':1}",
    '{"a":1}{',
    'a=1&b=2',
    '<a/>',
    'undefined',
    'NaN',
    '\u0000',
    '\ufeff{}',
    '{"a":"\n"}',
    '['.repeat(60_000),
    '{"__proto__":{"did":"1"}}',
    '{"constructor":{"prototype":{"did":"1"}}}',
  ];
  // The first type passes text to the function, the second base64.
  test.each(['application/json', undefined])('malformed bodies of content type %s', async (type) => {
    for (const text of malformed) {
      const bodies = [
        await asSupervisor(`POST /v1/template/messages/${did}`, typed(type, text)),
        await asSupervisor('POST /v1/templates/sync-from-platform', typed(type, text)),
      ];
      for (const reply of bodies) expectRefusal(reply, 400);
    }
  });

  test.each(['null', '[]', '"text"', '5', 'true'])('%s is JSON and no object: 400', async (text) => {
    expectRefusal(await asSupervisor(`POST /v1/template/messages/${did}`, { body: text }), 400, 'malformed_body');
    expectRefusal(await asSupervisor('POST /v1/templates/sync-from-platform', { body: text }), 400, 'malformed_body');
  });

  test('bytes that are no UTF-8 are 400, and so is UTF-16', async () => {
    for (const body of [Buffer.from([0xff, 0xfe, 0x7b]), Buffer.from('{"a":1}', 'utf16le')]) {
      expectRefusal(await asSupervisor(`POST /v1/template/messages/${did}`, { body }), 400, 'malformed_body');
      expectRefusal(await api('POST /login', { body }), 400, 'malformed_body');
    }
  });

  const deepRoutes = [
    'POST /login',
    `POST /v1/template/messages/${did}`,
    `POST /v1/template/messages/${did}/unknown/retry`,
    'PATCH /v1/templates/status',
    'POST /v1/templates/sync-from-platform',
    `POST /v1/templates/${did}`,
    `PUT /v1/templates/${did}/unknown`,
    'POST /v1/templates/unknown/channel-campaigns',
    'PUT /v1/templates/unknown/channel-campaigns',
    'PUT /v1/webhook/config',
  ];
  test.each(deepRoutes)('%s: JSON nested deeper than 32 levels is 400 (D6)', async (route) => {
    for (const levels of [33, 1_000]) {
      const body = `{"components":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
      const reply = await asSupervisor(route, { body });
      expectRefusal(reply, 400, 'malformed_body');
      expect(reply.body.message).toBe('the request body must not nest deeper than 32 levels');
    }
  });

  const didRoutes = [
    'POST /v1/template/messages/{did}',
    'POST /v1/template/messages/{did}/unknown/retry',
    'POST /v1/templates/{did}',
    'PUT /v1/templates/{did}/unknown',
    'DELETE /v1/templates/{did}/unknown',
    'GET /v1/catalogs/{did}/products?catalog_id=1',
  ];
  test.each(didRoutes)('%s: a blank DID is 400 (D5)', async (route) => {
    for (const blank of ['%20', '%20%09%0A', '%C2%A0']) {
      const body = route.startsWith('GET') ? {} : { body: { did: ' ', components: [] } };
      const reply = await asSupervisor(route.replace('{did}', blank), body);
      expectRefusal(reply, 400, 'invalid_request');
      expect(reply.body.message).toBe('did is required');
    }
  });

  test('a body deep enough to break a parser is refused, and the next request is answered', async () => {
    const deep = `{"did":"${did}","attends":{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}}`;
    expectRefusal(await send(deep), 400);
    expect(await send()).toMatchObject({ status: 200 });
  });

  test('a login that is not understood is 401 with nothing in it, however large or odd', async () => {
    const odd = [
      JSON.stringify({ username: 'x'.repeat(3_000), password: 'x' }),
      '{"__proto__":{"username":"operator","password":"demo-operator"}}',
    ];
    for (const body of odd) {
      const { status, text } = await api('POST /login', { body });
      expect({ status, text }).toEqual({ status: 401, text: '' });
    }
    expectRefusal(await api('POST /login', { body: `{"username":${'['.repeat(32)}${']'.repeat(32)}}` }), 400);
  });

  test('a body is measured before it is parsed, by the limit of its route (D6)', async () => {
    const supervisor = await tokenOf('supervisor1001');
    const limits: readonly (readonly [route: string, maxBytes: number])[] = [
      ['POST /login', 4_096],
      [`POST /v1/template/messages/${did}/unknown/retry`, 65_536],
      ['POST /v1/templates/sync-from-platform', 65_536],
      ['POST /v1/templates/unknown/channel-campaigns', 65_536],
      ['PUT /v1/templates/unknown/channel-campaigns', 65_536],
      ['PUT /v1/webhook/config', 65_536],
      ['PATCH /v1/templates/status', 262_144],
      [`POST /v1/templates/${did}`, 1_048_576],
      [`PUT /v1/templates/${did}/unknown`, 1_048_576],
    ];
    for (const [route, maxBytes] of limits) {
      for (const type of ['application/json', 'application/octet-stream']) {
        const reply = (bytes: number) =>
          api(route, { token: supervisor, body: '{'.repeat(bytes), headers: { 'content-type': type } });
        expectRefusal(await reply(maxBytes + 1), 413, 'payload_too_large');
        expectRefusal(await reply(maxBytes), 400, 'malformed_body');
      }
    }
  });
});

describe('what the gateway answers by itself (R5)', () => {
  const gatewayAnswer = (reply: ApiReply) => ({ status: reply.status, text: reply.text });

  test.each([
    'GET /v1/templates/',
    `PATCH /v1/template/messages/${did}`,
    `POST /v1/template/messages/${did}/more`,
    'OPTIONS /login',
    'PUT /login',
  ])('%s is 404', async (route) => {
    const reply = await asSupervisor(route);
    expect(gatewayAnswer(reply)).toEqual({ status: 404, text: '{"message":"Not Found"}' });
    expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
  });

  test('HEAD has no route of its own', async () => {
    expect(gatewayAnswer(await asSupervisor('HEAD /health'))).toEqual({ status: 404, text: '' });
  });

  test.each([6.3, 9.9])('a body of %f MB is more than a function takes: 413', async (megabytes) => {
    const body = 'x'.repeat(megabytes * 1_000_000);
    for (const type of ['text/plain', 'application/octet-stream']) {
      const reply = await send(body, { 'content-type': type });
      expect(gatewayAnswer(reply)).toEqual({ status: 413, text: '{"message":"Request Entity Too Large"}' });
    }
  });

  test('a body of 6 MB reaches the function, which says what is wrong with it', async () => {
    expectRefusal(await send('x'.repeat(6_000_000), { 'content-type': 'text/plain' }), 400, 'malformed_body');
  });

  test('request line and header values over 10,240 bytes are 431; a little less is served', async () => {
    const withHeader = (bytes: number) => api('GET /health', { headers: { 'x-filler': 'x'.repeat(bytes) } });
    expect(await withHeader(9_500)).toMatchObject({ status: 200 });
    const over = await withHeader(10_240);
    expect(gatewayAnswer(over)).toEqual({ status: 431, text: '{"message":"Request Header Fields Too Large"}' });
    expect((await asSupervisor(`GET /v1/templates?search=${'x'.repeat(10_240)}`)).status).toBe(431);
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

describe('the platform is down (D7, D23)', () => {
  const failures: [string, Record<string, unknown>][] = [
    ['closes the connection', { drop: 'before' }],
    ['answers with a page', { html: true }],
    ['refuses our credential', { code: 190 }],
  ];
  let names = 0;
  /** Each name is new, because the service remembers a 404 for 10 s (D23). */
  const unknownHere = () => sendBody({ name: `never_stored_${++names}`, language: 'en_US' });

  test.each(failures)('%s: 502 for what must be asked', async (_, action) => {
    await platform('POST /_control/faults', { match: { path: 'message_templates' }, action });
    expectRefusal(await send(unknownHere()), 502, 'platform_unreachable');
    const refused = await eventually('the lock is free', async () => {
      const reply = await synchronizeOnce();
      return reply.status === 409 ? undefined : reply;
    });
    expectRefusal(refused, 502, 'platform_unreachable');
    // The refused synchronization has released its lease.
    expectRefusal(await synchronizeOnce(), 502, 'platform_unreachable');
    await platform('DELETE /_control/faults');
    expect(await send(unknownHere())).toMatchObject({ status: 404 });
  });

  test('does not answer in time: 502', async () => {
    await platform('POST /_control/faults', {
      match: { path: 'message_templates' },
      action: { delay_ms: 30_000, drop: 'before' },
    });
    expectRefusal(await send(unknownHere()), 502, 'platform_unreachable');
  });

  test('limits the rate: 429 with Retry-After', async () => {
    await platform('POST /_control/faults', { match: { path: 'message_templates' }, action: { code: 80008 } });
    for (const reply of [await send(unknownHere()), await synchronizeOnce()]) {
      expectRefusal(reply, 429, 'platform_rate_limited');
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  test('refuses what is asked: 400 with its code', async () => {
    const id = await forgottenTemplate();
    await platform('POST /_control/faults', { match: { path: 'message_templates' }, action: { code: 100 } });
    const remove = () => asSupervisor(`DELETE /v1/templates/${did}/${id}`);
    for (const reply of [await send(unknownHere()), await synchronizeOnce(), await remove()]) {
      expectRefusal(reply, 400, 'platform_refused');
      expect(reply.body.platform_code).toBe(100);
    }
  });

  test('a stored copy that has grown old is used, and the answer says so', async () => {
    const key = templateKey({ wabaId: '200000000000001', name: 'order_update', language: 'en_US' });
    await target.documentClient.send(
      new UpdateCommand({
        TableName: target.tableName('templates'),
        Key: factKey(key),
        UpdateExpression: 'SET readAtMs = readAtMs - :sixMinutes',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':sixMinutes': 360_000 },
      }),
    );
    await platform('POST /_control/faults', { match: { path: 'message_templates' }, action: { drop: 'before' } });
    const warned = await send();
    expect(warned).toMatchObject({ status: 200, body: { success: true, warning: expect.stringContaining('stored') } });
    await platform('DELETE /_control/faults');
    // The service asks the platform once in 10 s, and answers from the copy until then.
    expect(await send()).toMatchObject({ status: 200, body: warned.body });
    // Deleting the question ends the 10 s for the tests that send next.
    const Key = questionKey(`renewal ${key}`);
    await target.documentClient.send(new DeleteCommand({ TableName: target.tableName('messages'), Key }));
    expect(await send()).toMatchObject({ status: 200, text: '{"success":true}' });
  });
});

import { beforeAll, describe, expect, test } from 'vitest';
import { routes } from '../../infra/routes.ts';
import { api, synchronize, tokenOf } from '../support/api.ts';
import { builtOperations } from '../support/built-operations.ts';
import { clients, dids, onDeployedStage } from '../support/demo.ts';

/*
 * An operator names a client that does not exist, or none where one is needed (D4). Each route is tried: a new one
 * needs a line here, or a reason to have no client.
 */

const ofNoClient: ReadonlySet<string> = new Set(['pricing-get']);

const did = dids.andes;
const template = { name: 'nobody_has_this', language: 'en_US' };
const components = [{ type: 'BODY', text: 'Hello' }];
const send = {
  did,
  type: 'template',
  channel: 'MESSAGING',
  template,
  recipients: [{ to: '5491155550001' }],
};

/** Each route needs these beside a client. */
const requests: Readonly<
  Record<string, { readonly query?: string; readonly body?: Readonly<Record<string, unknown>> }>
> = {
  'messages-send': { body: send },
  'messages-report': {},
  'messages-cancel': {},
  'messages-retry': {},
  'dispatches-list': {},
  'dispatches-find': {},
  'dispatches-cancel': { query: 'campaign_id=999' },
  'templates-list': {},
  'templates-get': {},
  me: {},
  'clients-list': {},
  'campaigns-list': {},
  'templates-status': { body: { action: 'enable', templates: ['x'] } },
  'templates-sync': { body: {} },
  'templates-create': { body: { ...template, category: 'UTILITY', components } },
  'templates-edit': { body: { components } },
  'templates-delete': {},
  'channel-campaigns-grouped': {},
  'channel-campaigns-add': { body: { channel_campaigns: [] } },
  'channel-campaigns-replace': { body: { channel_campaigns: [] } },
  'channel-campaigns-remove': {},
  'channels-list': {},
  'catalogs-list': {},
  'catalog-products-list': { query: 'catalog_id=600000000000001' },
  'webhook-config-put': { body: { url: 'https://hooks.example.com/unknown-client', active: false } },
  'webhook-config-get': {},
  'spend-get': {},
  'opt-outs-put': {},
  'opt-outs-delete': {},
  'opt-outs-list': {},
};

/** Opt-outs have no time to live, and would stay on a deployed stage. */
const staying: ReadonlySet<string> = new Set(onDeployedStage ? ['opt-outs-put', 'opt-outs-delete'] : []);

const working = routes.filter(
  ({ public: isPublic, operation }) =>
    isPublic !== true && builtOperations().includes(operation) && !ofNoClient.has(operation) && !staying.has(operation),
);

interface Named {
  readonly clientId?: number;
  readonly in?: 'query' | 'body';
  readonly did?: string;
  readonly templateId?: string;
}

async function ask({ method, path, operation }: (typeof routes)[number], named: Named) {
  const { query, body } = requests[operation] ?? {};
  const address = path
    .replace('{did}', named.did ?? did)
    .replace('{recipient}', '5491155550087')
    .replace('{dispatchId}', '01KAH00000000000000000000A')
    .replace('{messageTemplateId}', named.templateId ?? 'nothing-rt-0');
  const inQuery = named.clientId === undefined || named.in === 'body' ? undefined : `client_id=${named.clientId}`;
  const inBody = named.in === 'body' ? { client_id: named.clientId } : {};
  const search = [query, inQuery].filter((part) => part !== undefined).join('&');
  const didInBody = operation === 'messages-send' && named.did !== undefined ? { did: named.did } : {};
  return await api(`${method} ${address}${search === '' ? '' : `?${search}`}`, {
    token: await tokenOf('operator'),
    ...(body === undefined ? {} : { body: { ...body, ...didInBody, ...inBody } }),
  });
}

test('every route is asked', () => {
  expect(working.filter(({ operation }) => requests[operation] === undefined)).toEqual([]);
  expect(working.length).toBeGreaterThanOrEqual(15);
});

describe.each(working.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', (_, route) => {
  const places = requests[route.operation]?.body === undefined ? (['query'] as const) : (['query', 'body'] as const);

  test.each(places)('a client that does not exist, named in the %s: 400', async (place) => {
    expect(await ask(route, { clientId: 987_654_321, in: place })).toMatchObject({
      status: 400,
      body: {
        message: 'invalid client_id: 987654321',
        code: 'invalid_client_id',
        errors: [{ path: 'client_id', message: 'invalid client_id: 987654321' }],
      },
    });
  });

  test('a client that exists is not refused as unknown', async () => {
    const reply = await ask(route, { clientId: clients.operator });
    expect(reply.body?.code).not.toBe('invalid_client_id');
  });
});

const advice = 'pass client_id to work for another client than your own';

describe('no client named, and the own one cannot use what is named', () => {
  let templateId: string;
  beforeAll(async () => {
    await synchronize('supervisor1001');
    const { body } = await api(`GET /v1/templates?client_id=${clients.andes}&size=1`, {
      token: await tokenOf('operator'),
    });
    templateId = body.data[0].id;
  });

  const ofDid = { status: 403, code: 'did_forbidden', message: 'the did is outside the WABA hierarchy of the client' };
  const ofDispatch = { status: 404, code: 'dispatch_not_found', message: 'dispatch not found' };
  const withDid = working.filter(({ path }) => path.includes('{did}'));
  test.each(withDid.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s: the refusal of the DID or of the dispatch on it says so, and no more',
    async (_, route) => {
      const [ofSomebody, ofNobody] = [await ask(route, {}), await ask(route, { did: '5499999999999' })];
      // A dispatch belongs to its client, whatever became of the DID. Only a retry sends from the DID, and needs it.
      const isTold = route.path.includes('{dispatchId}') && route.operation !== 'messages-retry';
      const { status, code, message } = isTold ? ofDispatch : ofDid;
      expect(ofSomebody).toMatchObject({ status, body: { code, message: `${message}; ${advice}` } });
      expect(ofNobody.text).toBe(ofSomebody.text);
      const named = await ask(route, { clientId: clients.operator });
      expect(named.body.message).toBe(message);
    },
  );

  const withTemplate = working.filter(({ path }) => path.includes('{messageTemplateId}') && !path.includes('{did}'));
  test.each(withTemplate.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s: the 404 of the template says so, and no more',
    async (_, route) => {
      const [ofSomebody, ofNobody] = [await ask(route, { templateId }), await ask(route, {})];
      expect(ofSomebody).toMatchObject({
        status: 404,
        body: { code: 'template_not_found', message: `template not found; ${advice}` },
      });
      expect(ofNobody.text).toBe(ofSomebody.text);
      expect((await ask(route, { templateId, clientId: clients.operator })).body.message).toBe('template not found');
    },
  );
});

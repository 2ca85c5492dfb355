import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { syncLockStore } from '../../lib/templates/sync/sync-lock-store.ts';
import { type ApiReply, api, type DemoUser, eventually, synchronize, tokenOf } from '../support/api.ts';
import { runningTarget } from '../support/running-target.ts';

/*
 * Every route that works for a client, called by every kind of caller, for every client, in every place and spelling of
 * client_id, on every kind of DID (R36). What must come back is decided by the rules below, which are those of D4 and D5
 * and know nothing of the code: who (400, 403), then the DID (403), then what is there.
 */

interface Caller {
  readonly user: DemoUser;
  readonly clientId: number;
  readonly crossClient: boolean;
}

const callers: readonly Caller[] = [
  { user: 'supervisor1001', clientId: 1001, crossClient: false },
  { user: 'supervisor1002', clientId: 1002, crossClient: false },
  { user: 'operator', clientId: 1, crossClient: true },
];

/** Where client_id stands and what it says; `means` is the client it asks for, or the text that the 400 shows. */
interface Asked {
  readonly query?: string;
  readonly body?: unknown;
  readonly means: number | undefined | { readonly refusedAs: string };
}

const long = '9'.repeat(2_500);
const existing = [1, 1001, 1002];
const clients = [...existing, 7777];
const inQuery: readonly Asked[] = [
  { means: undefined },
  ...clients.map((id) => ({ query: `client_id=${id}`, means: id })),
  ...[
    'abc',
    '',
    '0',
    '-1001',
    '1001.0',
    '1e3',
    '0x3E9',
    '01001',
    ' 1001',
    '9007199254740992',
    "1' OR '1'='1",
    '１００１',
  ].map((text) => ({ query: `client_id=${encodeURIComponent(text)}`, means: { refusedAs: text } })),
  { query: 'client_id=1001&client_id=1001', means: { refusedAs: '1001,1001' } },
  { query: 'client_id=1001&client_id=1002', means: { refusedAs: '1001,1002' } },
  { query: `client_id=${long}`, means: { refusedAs: `${long.slice(0, 97)}...` } },
];
const inBody: readonly Asked[] = [
  ...clients.map((id) => ({ body: id, means: id })),
  ...['1001', '', true, null, 1001.5, -1001, 0, 2 ** 53, [1001], { $ne: 1 }].map((value) => ({
    body: value,
    means: { refusedAs: typeof value === 'string' ? value : JSON.stringify(value) },
  })),
  { query: 'client_id=1001', body: 1001, means: 1001 },
  { query: 'client_id=1002', body: 1002, means: 1002 },
  { query: 'client_id=1001', body: 1002, means: { refusedAs: '1001 in the query, 1002 in the body' } },
];

const crossClient = { status: 403, message: 'BSP_CN permission required for cross-client access' };

/** The refusal on account of the client (D4), or the client that the request works for. */
function clientRule(caller: Caller, { means }: Asked): { status: number; message: string } | number {
  if (typeof means === 'object') return { status: 400, message: `invalid client_id: ${means.refusedAs}` };
  if (means === undefined || means === caller.clientId) return caller.clientId;
  if (!caller.crossClient) return crossClient;
  return existing.includes(means) ? means : { status: 400, message: `invalid client_id: ${means}` };
}

/** The refusal of a DID or a template, which tells an operator who named no client to do so (D4). */
function advised(refusal: { status: number; message: string | undefined }, caller: Caller, { means }: Asked) {
  if (!caller.crossClient || means !== undefined || refusal.status < 400 || refusal.message === undefined)
    return refusal;
  return { ...refusal, message: `${refusal.message}; pass client_id to work for another client than your own` };
}

const namesOf = (asked: Asked) =>
  [asked.query, 'body' in asked ? `body ${JSON.stringify(asked.body)}` : undefined].filter(Boolean).join(' and ') ||
  'no client_id';
const short = (text: string) => (text.length > 60 ? `${text.slice(0, 57)}...` : text);
const withQuery = (path: string, { query }: Asked) => (query === undefined ? path : `${path}?${query}`);
const inTheBody = (asked: Asked) => ('body' in asked ? { client_id: asked.body } : {});
const matrix = (asked: readonly Asked[]) =>
  callers.flatMap((caller) => asked.map((one) => [caller.user, short(namesOf(one)), caller, one] as const));
const shown = ({ status, body }: ApiReply) => ({ status, message: body?.message });

/** Every text that belongs to client 1002 alone: names and ids of the second WABA, its own DIDs, its document ids. */
let foreignTexts: readonly string[];
const answersTo1001: string[] = [];

async function call(caller: Caller, route: string, body?: unknown): Promise<ApiReply> {
  const reply = await api(route, { token: await tokenOf(caller.user), ...(body === undefined ? {} : { body }) });
  if (caller.clientId === 1001) answersTo1001.push(reply.text);
  return reply;
}

beforeAll(async () => {
  await synchronize('supervisor1001');
  await synchronize('supervisor1002');
  const token = await tokenOf('operator');
  const pages = [1, 2].map((page) => api(`GET /v1/templates?client_id=1002&size=100&page=${page}`, { token }));
  const templates = (await Promise.all(pages)).flatMap(({ body }) => body.data);
  const own = await api('GET /v1/templates?client_id=1001&name=order_update', { token });
  documents.shared[1001] = own.body.data[0].id;
  documents.shared[1002] = templates.find(({ platform_template: { name } }) => name === 'order_update').id;
  documents.of1002 = templates.find(({ waba_id }) => waba_id === '200000000000002').id;
  foreignTexts = [
    '200000000000002',
    'Boreal',
    '600000000000002',
    ...templates.flatMap(({ id, waba_id, platform_template: { id: platformId, name } }) =>
      waba_id === '200000000000002' ? [id, platformId, name] : [id],
    ),
  ];
});

describe('POST /v1/template/messages/{did}', () => {
  /** Nobody has this template: a 404 says that client and DID were accepted, and nothing is sent. */
  const accepted = { status: 404, message: 'no template for the requested name/language' };
  const outside = { status: 403, message: 'the did is outside the WABA hierarchy of the client' };
  const send = (caller: Caller, did: string, asked: Asked = { means: undefined }, path = encodeURIComponent(did)) =>
    call(caller, `POST ${withQuery(`/v1/template/messages/${path}`, asked)}`, {
      did,
      type: 'template',
      channel: 'MESSAGING',
      template: { name: 'tenancy_probe', language: 'en_US' },
      recipients: [{ to: '549400000001' }],
      ...inTheBody(asked),
    });

  /** Clients that may use each DID: those of its WABA (D5). */
  const dids: readonly [what: string, did: string, clients: readonly number[]][] = [
    ['of client 1001, shared WABA', '5491100000001', [1001, 1002]],
    ['of client 1002, shared WABA', '5491100000002', [1001, 1002]],
    ['of the WABA of client 1002', '5511900000003', [1002]],
    ['nobody has', '5499999999999', []],
    ['with a blank', '5491100000001 ', []],
    ['with a plus', '+5491100000001', []],
    ['with slashes', '../../login', []],
    ['with the key separator', '5491100000001#DID', []],
    ['with a percent sign', '%35491100000001', []],
    ['with a null character', '5491100000001\u0000', []],
    ['of other digits', '５４９１１００００００１', []],
    ['of quotes and braces', `"'{}[]<>$(x)`, []],
    ['of emoji', '🙂🙂', []],
    ['of a prototype', '__proto__', []],
    ['of 64 characters', '5'.repeat(64), []],
  ];
  const didRule = (clientId: number, mayUse: readonly number[], caller: Caller, asked: Asked) =>
    mayUse.includes(clientId) ? accepted : advised(outside, caller, asked);

  test.each(matrix([...inQuery, ...inBody]))('%s, %s, own DID', async (_user, _asked, caller, asked) => {
    const client = clientRule(caller, asked);
    const expected = typeof client === 'number' ? didRule(client, [1001, 1002], caller, asked) : client;
    expect(shown(await send(caller, '5491100000001', asked))).toEqual(expected);
  });

  const everyDid = callers.flatMap((caller) =>
    [undefined, 1001, 1002].flatMap((means) =>
      dids.map(
        ([what, did, mayUse]) => [caller.user, means ?? 'no client_id', what, { caller, means, did, mayUse }] as const,
      ),
    ),
  );
  test.each(everyDid)('%s for %s, a DID %s', async (_user, _means, _what, { caller, means, did, mayUse }) => {
    const asked = means === undefined ? { means } : { body: means, means };
    const client = clientRule(caller, asked);
    const expected = typeof client === 'number' ? didRule(client, mayUse, caller, asked) : client;
    expect(shown(await send(caller, did, asked))).toEqual(expected);
  });

  test.each([
    ['of another DID', '5491100000002', 422],
    ['very long', '5'.repeat(2_500), 422],
    ['percent-encoded', [...'5491100000001'].map((digit) => `%3${digit}`).join(''), 404],
    ['with an encoded slash', '5491100000001%2F', 422],
    ['encoded twice', '%2535491100000001', 422],
    ['with a parameter', '5491100000001;client_id=1002', 422],
  ])('a path %s -> %i', async (_, path, status) => {
    const [caller] = callers as [Caller];
    expect((await send(caller, '5491100000001', { means: undefined }, path)).status).toBe(status);
  });

  test('a did of 2,500 characters is refused by its length', async () => {
    const [caller] = callers as [Caller];
    const reply = await send(caller, '5'.repeat(2_500));
    expect(reply).toMatchObject({ status: 400, body: { errors: [{ path: 'did' }] } });
  });
});

describe('POST /v1/templates/sync-from-platform', () => {
  const { documentClient, tableName } = runningTarget();
  const locks = syncLockStore(documentClient, tableName('templates'));
  let held: Awaited<ReturnType<typeof locks.acquire>>;

  // While somebody holds the lock, every caller who may synchronize is told so and nothing runs.
  beforeAll(async () => {
    held = await eventually('the lock is free', () =>
      locks.acquire({ name: 'sync', owner: 'tenancy test', contender: 'test', nowMs: Date.now() }),
    );
  });
  afterAll(async () => {
    if (held !== undefined) await locks.release(held, Date.now());
  });

  test.each(matrix([...inQuery, ...inBody]))('%s, %s', async (_user, _asked, caller, asked) => {
    const client = clientRule(caller, asked);
    const reply = await call(caller, `POST ${withQuery('/v1/templates/sync-from-platform', asked)}`, inTheBody(asked));
    expect(shown(reply)).toEqual(
      typeof client === 'number' ? { status: 409, message: 'a synchronization is already in progress' } : client,
    );
  });
});

/** Document ids of one template of the shared WABA, by client, and one of the WABA of client 1002. */
const documents = { shared: { 1001: '', 1002: '' }, of1002: '' };
const notFound = { status: 404, message: 'template not found' };

describe.each(['GET', 'POST', 'PUT', 'DELETE'])('%s channel-campaigns', (method) => {
  const path = (id: string) =>
    `/v1/templates/${encodeURIComponent(id)}/channel-campaigns${method === 'GET' ? '-grouped' : ''}`;
  const hasBody = method === 'POST' || method === 'PUT';
  const ask = (caller: Caller, id: string, asked: Asked = { means: undefined }) =>
    call(caller, `${method} ${withQuery(path(id), asked)}`, hasBody ? inTheBody(asked) : undefined);
  /** Nothing is assigned, and the lists asked for are empty: every success leaves things as they are. */
  const accepted = { status: method === 'POST' ? 201 : 200, message: undefined };

  test.each(matrix(hasBody ? [...inQuery, ...inBody] : inQuery))('%s, %s', async (_user, _asked, caller, asked) => {
    const client = clientRule(caller, asked);
    const onWaba = client === 1001 || client === 1002;
    const expected = typeof client === 'number' ? (onWaba ? accepted : advised(notFound, caller, asked)) : client;
    expect(shown(await ask(caller, documents.shared[1001], asked))).toEqual(expected);
    expect(shown(await ask(caller, documents.shared[1002], asked))).toEqual(expected);
  });

  test('a template of a WABA is there for the clients of that WABA', async () => {
    for (const caller of callers) {
      const expected = caller.clientId === 1002 ? accepted : advised(notFound, caller, { means: undefined });
      expect(shown(await ask(caller, documents.of1002))).toEqual(expected);
    }
  });

  test('an id in any other spelling is that of no template', async () => {
    const [caller] = callers as [Caller];
    const [id] = [documents.shared[1001]];
    const spellings = [
      `${id} `,
      ` ${id}`,
      `${id}0`,
      `${id}\u0000`,
      id.toUpperCase(),
      `C#1001#0`,
      '__proto__',
      long,
      '🙂',
    ];
    for (const spelling of spellings) {
      expect([short(spelling), shown(await ask(caller, spelling))]).toEqual([short(spelling), notFound]);
    }
  });
});

describe('GET /v1/templates/{messageTemplateId}', () => {
  const ask = (caller: Caller, id: string, asked: Asked = { means: undefined }) =>
    call(caller, `GET ${withQuery(`/v1/templates/${encodeURIComponent(id)}`, asked)}`);

  test.each(matrix(inQuery))('%s, %s', async (_user, _asked, caller, asked) => {
    const client = clientRule(caller, asked);
    for (const id of [documents.shared[1001], documents.shared[1002]]) {
      const reply = await ask(caller, id, asked);
      if (typeof client !== 'number') expect(shown(reply)).toEqual(client);
      else if (client === 1) expect(shown(reply)).toEqual(advised(notFound, caller, asked));
      else expect([reply.status, reply.body.client_id, reply.body.id]).toEqual([200, client, ownId(client)]);
    }
  });
  // Whichever document names it, the answer is the operating client's own.
  const ownId = (client: number) => documents.shared[client as 1001 | 1002];

  test('a template of another WABA is like one that nobody has, and so is any other spelling', async () => {
    const [caller] = callers as [Caller];
    for (const id of [documents.of1002, `${documents.shared[1001]} `, 'status', '__proto__', long]) {
      expect([short(id), shown(await ask(caller, id))]).toEqual([short(id), notFound]);
    }
  });
});

describe('GET /v1/campaigns', () => {
  const campaigns: Readonly<Record<number, readonly number[]>> = { 1001: [10, 11], 1002: [20] };

  test.each(matrix(inQuery))('%s, %s', async (_user, _asked, caller, asked) => {
    const client = clientRule(caller, asked);
    const reply = await call(caller, `GET ${withQuery('/v1/campaigns', asked)}`);
    if (typeof client !== 'number') return expect(shown(reply)).toEqual(client);
    const expected = campaigns[client] ?? [];
    expect(reply.body.data.map(({ id }: { id: number }) => id)).toEqual(expected);
    expect([reply.status, reply.body.total]).toEqual([200, expected.length]);
  });
});

describe('PATCH /v1/templates/status', () => {
  test.each(matrix([...inQuery, ...inBody]))('%s, %s', async (_user, _asked, caller, asked) => {
    const client = clientRule(caller, asked);
    // Active as everything is: who may enable it is told so.
    const ids = [documents.shared[1001], documents.shared[1002], documents.of1002];
    // Not by `call`: the answer repeats the ids that were sent, those of client 1002 too.
    const reply = await api(`PATCH ${withQuery('/v1/templates/status', asked)}`, {
      token: await tokenOf(caller.user),
      body: { action: 'enable', templates: ids, ...inTheBody(asked) },
    });
    if (typeof client !== 'number') {
      expect(shown(reply)).toEqual(client);
      return;
    }
    const reasons = reply.body.results.map(({ reason }: { reason: string }) => reason);
    const done = 'already_enabled';
    const forOperator: Readonly<Record<number, readonly string[]>> = {
      1001: [done, done, 'not_found'],
      1002: [done, done, done],
    };
    if (!caller.crossClient) {
      expect(reasons).toEqual(
        ids.map((_, index) => ((caller.clientId === 1001) === (index === 0) ? done : 'forbidden')),
      );
    } else if (asked.means === undefined) expect(reasons).toEqual([done, done, done]);
    else expect(reasons).toEqual(forOperator[client] ?? ['not_found', 'not_found', 'not_found']);
  });
});

describe('GET /v1/client-messaging-channels', () => {
  const numbers: Readonly<Record<number, readonly string[]>> = {
    1001: ['5491100000001'],
    1002: ['5491100000002', '5511900000003'],
  };

  test.each(matrix(inQuery))('%s, %s', async (_user, _asked, caller, asked) => {
    const client = clientRule(caller, asked);
    const reply = await call(caller, `GET ${withQuery('/v1/client-messaging-channels', asked)}`);
    if (typeof client !== 'number') return expect(shown(reply)).toEqual(client);
    const all = caller.crossClient && asked.means === undefined;
    const expected = all ? Object.values(numbers).flat() : (numbers[client] ?? []);
    expect(reply.body.data.map(({ wa_id }: { wa_id: string }) => wa_id)).toEqual(expected);
    expect([reply.status, reply.body.total]).toEqual([200, expected.length]);
  });

  const filters = ['wa_id', 'waba_id', 'status', 'business_id', 'business_name', 'q', 'fields'];
  const values = [
    '5511900000003',
    'Boreal',
    '200000000000002',
    '%',
    '.*',
    '__proto__',
    '\u0000',
    '🙂',
    "' OR 1=1 --",
    long,
  ];
  test.each(filters)('%s shows nothing of another client and never fails, whatever it says', async (filter) => {
    const [caller] = callers as [Caller];
    for (const value of values) {
      const reply = await call(caller, `GET /v1/client-messaging-channels?${new URLSearchParams({ [filter]: value })}`);
      expect(reply.status).toBe(200);
      for (const { wa_id } of reply.body.data) expect(wa_id ?? '5491100000001').toBe('5491100000001');
    }
  });
});

describe('GET /v1/templates', () => {
  const totals: Readonly<Record<number, number>> = { 1001: 14, 1002: 135 };

  test.each(matrix(inQuery))('%s, %s', async (_user, _asked, caller, asked) => {
    const client = clientRule(caller, asked);
    const reply = await call(caller, `GET ${withQuery('/v1/templates', asked)}`);
    if (typeof client !== 'number') expect(shown(reply)).toEqual(client);
    else if (caller.crossClient && asked.means === undefined) {
      expect(shown(reply)).toEqual({ status: 400, message: 'client_id is required' });
    } else {
      const total = caller.crossClient ? (totals[client] ?? 0) : 0;
      expect({ status: reply.status, total: reply.body.total }).toEqual({ status: 200, total });
      for (const { client_id } of reply.body.data) expect(client_id).toBe(client);
    }
  });

  test('unassigned templates are those of the own WABAs', async () => {
    for (const caller of callers.slice(0, 2)) {
      const { body } = await call(caller, 'GET /v1/templates?campaign_name=Unassigned&size=100');
      expect(body.total).toBe(totals[caller.clientId]);
      for (const { client_id } of body.data) expect(client_id).toBe(caller.clientId);
    }
  });

  const filters = ['did', 'name', 'search', 'template_platform_id', 'campaign_name', 'channel_ids', 'lang', 'fields'];
  const values = [
    '5511900000003',
    '503',
    'appointment_reminder',
    'Reminders',
    '200000000000002',
    long,
    'x'.repeat(2_500),
    '🙂'.repeat(600),
    '\u0000',
    '%',
    '__proto__',
    'constructor',
    "' OR 1=1 --",
    '.*',
  ];
  test.each(filters)('%s finds nothing of another client and never fails, whatever it says', async (filter) => {
    const [caller] = callers as [Caller];
    for (const value of values) {
      const query = new URLSearchParams({ campaign_name: 'Unassigned', [filter]: value });
      const reply = await call(caller, `GET /v1/templates?${query}`);
      expect([short(value), reply.status]).toEqual([short(value), 200]);
      // Unknown fields are as if there were none (D8); every other filter matches nothing that 1001 has.
      if (filter !== 'fields') expect([short(value), reply.body.total]).toEqual([short(value), 0]);
    }
  });
});

describe('GET /v1/catalogs/{did}/products', () => {
  const catalogs: Readonly<Record<string, string>> = {
    '5491100000001': '600000000000001',
    '5491100000002': '600000000000001',
    '5511900000003': '600000000000002',
  };
  const clientsOf: Readonly<Record<string, readonly number[]>> = {
    '5491100000001': [1001, 1002],
    '5491100000002': [1001, 1002],
    '5511900000003': [1002],
    '5499999999999': [],
  };
  const read = (caller: Caller, did: string, catalogId: string, asked: Asked = { means: undefined }) =>
    call(caller, `GET /v1/catalogs/${did}/products?catalog_id=${catalogId}&limit=1&${asked.query ?? ''}`);

  test.each(matrix(inQuery))('%s, %s', async (_user, _asked, caller, asked) => {
    const client = clientRule(caller, asked);
    for (const [did, usableBy] of Object.entries(clientsOf)) {
      const reply = await read(caller, did, catalogs[did] ?? '600000000000001', asked);
      if (typeof client !== 'number') expect([did, shown(reply)]).toEqual([did, client]);
      else expect([did, reply.status]).toEqual([did, usableBy.includes(client) ? 200 : 403]);
    }
  });

  test('a catalog of another WABA answers as one that nobody has', async () => {
    const [caller] = callers as [Caller];
    const foreign = await read(caller, '5491100000001', '600000000000002');
    expect(foreign.text).toBe((await read(caller, '5491100000001', '600000000000999')).text);
    expect(shown(foreign)).toEqual({ status: 403, message: 'the catalog is not linked to the WABA of the did' });
  });
});

describe('/v1/webhook/config', () => {
  const path = '/v1/webhook/config';

  test.each(matrix(inQuery))('GET, %s, %s', async (_user, _asked, caller, asked) => {
    const client = clientRule(caller, asked);
    const reply = await call(caller, `GET ${withQuery(path, asked)}`);
    if (typeof client !== 'number') expect(shown(reply)).toEqual(client);
    else if (reply.status === 404) {
      expect(reply.body.message).toBe(`no webhook configuration exists for client ${client}`);
    } else
      expect({ status: reply.status, client_id: reply.body.client_id }).toEqual({ status: 200, client_id: client });
  });

  test.each(matrix([...inQuery, ...inBody]))('PUT, %s, %s', async (_user, _asked, caller, asked) => {
    const client = clientRule(caller, asked);
    const body = { url: 'https://hooks.example.com/tenancy', active: false, ...inTheBody(asked) };
    const reply = await call(caller, `PUT ${withQuery(path, asked)}`, body);
    if (typeof client === 'number') expect(reply.body).toEqual({ client_id: client, url: body.url, active: false });
    else expect(shown(reply)).toEqual(client);
  });
});

test('nothing of client 1002 was in any answer to client 1001', () => {
  expect(answersTo1001.length).toBeGreaterThan(200);
  expect(foreignTexts.length).toBeGreaterThan(350);
  const leaked = foreignTexts.filter((text) => answersTo1001.some((answer) => answer.includes(text)));
  expect(leaked).toEqual([]);
});

import { beforeAll, describe, expect, test } from 'vitest';
import { type ApiReply, platform } from '../../support/api.ts';
import { plainBody } from '../../support/template-probes.ts';
import { thorough } from '../../support/thorough.ts';
import {
  type Answer,
  type Asked,
  advised,
  type Caller,
  call,
  callers,
  clientRule,
  everyBody,
  everyQuery,
  inBody,
  inQuery,
  inTheBody,
  matrix,
  shown,
  withQuery,
} from './rules.ts';

const ownDid = '5491100000001';
const unknownDid = '5499999999999';
const outside = { status: 403, message: 'the did is outside the WABA hierarchy of the client' };

/** The clients of a DID's WABA may use it (D5). */
const dids: readonly [what: string, did: string, clients: readonly number[]][] = [
  ['of client 1001, shared WABA', '5491100000001', [1001, 1002]],
  ['of client 1002, shared WABA', '5491100000002', [1001, 1002]],
  ['of the WABA of client 1002', '5511900000003', [1002]],
  ['no client has', '5499999999999', []],
  ['with a blank', '5491100000001 ', []],
  ['with a plus', '+5491100000001', []],
  ['with slashes', '../../login', []],
  ['with the key separator', '5491100000001#DID', []],
  ['with a percent sign', '%35491100000001', []],
  ['with a null character', '5491100000001\u0000', []],
  ['of other digits', '５４９１１００００００１', []],
  ['of quotes and braces', `"'{}[]<>$(x)`, []],
  ['of emoji', '🙂🙂', []],
  ['that is a word of a route', 'status', []],
  ['of a prototype', '__proto__', []],
  ['of 64 characters', '5'.repeat(64), []],
];

interface DidRoute {
  readonly route: string;
  readonly send: (caller: Caller, did: string, asked: Asked) => Promise<ApiReply>;
  /**
   * Client and DID are accepted with this answer. The request names an unknown template or message, so that it changes
   * nothing.
   */
  readonly accepted: (clientId: number) => Answer;
  readonly takesBody: boolean;
  /** `npm test` also tries every spelling of client and DID on this route. */
  readonly everySpelling?: boolean;
}

/** A caller without special permissions is treated like a supervisor. */
const agent: Caller = { user: 'agent1001', clientId: 1001, crossClient: false };
const didsOf = (some: typeof dids) =>
  [...callers, agent].flatMap((caller) =>
    [undefined, 1001, 1002].flatMap((means) =>
      some.map(
        ([what, did, mayUse]) => [caller.user, means ?? 'no client_id', what, { caller, means, did, mayUse }] as const,
      ),
    ),
  );

/** The client is checked first, then the DID, on every route that has one (D5). */
function clientThenDid({ route, send, accepted, takesBody, everySpelling = thorough }: DidRoute): void {
  const places = [
    ...(everySpelling ? everyQuery : inQuery),
    ...(takesBody ? (everySpelling ? everyBody : inBody) : []),
  ];
  const answerTo = (caller: Caller, asked: Asked, mayUse: readonly number[]) => {
    const client = clientRule(caller, asked);
    if (typeof client !== 'number') return client;
    return mayUse.includes(client) ? accepted(client) : advised(outside, caller, asked);
  };

  describe(route, () => {
    test.each(matrix(places))('%s, %s, own DID', async (_, __, caller, asked) => {
      expect(shown(await send(caller, ownDid, asked))).toEqual(answerTo(caller, asked, [1001, 1002]));
    });

    test.each(didsOf(everySpelling ? dids : dids.slice(0, 6)))(
      '%s for %s, a DID %s',
      async (_user, _means, _what, { caller, means, did, mayUse }) => {
        const named = takesBody ? { body: means } : { query: `client_id=${means}` };
        const asked = means === undefined ? { means } : { ...named, means };
        expect(shown(await send(caller, did, asked))).toEqual(answerTo(caller, asked, mayUse));
      },
    );

    test.each(callers)('$user: a client_id that is none is refused before the DID', async (caller) => {
      const asked = { query: 'client_id=abc', means: { refusedAs: 'abc' } };
      expect(shown(await send(caller, unknownDid, asked))).toEqual(clientRule(caller, asked));
    });

    test('an unknown DID and one of another client cannot be told apart', async () => {
      const [caller] = callers as [Caller];
      const ask = (did: string) => send(caller, did, { means: undefined });
      const [ofUnknown, theirs] = [await ask(unknownDid), await ask('5511900000003')];
      expect(ofUnknown.text).toBe(theirs.text);
      expect(ofUnknown.body.code).toBe('did_forbidden');
    });
  });
}

/** These routes have a DID: sending, the three changes of a template, and a catalog. */
export function onDids(): void {
  const send = (caller: Caller, did: string, asked: Asked = { means: undefined }, path = encodeURIComponent(did)) =>
    call(caller, `POST ${withQuery(`/v1/template/messages/${path}`, asked)}`, {
      did,
      type: 'template',
      channel: 'MESSAGING',
      template: { name: 'tenancy_probe', language: 'en_US' },
      recipients: [{ to: '549400000001' }],
      ...inTheBody(asked),
    });
  clientThenDid({
    route: 'POST /v1/template/messages/{did}',
    send,
    accepted: () => ({ status: 404, message: 'no template for the requested name/language' }),
    takesBody: true,
    everySpelling: true,
  });

  describe('POST /v1/template/messages/{did}, the DID of the path', () => {
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

  describe('the changes of a template', managing);

  describe('GET /v1/catalogs/{did}, and /products', () => {
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
        const linked = await call(caller, `GET ${withQuery(`/v1/catalogs/${did}`, asked)}`);
        if (typeof client !== 'number') {
          for (const one of [reply, linked]) expect([did, shown(one)]).toEqual([did, client]);
        } else {
          expect([did, reply.status]).toEqual([did, usableBy.includes(client) ? 200 : 403]);
          if (usableBy.includes(client)) expect(linked.body.data).toMatchObject([{ id: catalogs[did] }]);
          else expect(shown(linked)).toEqual(advised(outside, caller, asked));
        }
      }
    });

    test('a catalog of another WABA answers as an unknown one', async () => {
      const [caller] = callers as [Caller];
      const foreign = await read(caller, '5491100000001', '600000000000002');
      expect(foreign.text).toBe((await read(caller, '5491100000001', '600000000000999')).text);
      expect(shown(foreign)).toEqual({ status: 403, message: 'the catalog is not linked to the WABA of the did' });
    });
  });
}

function managing(): void {
  let changesBefore: number;
  const changes = async () => {
    const counts = ['POST', 'DELETE'].map(async (method) => {
      const { body } = await platform(`GET /_control/requests?method=${method}&path=message_templates&limit=0`);
      return body.total as number;
    });
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  };
  beforeAll(async () => {
    changesBefore = await changes();
  });

  const notFound = () => ({ status: 404, message: 'template not found' });
  clientThenDid({
    route: 'POST /v1/templates/{did}',
    send: (caller, did, asked) =>
      call(caller, `POST ${withQuery(`/v1/templates/${encodeURIComponent(did)}`, asked)}`, {
        name: 'tenancy_probe',
        language: 'en_US',
        category: 'UTILITY',
        components: [plainBody],
        channel_campaigns: { channel_id: 999, campaign_id: 999 },
        ...inTheBody(asked),
      }),
    accepted: (clientId) => ({ status: 400, message: `client ${clientId} has no channel 999` }),
    takesBody: true,
  });
  clientThenDid({
    route: 'PUT /v1/templates/{did}/{messageTemplateId}',
    send: (caller, did, asked) =>
      call(caller, `PUT ${withQuery(`/v1/templates/${encodeURIComponent(did)}/nobody`, asked)}`, {
        components: [plainBody],
        ...inTheBody(asked),
      }),
    accepted: notFound,
    takesBody: true,
  });
  clientThenDid({
    route: 'DELETE /v1/templates/{did}/{messageTemplateId}',
    send: (caller, did, asked) =>
      call(caller, `DELETE ${withQuery(`/v1/templates/${encodeURIComponent(did)}/nobody`, asked)}`),
    accepted: notFound,
    takesBody: false,
  });

  test('none of it has reached the platform', async () => {
    expect(await changes()).toBe(changesBefore);
  });
}

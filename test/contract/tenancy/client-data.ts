import { beforeAll, describe, expect, test } from 'vitest';
import {
  type Caller,
  call,
  callers,
  clientRule,
  crossClient,
  inBody,
  inQuery,
  inTheBody,
  long,
  matrix,
  shown,
  withQuery,
} from './rules.ts';

export function onClientData(): void {
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
        const reply = await call(
          caller,
          `GET /v1/client-messaging-channels?${new URLSearchParams({ [filter]: value })}`,
        );
        expect(reply.status).toBe(200);
        for (const { wa_id } of reply.body.data) expect(wa_id ?? '5491100000001').toBe('5491100000001');
      }
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

  describe('/v1/opt-outs', () => {
    /** Each client has a person of its own. One person is stopped by all, another by client 1002 alone. */
    const personOf = (clientId: number) => `54941000${String(clientId).padStart(4, '0')}`;
    const [everybodys, of1002] = ['549420000001', '549420000002'];
    const recipientsOf = async (caller: Caller) => {
      const reply = await call(caller, 'GET /v1/opt-outs?limit=1000');
      return reply.body.data as { readonly recipient: string; readonly state: string }[];
    };
    const [, boreal] = callers as [Caller, Caller];

    beforeAll(async () => {
      for (const caller of callers) await call(caller, `PUT /v1/opt-outs/${personOf(caller.clientId)}`);
    });

    test.each(matrix(inQuery))('GET, %s, %s', async (_user, _asked, caller, asked) => {
      const client = clientRule(caller, asked);
      const reply = await call(caller, `GET ${withQuery('/v1/opt-outs', asked)}`);
      if (typeof client !== 'number') return expect(shown(reply)).toEqual(client);
      const recipients = reply.body.data.map(({ recipient }: { recipient: string }) => recipient);
      const ofClients = recipients.filter((recipient: string) => recipient.startsWith('54941000'));
      expect([reply.status, ofClients]).toEqual([200, [personOf(client)]]);
    });

    test.each(matrix(inQuery))('PUT, %s, %s', async (_user, _asked, caller, asked) => {
      const client = clientRule(caller, asked);
      const reply = await call(caller, `PUT ${withQuery(`/v1/opt-outs/${everybodys}`, asked)}`);
      if (typeof client !== 'number') expect(shown(reply)).toEqual(client);
      else expect([reply.status, reply.body.recipient, reply.body.state]).toEqual([200, everybodys, 'stopped']);
    });

    test.each(matrix(inQuery))('DELETE, %s, %s: of the client alone', async (_user, _asked, caller, asked) => {
      await call(boreal, `PUT /v1/opt-outs/${of1002}`);
      const client = clientRule(caller, asked);
      const reply = await call(caller, `DELETE ${withQuery(`/v1/opt-outs/${of1002}`, asked)}`);
      if (typeof client !== 'number') expect(shown(reply)).toEqual(client);
      else expect([reply.status, reply.body.state]).toEqual([200, 'started']);
      const kept = (await recipientsOf(boreal)).filter(({ recipient }) => recipient === of1002);
      expect(kept).toMatchObject([{ state: client === 1002 ? 'started' : 'stopped' }]);
    });
  });

  describe('GET /v1/me and GET /v1/clients', () => {
    const names: Readonly<Record<number, string>> = {
      1: 'Gateway operator',
      1001: 'Andes Retail',
      1002: 'Boreal Clinics',
    };
    const campaigns: Readonly<Record<number, readonly number[]>> = { 1001: [10, 11], 1002: [20] };

    test.each(matrix(inQuery))('%s, %s: the caller, the client and its campaigns', async (_user, _, caller, asked) => {
      const client = clientRule(caller, asked);
      const reply = await call(caller, `GET ${withQuery('/v1/me', asked)}`);
      if (typeof client !== 'number') return expect(shown(reply)).toEqual(client);
      return expect([reply.status, reply.body]).toEqual([
        200,
        {
          user: { username: caller.user, client_id: caller.clientId },
          client: { id: client, name: names[client] },
          permissions: caller.crossClient ? ['BSP_CN'] : [],
          campaigns: (campaigns[client] ?? []).map((id) => ({ id, name: expect.any(String) })),
        },
      ]);
    });

    test.each(matrix(inQuery))('%s, %s: clients for operators alone', async (_user, _, caller, asked) => {
      const client = clientRule(caller, asked);
      const reply = await call(caller, `GET ${withQuery('/v1/clients', asked)}`);
      if (typeof client !== 'number') return expect(shown(reply)).toEqual(client);
      if (!caller.crossClient) return expect(shown(reply)).toEqual(crossClient);
      const ids = asked.means === undefined ? [1, 1001, 1002] : [client];
      const data = ids.map((id) => ({ id, name: names[id] }));
      return expect(reply.body).toEqual({ data, total: ids.length, page: 1, page_size: 20 });
    });
  });

  describe('GET /v1/spend', () => {
    test.each(matrix(inQuery))('%s, %s', async (_user, _asked, caller, asked) => {
      const client = clientRule(caller, asked);
      const reply = await call(caller, `GET ${withQuery('/v1/spend', asked)}`);
      if (typeof client !== 'number') expect(shown(reply)).toEqual(client);
      else expect([reply.status, reply.body.client_id]).toEqual([200, client]);
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
}

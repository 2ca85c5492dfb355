import { describe, expect, test } from 'vitest';
import {
  type Caller,
  call,
  callers,
  clientRule,
  inBody,
  inQuery,
  inTheBody,
  long,
  matrix,
  shown,
  withQuery,
} from './rules.ts';

/** What belongs to a client as a whole: its channels, and where its events go. */
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

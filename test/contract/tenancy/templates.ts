import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { syncLockStore } from '../../../lib/templates/sync/sync-lock-store.ts';
import { eventually } from '../../support/api.ts';
import { runningTarget } from '../../support/running-target.ts';
import {
  type Asked,
  advised,
  type Caller,
  call,
  callers,
  clientRule,
  enter,
  inBody,
  inQuery,
  inTheBody,
  long,
  matrix,
  short,
  shown,
  withQuery,
} from './rules.ts';

/** The ids of one template of the shared WABA stand by client; `of1002` is of a WABA of client 1002. */
export const documents = { shared: { 1001: '', 1002: '' }, of1002: '' };
const notFound = { status: 404, message: 'template not found' };

/** These routes of templates have no DID: the listing, the states, synchronization, and assignments. */
export function onTemplates(): void {
  describe('GET /v1/templates', () => {
    const totals: Readonly<Record<number, number>> = { 1001: 21, 1002: 135 };

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
        // Unknown fields are ignored (D8); every other filter matches none of 1001's templates.
        if (filter !== 'fields') expect([short(value), reply.body.total]).toEqual([short(value), 0]);
      }
    });
  });

  describe('PATCH /v1/templates/status', () => {
    test.each(matrix([...inQuery, ...inBody]))('%s, %s', async (_user, _asked, caller, asked) => {
      const client = clientRule(caller, asked);
      // All templates are active, so an allowed caller gets `already_enabled`.
      const ids = [documents.shared[1001], documents.shared[1002], documents.of1002];
      // `call` would record the answer, which repeats the ids of client 1002 from the request.
      const body = { action: 'enable', templates: ids, ...inTheBody(asked) };
      const reply = await enter(caller, `PATCH ${withQuery('/v1/templates/status', asked)}`, body);
      if (typeof client !== 'number') {
        expect(shown(reply)).toEqual(client);
        return;
      }
      const reasons = reply.body.results.map(({ reason }: { reason: string }) => reason);
      const done = 'already_enabled';
      const owners = [1001, 1002, 1002];
      const worksFor = (owner: number) => (caller.crossClient && asked.means === undefined ? true : owner === client);
      expect(reasons).toEqual(owners.map((owner) => (worksFor(owner) ? done : 'forbidden')));
    });
  });

  describe('POST /v1/templates/sync-from-platform', () => {
    const { documentClient, tableName } = runningTarget();
    const locks = syncLockStore(documentClient, tableName('templates'));
    let held: Awaited<ReturnType<typeof locks.acquire>>;

    // The test holds the lease, so that each caller who may synchronize gets 409 and no synchronization runs.
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
      const reply = await call(
        caller,
        `POST ${withQuery('/v1/templates/sync-from-platform', asked)}`,
        inTheBody(asked),
      );
      expect(shown(reply)).toEqual(
        typeof client === 'number' ? { status: 409, message: 'a synchronization is already in progress' } : client,
      );
    });
  });

  describe.each(['GET', 'POST', 'PUT', 'DELETE'])('%s channel-campaigns', (method) => {
    const path = (id: string) =>
      `/v1/templates/${encodeURIComponent(id)}/channel-campaigns${method === 'GET' ? '-grouped' : ''}`;
    const hasBody = method === 'POST' || method === 'PUT';
    const ask = (caller: Caller, id: string, asked: Asked = { means: undefined }) =>
      call(caller, `${method} ${withQuery(path(id), asked)}`, hasBody ? inTheBody(asked) : undefined);
    /** No pair is assigned and the lists are empty, so a success changes nothing. */
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
    // Any document may name the template; the answer shows the operating client's own.
    const ownId = (client: number) => documents.shared[client as 1001 | 1002];

    test.each(matrix(inQuery))('%s, %s', async (_user, _asked, caller, asked) => {
      const client = clientRule(caller, asked);
      for (const id of [documents.shared[1001], documents.shared[1002]]) {
        const reply = await ask(caller, id, asked);
        if (typeof client !== 'number') expect(shown(reply)).toEqual(client);
        else if (client === 1) expect(shown(reply)).toEqual(advised(notFound, caller, asked));
        else expect([reply.status, reply.body.client_id, reply.body.id]).toEqual([200, client, ownId(client)]);
      }
    });

    test('a template of another WABA answers as an unknown one, and so does any other spelling', async () => {
      const [caller] = callers as [Caller];
      for (const id of [documents.of1002, `${documents.shared[1001]} `, 'status', '__proto__', long]) {
        expect([short(id), shown(await ask(caller, id))]).toEqual([short(id), notFound]);
      }
    });
  });
}

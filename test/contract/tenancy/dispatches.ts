import { beforeAll, describe, expect, test } from 'vitest';
import { advised, type Caller, call, callers, clientRule, inQuery, namesOf, short, shown, withQuery } from './rules.ts';

/** Dispatches are shown to the client that sent them, and to no other (D40). */
export function onDispatches(): void {
  describe('GET /v1/template/messages/{did}, GET and DELETE /{did}/{dispatchId}, POST /{did}/{dispatchId}/retry', () => {
    /** Each client has a dispatch on a DID that both may use (D5). */
    const dispatches = new Map<number, string>();
    const shared = '5491100000001';
    const own = '5511900000003';

    beforeAll(async () => {
      for (const caller of callers.slice(0, 2)) {
        const reply = await call(caller, `POST /v1/template/messages/${shared}`, {
          ...{
            did: shared,
            type: 'template',
            channel: 'MESSAGING',
            template: { name: 'order_update', language: 'en_US' },
          },
          recipients: [{ to: `54940000${caller.clientId}`, params: { body: ['Ana', 'A-1'], buttons: ['A-1'] } }],
        });
        expect(reply.status).toBe(200);
        dispatches.set(caller.clientId, reply.headers.get('dispatch-id') ?? '');
      }
    });

    const outside = { status: 403, message: 'the did is outside the WABA hierarchy of the client' };
    const usable = (clientId: number, did: string) => clientId === 1002 || (clientId === 1001 && did === shared);
    const everyOne = callers.flatMap((caller) =>
      inQuery.flatMap((asked) =>
        [shared, own].map((did) => [caller.user, short(namesOf(asked)), did, { caller, asked }] as const),
      ),
    );

    test.each(everyOne)(
      '%s, %s, on %s: the list has the own ones alone',
      async (_user, _asked, did, { caller, asked }) => {
        const client = clientRule(caller, asked);
        const reply = await call(caller, `GET ${withQuery(`/v1/template/messages/${did}`, asked)}`);
        if (typeof client !== 'number') return expect(shown(reply)).toEqual(client);
        if (!usable(client, did)) return expect(shown(reply)).toEqual(advised(outside, caller, asked));
        const ids = reply.body.data.map(({ dispatch_id }: { dispatch_id: string }) => dispatch_id);
        const seen = [...dispatches].filter(([, dispatchId]) => ids.includes(dispatchId)).map(([clientId]) => clientId);
        return expect(seen).toEqual(did === shared ? [client] : []);
      },
    );

    test.each(everyOne)(
      '%s, %s, on %s: a dispatch of another client is none, to be read or cancelled',
      async (_user, _asked, did, { caller, asked }) => {
        const client = clientRule(caller, asked);
        const missing = { status: 404, message: 'dispatch not found' };
        const asks = [...dispatches].flatMap(([clientId, dispatchId]) =>
          ['GET', 'DELETE'].map((method) => ({ clientId, dispatchId, method })),
        );
        for (const { clientId, dispatchId, method } of asks) {
          const reply = await call(
            caller,
            `${method} ${withQuery(`/v1/template/messages/${did}/${dispatchId}`, asked)}`,
          );
          if (typeof client !== 'number') expect(shown(reply)).toEqual(client);
          else if (did !== shared || client !== clientId) expect(shown(reply)).toEqual(advised(missing, caller, asked));
          else expect([reply.status, reply.body.client_id, reply.body.total]).toEqual([200, client, 1]);
        }
      },
    );

    test.each(everyOne)(
      '%s, %s, on %s: a dispatch of another client is none to be retried, and the own one went straight',
      async (_user, _asked, did, { caller, asked }) => {
        const client = clientRule(caller, asked);
        const missing = { status: 404, message: 'dispatch not found' };
        const notStored = {
          status: 409,
          message: 'the parameters of a send of up to ten recipients are not stored',
        };
        for (const [clientId, dispatchId] of dispatches) {
          const path = `/v1/template/messages/${did}/${dispatchId}/retry`;
          const reply = shown(await call(caller, `POST ${withQuery(path, asked)}`));
          if (typeof client !== 'number') expect(reply).toEqual(client);
          else if (!usable(client, did)) expect(reply).toEqual(advised(outside, caller, asked));
          else if (did !== shared || client !== clientId) expect(reply).toEqual(advised(missing, caller, asked));
          else expect(reply).toEqual(notStored);
        }
      },
    );

    test.each(
      callers.flatMap((caller) => inQuery.map((asked) => [caller.user, short(namesOf(asked)), caller, asked] as const)),
    )('%s, %s: across DIDs the own ones alone are found (D59)', async (_user, _asked, caller, asked) => {
      const client = clientRule(caller, asked);
      const reply = await call(caller, `GET ${withQuery('/v1/dispatches', asked)}`);
      if (typeof client !== 'number') return expect(shown(reply)).toEqual(client);
      for (const { client_id } of reply.body.data) expect(client_id).toBe(client);
      const ids = reply.body.data.map(({ dispatch_id }: { dispatch_id: string }) => dispatch_id);
      return expect([...dispatches.values()].filter((id) => ids.includes(id))).toEqual(
        [...dispatches].filter(([clientId]) => clientId === client).map(([, id]) => id),
      );
    });

    test.each(
      callers.flatMap((caller) => inQuery.map((asked) => [caller.user, short(namesOf(asked)), caller, asked] as const)),
    )('%s, %s: campaigns of others are not cancelled (D59)', async (_user, _asked, caller, asked) => {
      const client = clientRule(caller, asked);
      const reply = await call(caller, `DELETE /v1/dispatches?campaign_id=20&${asked.query ?? ''}`);
      if (typeof client !== 'number') return expect(shown(reply)).toEqual(client);
      const foreign = { status: 403, message: 'campaign_id 20 is not among your campaigns' };
      if (caller.clientId === 1001) return expect(shown(reply)).toEqual(foreign);
      return expect([reply.status, reply.body]).toEqual([200, { cancelled: 0, more: false }]);
    });

    test('a campaign is cancelled by its client and user, and by no other (D59)', async () => {
      const [andes, boreal, operator] = callers as [Caller, Caller, Caller];
      const agent: Caller = { user: 'agent1001', clientId: 1001, crossClient: false };
      const sendTo = async (caller: Caller, campaignId: number) => {
        const params = { body: ['Ana', 'A-1'], buttons: ['A-1'] };
        const recipients = Array.from({ length: 4_000 }, (_, at) => ({
          to: `5494${campaignId}${100_000 + at}`,
          params,
        }));
        const template = { name: 'order_update', language: 'en_US' };
        const request = { did: shared, type: 'template', channel: 'MESSAGING', template, campaignId, recipients };
        return (await call(caller, `POST /v1/template/messages/${shared}`, request)).headers.get('dispatch-id') ?? '';
      };
      const [ours, theirs] = [await sendTo(andes, 11), await sendTo(boreal, 20)];
      for (const caller of [andes, agent, operator]) {
        const reply = await call(caller, 'DELETE /v1/dispatches?campaign_id=20');
        if (caller === operator) expect(reply.body).toEqual({ cancelled: 0, more: false });
        else expect(reply.status).toBe(403);
      }
      for (const query of ['', '?campaign_id=']) {
        const reply = await call(andes, `DELETE /v1/dispatches${query}`);
        expect(shown(reply)).toEqual({ status: 400, message: 'campaign_id is required' });
      }
      expect((await call(andes, 'DELETE /v1/dispatches?campaign_id=11')).body).toEqual({ cancelled: 1, more: false });
      expect((await call(andes, 'DELETE /v1/dispatches?campaign_id=11')).body).toEqual({ cancelled: 0, more: false });
      const stateOf = async (caller: Caller, query: string) => {
        const { body } = await call(caller, `GET /v1/dispatches?${query}`);
        return body.data.map(({ dispatch_id, state }: Record<string, string>) => [dispatch_id, state]);
      };
      expect(await stateOf(andes, 'campaign_id=11&state=cancelled')).toEqual([[ours, 'cancelled']]);
      expect(await stateOf(boreal, 'campaign_id=20&state=running,complete')).toEqual([[theirs, expect.any(String)]]);
      expect((await call(operator, 'DELETE /v1/dispatches?campaign_id=20&client_id=1002')).status).toBe(200);
    });
  });
}

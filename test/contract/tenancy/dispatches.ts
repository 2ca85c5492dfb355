import { beforeAll, describe, expect, test } from 'vitest';
import { advised, call, callers, clientRule, inQuery, namesOf, short, shown, withQuery } from './rules.ts';

/** What became of what was sent, for the client who sent it and for nobody else (D40). */
export function onDispatches(): void {
  describe('GET /v1/template/messages/{did}, GET and DELETE /{did}/{dispatchId}, POST /{did}/{dispatchId}/retry', () => {
    /** A dispatch of each client, both on a DID that both may use (D5). */
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
        const seen = [...dispatches].filter(([, jobId]) => ids.includes(jobId)).map(([clientId]) => clientId);
        return expect(seen).toEqual(did === shared ? [client] : []);
      },
    );

    test.each(everyOne)(
      '%s, %s, on %s: a dispatch of another client is none, to be read or cancelled',
      async (_user, _asked, did, { caller, asked }) => {
        const client = clientRule(caller, asked);
        const missing = { status: 404, message: 'dispatch not found' };
        const asks = [...dispatches].flatMap(([clientId, jobId]) =>
          ['GET', 'DELETE'].map((method) => ({ clientId, jobId, method })),
        );
        for (const { clientId, jobId, method } of asks) {
          const reply = await call(caller, `${method} ${withQuery(`/v1/template/messages/${did}/${jobId}`, asked)}`);
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
        for (const [clientId, jobId] of dispatches) {
          const path = `/v1/template/messages/${did}/${jobId}/retry`;
          const reply = shown(await call(caller, `POST ${withQuery(path, asked)}`));
          if (typeof client !== 'number') expect(reply).toEqual(client);
          else if (!usable(client, did)) expect(reply).toEqual(advised(outside, caller, asked));
          else if (did !== shared || client !== clientId) expect(reply).toEqual(advised(missing, caller, asked));
          else expect(reply).toEqual(notStored);
        }
      },
    );
  });
}

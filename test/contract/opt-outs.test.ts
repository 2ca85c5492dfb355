import { describe, expect, test } from 'vitest';
import { clients } from '../support/demo.ts';
import { recordOn } from '../support/recorded-words.ts';
import { runningTarget } from '../support/running-target.ts';
import { asSupervisor } from '../support/sends.ts';

/*
 * A client sets and reads opt-outs over HTTP (D55). Recipients, pages, events, stops of the platform and people with
 * several names are in test/functions/opt-outs.adapter.test.ts, clients in contract/tenancy/client-data.ts.
 */

const run = String(Date.now() % 1_000_000).padStart(6, '0');
let people = 0;
/** Returns a number that no other test uses. */
function somebody(): string {
  people += 1;
  return `54922${run}${String(people).padStart(3, '0')}`;
}

const ask = (method: 'PUT' | 'DELETE', recipient: string) =>
  asSupervisor(`${method} /v1/opt-outs/${encodeURIComponent(recipient)}`);
const put = (recipient: string) => ask('PUT', recipient);
const lift = (recipient: string) => ask('DELETE', recipient);
const listed = async (recipient: string) => {
  const { body } = await asSupervisor('GET /v1/opt-outs?limit=1000');
  return body.data.filter((each: { readonly recipient: string }) => each.recipient === recipient);
};
const by = (recipient: string) => ({ recipient, source: 'api', scope: 'client', platform_stopped: false });

describe('PUT, GET and DELETE /v1/opt-outs', () => {
  test('a person by number is stopped, listed and started again, each time with the same answer', async () => {
    const person = somebody();
    const first = await put(`+${person}`);
    expect(first).toMatchObject({ status: 200, body: { ...by(person), state: 'stopped' } });
    const again = await put(person);
    expect(again.body).toEqual({ ...first.body, at: again.body.at });
    expect(again.body.at >= first.body.at).toBe(true);
    expect(await listed(person)).toEqual([again.body]);
    const started = await lift(person);
    expect(started).toMatchObject({ status: 200, body: { ...by(person), state: 'started' } });
    expect(await lift(person)).toMatchObject({ status: 200, body: { ...by(person), state: 'started' } });
    expect(await listed(person)).toMatchObject([{ ...by(person), state: 'started' }]);
  });

  test('what the person has stopped the client does not lift: 409, which says how and when', async () => {
    const person = somebody();
    await put(person);
    const scope = { kind: 'client', clientId: clients.andes } as const;
    const word = { says: 'stopped', source: 'reply', atMs: Date.now() } as const;
    await recordOn(runningTarget(), { scope, recipients: [person], word });
    const refused = await lift(person);
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'opted_out_by_person', errors: [{ path: 'recipient' }] },
    });
    expect(refused.body.message).toMatch(
      /^the person has stopped marketing by a reply on \d{4}-\d\d-\d\dT[\d:.]+Z; only the person can start it again$/,
    );
    expect(await listed(person)).toMatchObject([{ state: 'stopped', source: 'reply', scope: 'client' }]);
  });

  test('what is no recipient is 400, which says what was expected', async () => {
    const message = `recipient must be 8 to 15 digits with an optional +, or a business-scoped user id, received "ana/luis"`;
    for (const reply of [await put('ana/luis'), await lift('ana/luis')]) {
      const errors = [{ path: 'recipient', message }];
      expect([reply.status, reply.body]).toEqual([400, { message, code: 'invalid_request', errors }]);
    }
  });
});

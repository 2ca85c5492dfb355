import { describe, expect, test } from 'vitest';
import type { OptOutChange } from '../../lib/opt-outs/entry.ts';
import { recordIdChange } from '../../lib/opt-outs/record-opt-out.ts';
import type { Scope } from '../../lib/opt-outs/scope.ts';
import { type ApiReply, api, type DemoUser, eventually, tokenOf } from '../support/api.ts';
import { clients } from '../support/demo.ts';
import { eventFaults } from '../support/documented.ts';
import { receiveEvents } from '../support/event-receiver.ts';
import { optOutsOn, recordOn } from '../support/recorded-words.ts';
import { runningTarget } from '../support/running-target.ts';

/*
 * A client sets and reads opt-outs over HTTP (D55). Opt-outs by the person and the platform are written into the store,
 * as the inbound consumer does.
 */

const run = String(Date.now() % 1_000_000).padStart(6, '0');
let people = 0;
/** Returns a number that no other test uses. */
function somebody(): string {
  people += 1;
  return `54922${run}${String(people).padStart(3, '0')}`;
}

async function ask(route: string, user: DemoUser = 'supervisor1001'): Promise<ApiReply> {
  return await api(route, { token: await tokenOf(user) });
}
const put = (recipient: string, user?: DemoUser) => ask(`PUT /v1/opt-outs/${encodeURIComponent(recipient)}`, user);
const lift = (recipient: string, user?: DemoUser) => ask(`DELETE /v1/opt-outs/${encodeURIComponent(recipient)}`, user);

async function pagesOf(limit: number, user?: DemoUser): Promise<{ readonly recipient: string }[][]> {
  const pages: { readonly recipient: string }[][] = [];
  let after: string | undefined;
  do {
    const cursor = after === undefined ? '' : `&cursor=${after}`;
    const reply = await ask(`GET /v1/opt-outs?limit=${limit}${cursor}`, user);
    expect(reply.status).toBe(200);
    pages.push(reply.body.data);
    after = reply.body.paging.cursors.after;
  } while (after !== undefined);
  return pages;
}
const listed = async (recipient: string, user?: DemoUser) =>
  (await pagesOf(1_000, user)).flat().filter((each) => each.recipient === recipient);

const record = (recipient: string, scope: Scope, { says, source }: Pick<OptOutChange, 'says' | 'source'>) =>
  recordOn(runningTarget(), {
    scope,
    recipients: [recipient],
    word: { says, source, atMs: Date.now() },
  });
const client: Scope = { kind: 'client', clientId: clients.andes };
const number: Scope = { kind: 'number', phoneNumberId: '300000000000001', wabaId: '200000000000001' };
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

  test('a user id that was replaced has no row of its own beside one of its successors (D55)', async () => {
    const [person, old, next] = [somebody(), `AR.${run}old`, `AR.${run}new`];
    await put(old);
    const atMs = Date.now();
    await recordIdChange({ old: [old], recipients: [person, next], atMs }, await optOutsOn(runningTarget()));
    expect(await listed(old)).toMatchObject([{ ...by(old), state: 'stopped' }]);
    expect(await lift(person)).toMatchObject({ status: 200, body: { ...by(person), state: 'started' } });
    expect(await listed(old)).toEqual([]);
    expect(await listed(person)).toMatchObject([{ ...by(person), state: 'started' }]);
  });

  test('a person by user id, whose letters count; and somebody unknown is started', async () => {
    const [person, other] = [`AR.${run}aB`, `AR.${run}ab`];
    expect(await put(person)).toMatchObject({ status: 200, body: { ...by(person), state: 'stopped' } });
    expect(await lift(other)).toMatchObject({ status: 200, body: { ...by(other), state: 'started' } });
    expect(await listed(person)).toMatchObject([{ state: 'stopped' }]);
  });

  test('what the person has stopped the client does not lift: 409, which says how and when', async () => {
    const person = somebody();
    await put(person);
    await record(person, client, { says: 'stopped', source: 'reply' });
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

  test('after a stop of the platform a start is taken, and the answer says that the platform still refuses', async () => {
    const person = somebody();
    await record(person, number, { says: 'stopped', source: 'platform' });
    const started = { ...by(person), state: 'started', platform_stopped: true };
    expect(await lift(person)).toMatchObject({ status: 200, body: started });
    expect(await listed(person)).toMatchObject([started]);
    // The other client of the number has not written to this person, and must not learn of the opt-out.
    expect(await listed(person, 'supervisor1002')).toEqual([]);
    await record(person, number, { says: 'started', source: 'platform' });
    expect((await put(person)).body).toMatchObject({ state: 'stopped', platform_stopped: false });
  });

  test('pages of two meet, and have everybody once; a cursor is of its client alone', async () => {
    const everybody = Array.from({ length: 5 }, somebody);
    for (const each of everybody) await put(each, 'supervisor1002');
    const pages = await pagesOf(2, 'supervisor1002');
    expect(pages.length).toBeGreaterThanOrEqual(3);
    expect(pages.filter((page) => page.length > 2)).toEqual([]);
    const recipients = pages.flat().map(({ recipient }) => recipient);
    expect(new Set(recipients).size).toBe(recipients.length);
    expect(recipients).toEqual(expect.arrayContaining(everybody));

    const { body } = await ask('GET /v1/opt-outs?limit=1', 'supervisor1002');
    const message = 'cursor is not one of this list';
    expect(await ask(`GET /v1/opt-outs?cursor=${body.paging.cursors.after}`)).toMatchObject({
      status: 400,
      body: { message, code: 'invalid_request', errors: [{ path: 'cursor', message }] },
    });
    expect((await pagesOf(1_000)).flat().filter(({ recipient }) => everybody.includes(recipient))).toEqual([]);
  });

  test('one client says nothing for another, on the same number', async () => {
    const person = somebody();
    await put(person);
    await lift(person, 'supervisor1002');
    expect(await listed(person)).toMatchObject([{ state: 'stopped' }]);
    const named = await ask(`DELETE /v1/opt-outs/${person}?client_id=${clients.andes}`, 'operator');
    expect(named).toMatchObject({ status: 200, body: { state: 'started' } });
    expect(await listed(person)).toMatchObject([{ state: 'started' }]);
  });

  test.each([
    ['a number without its country', '0115555', '"0115555": it begins with a zero, and no country code does'],
    ['a number with blanks', '54 9115555', '"54 9115555"'],
    ['two numbers', '5491155550001,5491155550002', '"5491155550001,5491155550002"'],
    ['a user id in small letters', 'ar.1', '"ar.1": its letter case is wrong, a user id begins with AR.'],
    ['a name', 'ana/luis', '"ana/luis"'],
    ['far too much', '9'.repeat(3_000), `"${'9'.repeat(56)}...`],
  ])('%s is 400, which says what was expected', async (_, recipient, shown) => {
    const message = `recipient must be 8 to 15 digits with an optional +, or a business-scoped user id, received ${shown}`;
    for (const reply of [await put(recipient), await lift(recipient)]) {
      expect([reply.status, reply.body]).toEqual([
        400,
        { message, code: 'invalid_request', errors: [{ path: 'recipient', message }] },
      ]);
    }
  });

  test('a change is told as an event, a repetition is not', async () => {
    const supervisor = { clientId: clients.andes, token: await tokenOf('supervisor1001') };
    const { deliveries } = await receiveEvents(supervisor, ['recipient.opted_out', 'recipient.opted_in']);
    const person = somebody();
    const stopped = await put(person);
    await put(person);
    const started = await lift(person);
    const told = await eventually('both changes are told', async () => {
      const ofPerson = deliveries.filter(({ body }) => body.includes(person));
      return ofPerson.length < 2 ? undefined : ofPerson;
    });
    for (const { verified, body } of told) expect([verified, eventFaults(body)]).toEqual([true, []]);
    const events = told.map(({ body }) => JSON.parse(body)).map(({ type, data }) => [type, data.recipient, data.at]);
    expect(events.toSorted()).toEqual([
      ['recipient.opted_in', person, started.body.at],
      ['recipient.opted_out', person, stopped.body.at],
    ]);
  });
});

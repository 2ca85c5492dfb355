import { createHash, randomBytes } from 'node:crypto';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from 'vitest';
import { optOutsDelete } from '../../functions/opt-outs-delete.ts';
import { optOutsList } from '../../functions/opt-outs-list.ts';
import { optOutsPut } from '../../functions/opt-outs-put.ts';
import type { OptOutChange } from '../../lib/opt-outs/entry.ts';
import { listedKey, personKey } from '../../lib/opt-outs/opt-out-items.ts';
import { optOutsCursor } from '../../lib/opt-outs/opt-out-list.ts';
import { optOutListStore } from '../../lib/opt-outs/opt-out-list-store.ts';
import { optOutWriter } from '../../lib/opt-outs/opt-out-store.ts';
import { personNames } from '../../lib/opt-outs/person-name.ts';
import { recordIdChange, recordOptOut } from '../../lib/opt-outs/record-opt-out.ts';
import type { Scope } from '../../lib/opt-outs/scope.ts';
import { call, type TestCaller } from '../support/calls.ts';
import { makeListedChannel, memoryChannels } from '../support/channels.ts';
import { makeWaba, memoryDirectory } from '../support/directory.ts';
import { injectFaults } from '../support/dynamo-faults.ts';
import { MemoryAudit } from '../support/memory-audit.ts';
import { MemoryEvents } from '../support/memory-events.ts';
import { putItems } from '../support/reported-dispatches.ts';
import { freshTable, localDocumentClient } from '../support/stores.ts';

const startMs = Date.UTC(2026, 10, 22, 10);
const agent: TestCaller = { userId: 'u', clientId: 1001 };
const other: TestCaller = { userId: 'o', clientId: 1002 };
const person = '5491155550001';
const nameOf = personNames(randomBytes(32));
const iso = (laterMs: number) => new Date(startMs + laterMs).toISOString();

/** In the first WABA both clients share all numbers; in the second each uses only its own. */
const shared = makeWaba();
const parted = makeWaba({ wabaId: '200000000000002', dids: 'own' });
const numbers = [
  makeListedChannel(),
  makeListedChannel({ waId: '5491100000004', phoneNumberId: '300000000000004', clientId: 1002, wabaId: parted.wabaId }),
  makeListedChannel({ waId: '5491100000005', phoneNumberId: '300000000000005', deleted: true }),
];

let world: Awaited<ReturnType<typeof makeWorld>>;
beforeEach(async () => {
  world = await makeWorld();
});

async function makeWorld() {
  const documentClient = localDocumentClient();
  const requests = injectFaults(documentClient, () => undefined);
  const messages = { client: documentClient, name: await freshTable('messages'), pause: async () => undefined };
  const clock = { nowMs: startMs };
  const events = new MemoryEvents();
  const ports = {
    directory: memoryDirectory({ wabas: [shared, parted] }),
    channels: memoryChannels(numbers),
    nowMs: () => clock.nowMs,
  };
  const writer = optOutWriter(messages, nameOf, { nowMs: () => clock.nowMs });
  const audit = new MemoryAudit();
  const words = { ...ports, audit, events, optOuts: async () => writer };
  const [putPage, deletePage] = [optOutsPut(words), optOutsDelete(words)];
  const listPage = optOutsList({ ...ports, optOuts: optOutListStore(messages) });
  return {
    ...{ messages, requests, clock, events, audit },
    put: (recipient: string, caller = agent) => call(putPage, caller, { path: { recipient } }),
    lift: (recipient: string, caller = agent) => call(deletePage, caller, { path: { recipient } }),
    list: async (query: Readonly<Record<string, string | undefined>> = {}, caller = agent) =>
      call(listPage, caller, { query }),
    replaced: (old: string[], recipients: string[]) => recordIdChange({ old, recipients, atMs: clock.nowMs }, writer),
    said: (scope: Scope, word: OptOutChange, listedFor?: number, recipients = [person]) =>
      recordOptOut({ scope, recipients, word, listedFor }, writer),
  };
}

const client: Scope = { kind: 'client', clientId: 1001 };
const number = (phoneNumberId: string, { wabaId } = shared): Scope => ({ kind: 'number', phoneNumberId, wabaId });
const stop = (source: OptOutChange['source'], atMs = startMs): OptOutChange => ({ says: 'stopped', atMs, source });
const entry = { recipient: person, state: 'stopped', source: 'api', scope: 'client', platform_stopped: false };

describe('a word of the client (D55)', () => {
  test('is stored and answered; a repeated one differs in its time alone, and is told once', async () => {
    expect(await world.put('+5491155550001')).toMatchObject({ status: 200, body: { ...entry, at: iso(0) } });
    world.clock.nowMs += 7_000;
    expect((await world.put(person)).body).toEqual({ ...entry, at: iso(7_000) });
    expect((await world.list()).body).toEqual({ data: [{ ...entry, at: iso(7_000) }], paging: { cursors: {} } });
    expect(world.events.sent.map(({ type, clientId, data }) => [type, clientId, data])).toEqual([
      ['recipient.opted_out', 1001, { recipient: person, scope: 'client', source: 'api', at: iso(0) }],
    ]);
  });

  test('is taken back, by a clock that is behind too, and again', async () => {
    await world.put(person);
    world.clock.nowMs -= 50;
    expect((await world.lift(person)).body).toEqual({ ...entry, state: 'started', at: iso(1) });
    expect((await world.lift(person)).body).toEqual({ ...entry, state: 'started', at: iso(2) });
    expect((await world.put(person)).body).toEqual({ ...entry, at: iso(3) });
    expect(world.events.sent.map(({ type }) => type)).toEqual([
      ...['recipient.opted_out', 'recipient.opted_in', 'recipient.opted_out'],
    ]);
    expect(world.audit.noted.map(({ act, on }) => [act, on])).toEqual(
      ['stopped', 'lifted', 'lifted', 'stopped'].map((act) => [`opt_out.${act}`, { count: 1 }]),
    );
  });

  test('a start of an unknown person is kept, and told to no client', async () => {
    expect((await world.lift('AR.1a')).body).toMatchObject({ recipient: 'AR.1a', state: 'started', source: 'api' });
    expect((await world.list()).body).toMatchObject({ data: [{ recipient: 'AR.1a', state: 'started' }] });
    expect(world.events.sent).toEqual([]);
  });

  test('is answered although the event is not queued', async () => {
    world.events.broken = true;
    expect((await world.put(person)).status).toBe(200);
  });

  test.each<[OptOutChange['source'], string]>([
    ['reply', 'the person has stopped marketing by a reply'],
    ['quick_reply', 'the person has stopped marketing by a button'],
    ['platform', 'the person has stopped marketing at the platform'],
    ['refused', 'the platform has refused marketing to the person'],
  ])('does not lift a stop by %s: 409, and nothing is told', async (source, who) => {
    await world.put(person);
    await world.said(client, stop(source, startMs + 60_000), 1001);
    world.clock.nowMs += 120_000;
    const message = `${who} on ${iso(60_000)}; only the person can start it again`;
    expect(await world.lift(person)).toMatchObject({
      status: 409,
      body: { code: 'opted_out_by_person', message, errors: [{ path: 'recipient', message }] },
    });
    expect((await world.list()).body).toMatchObject({ data: [{ state: 'stopped', source, at: iso(60_000) }] });
    // A stop by the client exists beside it, and changes nothing in the answer.
    expect((await world.put(person)).body).toMatchObject({ state: 'stopped', source });
    expect(world.events.sent).toHaveLength(1);
  });

  test('lifts what an import has said', async () => {
    await world.said(client, stop('import'), 1001);
    world.clock.nowMs += 1_000;
    expect((await world.lift(person)).body).toMatchObject({ state: 'started', source: 'api' });
  });

  test.each<[string, boolean, Scope]>([
    ['a number of the client', true, number('300000000000001')],
    ['its WABA', true, { kind: 'waba', wabaId: shared.wabaId }],
    ['a number of another client in a WABA where each keeps to its own', false, number('300000000000004', parted)],
    ['a number that is gone', false, number('300000000000005')],
    ['a number of others', false, number('300000000000009', makeWaba({ wabaId: '200000000000009' }))],
    ['a WABA of others', false, { kind: 'waba', wabaId: '200000000000009' }],
  ])('after a stop of the platform for %s: platform_stopped is %s', async (_, isTold, scope) => {
    await world.said(scope, stop('platform'));
    expect((await world.lift(person)).body).toEqual({
      ...{ ...entry, state: 'started', at: iso(0), platform_stopped: isTold },
    });
    expect((await world.list({}, other)).body).toMatchObject({ data: [] });
  });
});

describe('the list', () => {
  test('shows the people that were told to the client by a number, and none that only other clients know', async () => {
    await world.said(number('300000000000001'), stop('refused'), 1001);
    const shown = { ...entry, source: 'refused', scope: 'number', at: iso(0), platform_stopped: true };
    expect((await world.list()).body).toEqual({ data: [shown], paging: { cursors: {} } });
    expect((await world.list({}, other)).body).toEqual({ data: [], paging: { cursors: {} } });
  });

  test('leaves out who is erased, whose own item is gone, and who concerns the client no more', async () => {
    const { client: documentClient, name: TableName } = world.messages;
    const people = ['5491155550011', '5491155550012', '5491155550013', '5491155550014'] as const;
    for (const each of people) await world.put(each);
    for (const Key of [listedKey(1001, nameOf(people[0])), personKey(nameOf(people[1]))]) {
      await documentClient.send(new DeleteCommand({ TableName, Key }));
    }
    await world.said(number('300000000000009', makeWaba({ wabaId: '200000000000009' })), stop('refused'), 1001);
    const { body } = await world.list();
    expect(recipientsIn(body)).toEqual([...people.slice(2)].sort());
  });

  test('one page of a long list is one query of its limit and a request for each hundred; pages meet', async () => {
    const everybody = Array.from({ length: 2_050 }, (_, at) => String(5_491_200_000_000 + at));
    await putItems(
      { documentClient: world.messages.client, tableName: world.messages.name },
      everybody.flatMap((recipient) => [
        { ...listedKey(1001, nameOf(recipient)), recipient, listedAtMs: startMs },
        {
          ...personKey(nameOf(recipient)),
          ...{ entries: { 'client:1001': { told: stop('import') } }, names: [], became: {}, version: 1, writer: 'w' },
        },
      ]),
    );
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const before = new Map(world.requests);
      const { body } = await world.list({ limit: '1000', ...(cursor === undefined ? {} : { cursor }) });
      const made = (name: string) => (world.requests.get(name) ?? 0) - (before.get(name) ?? 0);
      expect([made('QueryCommand'), made('BatchGetItemCommand') <= 10]).toEqual([1, true]);
      pages.push(recipientsIn(body));
      cursor = afterOf(body);
    } while (cursor !== undefined);
    expect(pages.map(({ length }) => length)).toEqual([1_000, 1_000, 50]);
    expect(pages.flat().sort()).toEqual(everybody);
    expect(recipientsIn((await world.list()).body)).toHaveLength(100);
  });

  describe('of a person with several names (D55)', () => {
    /** The names of this person are ordered as in the list, which has no other person. */
    const ids = [person, 'AR.1a', 'AR.ENT.1a', '5491155550009'].sort((one, two) =>
      nameOf(one) < nameOf(two) ? -1 : 1,
    );
    const [first, second, third, last] = ids as [string, string, string, string];
    const stops = (recipients: string[]) => world.said(client, stop('reply'), 1001, recipients);
    const pageAfter = async (cursor: string | undefined) => {
      const { body } = await world.list({ limit: '1', ...(cursor === undefined ? {} : { cursor }) });
      return { rows: (body as { data: readonly { recipient: string; also?: string[] }[] }).data, next: afterOf(body) };
    };
    /** Walks through pages of one, and does something after the first. */
    const walked = async (meanwhile: () => Promise<unknown> = async () => undefined) => {
      const begun = await pageAfter(undefined);
      world.clock.nowMs += 1;
      await meanwhile();
      const rows = [...begun.rows];
      for (let { next } = begun; next !== undefined; ) {
        const page = await pageAfter(next);
        rows.push(...page.rows);
        next = page.next;
      }
      return rows.map(({ recipient, also = [] }) => [recipient, ...also]);
    };
    const spelled = (...some: string[]) =>
      some.sort((one, two) => Number(/^A/.test(one)) - Number(/^A/.test(two)) || (one < two ? -1 : 1));

    test('one row has all that the client was told, the numbers first, over pages of one too', async () => {
      await stops(ids);
      const shown = { ...entry, source: 'reply', at: iso(0), recipient: '5491155550001' };
      const also = ['5491155550009', 'AR.1a', 'AR.ENT.1a'];
      expect((await world.list()).body).toEqual({ data: [{ ...shown, also }], paging: { cursors: {} } });
      expect(await walked()).toEqual([[shown.recipient, ...also]]);
      // Another client knows one name, and learns no other.
      await world.said({ kind: 'client', clientId: 1002 }, stop('reply'), 1002, [person]);
      expect((await world.list({}, other)).body).toMatchObject({ data: [{ recipient: person }] });
      expect((await world.list({}, other)).body).not.toHaveProperty('data[0].also');
    });

    test('a name that comes on a page already read takes no person away from a later one', async () => {
      const numbers = Array.from({ length: 1_000 }, (_, at) => String(5_491_200_000_000 + at));
      const somebody = numbers.find((each) => nameOf(each) < nameOf(first));
      await stops([somebody ?? 'none of a thousand comes before']);
      await stops([third]);
      const rows = await walked(() => stops([first, second, third]));
      expect(rows).toEqual([[somebody], spelled(first, second, third)]);
    });

    test('names that are joined after the first was shown are not shown again', async () => {
      await stops([first]);
      await stops([last]);
      expect(await walked(() => stops([first, last]))).toEqual([[first]]);
    });

    test('an id that was replaced has no row of its own beside one of its successors; the letters of ids count', async () => {
      const [old, next] = ['AR.1old', 'AR.1new'];
      await world.put(old);
      await world.replaced([old], [person, next]);
      expect(recipientsIn((await world.list()).body)).toEqual([old]);
      await world.lift('AR.1Old');
      expect(recipientsIn((await world.list()).body)).toEqual(['AR.1Old', old]);
      await world.lift(person);
      expect(recipientsIn((await world.list()).body)).toEqual([person, 'AR.1Old'].sort());
    });

    test('a name that is told again has the place that it had', async () => {
      await stops([first, last]);
      expect(await walked(() => stops([first]))).toEqual([spelled(first, last)]);
    });
  });

  const name = nameOf(person);
  const place = { after: name, sinceMs: startMs };
  const sealed = (text: string) => {
    const scope = 'opt-outs 1001';
    const digest = createHash('sha256')
      .update(JSON.stringify([scope, text]))
      .digest('base64url')
      .slice(0, 12);
    return Buffer.from(`${digest}${text}`).toString('base64url');
  };
  test.each([
    ['of another client', optOutsCursor(1002, place)],
    ['of no name', optOutsCursor(1001, { ...place, after: 'x' })],
    ['of a longer name', optOutsCursor(1001, { ...place, after: `${name}\n` })],
    ['of no time', optOutsCursor(1001, { ...place, sinceMs: 0.5 })],
    ...['', '{', 'null', '5', '["x"]', '{"pk":"x"}'].map((text) => [`${text} with its digest`, sealed(text)] as const),
    ...['abc', '%00', 'A'.repeat(2_001), '🙂'].map((text) => [text.slice(0, 20), text] as const),
  ] as const)('a cursor %s is a 400', async (_, cursor) => {
    const message = 'cursor is not one of this list';
    expect(sealed(JSON.stringify([name, startMs]))).toBe(optOutsCursor(1001, place));
    expect(await world.list({ cursor })).toMatchObject({
      status: 400,
      body: { message, errors: [{ path: 'cursor' }] },
    });
  });

  test.each(['0', '1001', '1e2', ''])('limit %j is a 400', async (limit) => {
    const message = `limit must be a whole number from 1 to 1000, received "${limit}"`;
    expect(await world.list({ limit })).toMatchObject({ status: 400, body: { message } });
  });
});

type Listed = { readonly data: readonly { readonly recipient: string }[] };
const recipientsIn = (body: unknown) => (body as Listed).data.map(({ recipient }) => recipient).sort();
const afterOf = (body: unknown) => (body as { paging: { cursors: { after?: string } } }).paging.cursors.after;

import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { Refusal } from '../../../../lib/http/refusal.ts';
import { lookupStore } from '../../../../lib/messages/resolve/lookup-store.ts';
import { type FaultPlan, injectFaults } from '../../../support/faults.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const nowMs = 1_800_000_000_000;
let table: string;

beforeAll(async () => {
  table = await freshTable('messages');
});

function storeWith(plan: FaultPlan = () => undefined) {
  const client = localDocumentClient();
  injectFaults(client, plan);
  return lookupStore(tableOf(client, table));
}

const asking = (askerId: string, atMs: number, changedAtMs = 0) => ({ askerId, nowMs: atMs, changedAtMs });

const notFound = new Refusal('template_not_found', 'no template', { headers: { 'retry-after': '3' }, platformCode: 4 });

test('a question is claimed once in 10 s, by one of many', async () => {
  const claims = Array.from({ length: 20 }, (_, index) => storeWith().claim('once', asking(`J${index}`, nowMs)));
  const states = (await Promise.all(claims)).map(({ state }) => state);
  expect(states.filter((state) => state === 'ours')).toHaveLength(1);
  expect(states.filter((state) => state === 'asked')).toHaveLength(19);
  expect(await storeWith().claim('once', asking('late', nowMs + 9_999))).toEqual({ state: 'asked' });
  expect(await storeWith().claim('once', asking('later', nowMs + 10_000))).toEqual({ state: 'ours' });
});

test('a claim that was written although its reply was lost is ours', async () => {
  const store = storeWith(({ number }) => (number === 1 ? { kind: 'lose_reply' } : undefined));
  expect(await store.claim('lost', asking('J1', nowMs))).toEqual({ state: 'ours' });
});

test('a refusal answers every request of the next 10 s, in the same words', async () => {
  const store = storeWith();
  await store.claim('kept', asking('J1', nowMs));
  await store.keep('kept', notFound, nowMs);
  const told = await store.claim('kept', asking('J2', nowMs + 9_999));
  if (told.state !== 'refused') throw new Error(told.state);
  const { code, message, details } = told.refusal;
  expect({ code, message, details }).toEqual({
    code: notFound.code,
    message: notFound.message,
    details: notFound.details,
  });
  expect(await store.claim('kept', asking('J3', nowMs + 10_000))).toEqual({ state: 'ours' });
});

test('what was changed since it was asked can be asked at once', async () => {
  const store = storeWith();
  await store.keep('changed', notFound, nowMs);
  expect(await store.claim('changed', asking('J1', nowMs + 2, nowMs))).toMatchObject({ state: 'refused' });
  expect(await store.claim('changed', asking('J2', nowMs + 2, nowMs + 1))).toEqual({ state: 'ours' });
  expect(await store.claim('changed', asking('J3', nowMs + 3, nowMs + 1))).toEqual({ state: 'asked' });
});

test('only the claimant of a question can give it back', async () => {
  const store = storeWith();
  await store.claim('given', asking('J1', nowMs));
  await store.release('given', 'J2');
  expect(await store.claim('given', asking('J3', nowMs))).toEqual({ state: 'asked' });
  await store.release('given', 'J1');
  expect(await store.claim('given', asking('J3', nowMs))).toEqual({ state: 'ours' });
});

test('what the platform says is kept in an item of bounded size that TTL removes', async () => {
  await storeWith().keep('long', new Refusal('platform_refused', 'x'.repeat(500_000)), nowMs);
  const Key = { pk: 'QUESTION#long', sk: 'QUESTION' };
  const { Item } = await localDocumentClient().send(new GetCommand({ TableName: table, Key }));
  expect(Item).toMatchObject({ expiresAtSeconds: (nowMs + 10_000) / 1_000, refusal: { message: 'x'.repeat(1_000) } });
});

test('a client has 30 turns in a minute, however many ask at once; the next minute begins with the next turn', async () => {
  const turns = await Promise.all(Array.from({ length: 40 }, () => storeWith().takeTurn(1001, nowMs)));
  expect(turns.filter((left) => left === undefined)).toHaveLength(30);
  expect(turns.filter((left) => left === 60_000)).toHaveLength(10);
  const store = storeWith();
  expect(await store.takeTurn(1001, nowMs + 59_999)).toBe(1);
  expect(await store.takeTurn(1002, nowMs)).toBeUndefined();
  expect(await store.takeTurn(1001, nowMs + 60_000)).toBeUndefined();
});

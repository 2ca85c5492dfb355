import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Caller } from '../../../lib/access/caller.ts';
import { clientIdAdvice, operatingClient, requestedClientId } from '../../../lib/access/operating-client.ts';
import { refused } from '../../support/refused.ts';

const limited: Caller = { userId: 'supervisor1001', clientId: 1001, permissions: [], crossClient: false };
const crossClient: Caller = { userId: 'operator', clientId: 1, permissions: ['BSP_CN'], crossClient: true };

test('a request names no client, one, or the same one twice', () => {
  expect(requestedClientId({})).toBeUndefined();
  expect(requestedClientId({ query: '1001' })).toBe(1001);
  expect(requestedClientId({ body: 1001 })).toBe(1001);
  expect(requestedClientId({ body: 1 })).toBe(1);
  expect(requestedClientId({ query: '1001', body: 1001 })).toBe(1001);
  expect(requestedClientId({ query: String(Number.MAX_SAFE_INTEGER) })).toBe(Number.MAX_SAFE_INTEGER);
});

test('two different clients in query and body are refused (D4)', () => {
  expect(refused(() => requestedClientId({ query: '1001', body: 1002 }))).toMatchObject({
    status: 400,
    message: 'invalid client_id: 1001 in the query, 1002 in the body',
  });
});

test.each(['', '1e3', '0x1', '9007199254740992', '0', '-1', '+1', ' 1', '01', '1.0', '١'])(
  'client_id=%j in the query is a 400 that quotes it (R8)',
  (query) => {
    const message = `invalid client_id: ${query}`;
    const details = { errors: [{ path: 'client_id' }] };
    const refusal = { code: 'invalid_client_id', status: 400, message, details };
    expect(refused(() => requestedClientId({ query }))).toMatchObject(refusal);
  },
);

test.each([
  ['1001', '1001'],
  [null, 'null'],
  [true, 'true'],
  [[1001], '[1001]'],
  [{}, '{}'],
  [1.5, '1.5'],
  [0, '0'],
  [-1, '-1'],
  [2 ** 53, '9007199254740992'],
])('client_id %j in the body is a 400 that quotes it', (value, shown) => {
  expect(refused(() => requestedClientId({ body: value })).message).toBe(`invalid client_id: ${shown}`);
});

test('a number that came as text says that it must be one', () => {
  const { errors } = refused(() => requestedClientId({ body: '1001' })).details;
  expect(errors).toEqual([
    { path: 'client_id', message: 'invalid client_id: 1001 (expected a number, received a text)' },
  ]);
});

test('any text is either the plain decimal of a positive safe integer or refused, shown at 100 characters (R8)', () => {
  const texts = fc.oneof(fc.string(), fc.string({ minLength: 90, maxLength: 300 }), fc.double().map(String));
  fc.assert(
    fc.property(texts, (text) => {
      const id = Number(text);
      if (Number.isSafeInteger(id) && id > 0 && String(id) === text) {
        expect(requestedClientId({ query: text })).toBe(id);
      } else {
        const { message } = refused(() => requestedClientId({ query: text }));
        expect(message.length).toBeLessThanOrEqual('invalid client_id: '.length + 100);
        expect(message.startsWith(`invalid client_id: ${text.slice(0, 97)}`)).toBe(true);
      }
    }),
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (id) => {
      expect(requestedClientId({ query: String(id) })).toBe(id);
      expect(refused(() => requestedClientId({ query: `${id},${id}` })).message).toBe(`invalid client_id: ${id},${id}`);
    }),
  );
});

test('a value of 100 characters is shown whole, a longer one by its first 97', () => {
  const shown = (value: string) => refused(() => requestedClientId({ query: value })).message;
  expect(shown('x'.repeat(100))).toBe(`invalid client_id: ${'x'.repeat(100)}`);
  expect(shown('x'.repeat(101))).toBe(`invalid client_id: ${'x'.repeat(97)}...`);
});

/** Records the lookups in a directory of clients 1 to 1002. */
function clientsAsked() {
  const asked: number[] = [];
  const hasClient = async (clientId: number) => {
    asked.push(clientId);
    return clientId <= 1002;
  };
  return { asked, hasClient };
}

test('no client named, or the own one: the own client, for every caller; nothing is read (D4)', async () => {
  const clients = clientsAsked();
  for (const caller of [limited, crossClient]) {
    expect(await operatingClient(clients, caller, undefined)).toBe(caller.clientId);
    expect(await operatingClient(clients, caller, caller.clientId)).toBe(caller.clientId);
  }
  expect(clients.asked).toEqual([]);
});

test('another client needs BSP_CN (contract, Authentication 3), and nothing is read to refuse it', async () => {
  const clients = clientsAsked();
  expect(await operatingClient(clients, crossClient, 1002)).toBe(1002);
  for (const id of [1002, 7777]) {
    await expect(operatingClient(clients, limited, id)).rejects.toMatchObject({
      code: 'cross_client_forbidden',
      status: 403,
      message: 'BSP_CN permission required for cross-client access',
    });
  }
  expect(clients.asked).toEqual([1002]);
});

test('a client that does not exist is a 400 that quotes its id (D4)', async () => {
  await expect(operatingClient(clientsAsked(), crossClient, 7777)).rejects.toMatchObject({
    code: 'invalid_client_id',
    status: 400,
    message: 'invalid client_id: 7777',
    details: { errors: [{ path: 'client_id' }] },
  });
});

test('only a caller with BSP_CN who named no client is told to', () => {
  expect(clientIdAdvice(crossClient, undefined)).toBe('; pass client_id to work for another client than your own');
  expect([clientIdAdvice(crossClient, 1), clientIdAdvice(crossClient, 1002)]).toEqual(['', '']);
  expect(clientIdAdvice(limited, undefined)).toBe('');
});

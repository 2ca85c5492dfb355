import type { Context } from 'aws-lambda';
import { beforeEach, expect, test } from 'vitest';
import { login } from '../../functions/login.ts';
import { hashPassword } from '../../lib/access/sign-in/password.ts';
import type { Credentials } from '../../lib/access/sign-in/sign-in.ts';
import { verifyToken } from '../../lib/access/tokens/token.ts';
import { signingKey, verificationKeys } from '../../lib/access/tokens/token-keys.ts';
import type { Answer } from '../../lib/http/answer.ts';
import type { Endpoint, HttpEvent } from '../../lib/http/endpoint.ts';
import {
  attemptsInMemory,
  cheapDerivation,
  credentialsInMemory,
  type RecordedAttempts,
  refusedRecipes,
  usersInMemory,
} from '../support/access.ts';
import { countedBy } from '../support/counted.ts';
import { jwks, keyPair } from '../support/keys.ts';
import { MemoryAudit } from '../support/memory-audit.ts';

const pair = await keyPair();
const scope = { issuer: 'issuer', audience: 'audience' };
const start = Date.UTC(2026, 10, 20, 12);
const supervisor = {
  userId: 'u-1',
  username: 'supervisor1001',
  clientId: 1001,
  permissions: ['BSP_CN'],
  campaignIds: [10],
};

let nowMs = start;
let derivation = cheapDerivation();
let calls: string[] = [];
let credentials: Credentials;
let attempts: RecordedAttempts;
let endpoint: Endpoint;
let audit: MemoryAudit;

/** Returns users with hashes of one password, by today's recipe and by two older ones. */
async function storedCredentials() {
  const passwordHash = await hashPassword('right password', Buffer.alloc(16, 1), derivation.derive);
  const oldHash = passwordHash.replace('t=2', 't=3');
  const scryptHash = passwordHash.replace('$argon2id$v=19$m=19456,t=2,p=1$', '$scrypt$ln=15,r=8,p=3$');
  return {
    supervisor1001: { passwordHash, userId: 'u-1', clientId: 1001 },
    old: { passwordHash: oldHash, userId: 'u-1', clientId: 1001 },
    scrypt: { passwordHash: scryptHash, userId: 'u-1', clientId: 1001 },
    gone: { passwordHash, userId: 'u-2', clientId: 1001 },
  };
}

beforeEach(async () => {
  nowMs = start;
  derivation = cheapDerivation();
  calls = [];
  credentials = credentialsInMemory(await storedCredentials(), calls);
  attempts = attemptsInMemory(calls);
  derivation.recipes.length = 0;
  audit = new MemoryAudit();
  endpoint = loginSignedBy(jwks(pair.private));
});

function loginSignedBy(keySet: string): Endpoint {
  return login({
    ...{ credentials, attempts, audit, scope },
    directory: usersInMemory([supervisor]),
    deriveKey: derivation.derive,
    newSalt: () => Buffer.alloc(16, 2),
    signingKey: () => signingKey(keySet),
    nowMs: () => nowMs,
    newTokenId: () => 'token-1',
  });
}

async function post(body: string | undefined, isBase64Encoded = false, sourceIp = '203.0.113.7'): Promise<Answer> {
  const context = { getRemainingTimeInMillis: () => 29_000 } as Context;
  const requestContext = { http: { sourceIp } };
  return endpoint({ body, isBase64Encoded, headers: {}, requestContext } as unknown as HttpEvent, context);
}

const logIn = (username: unknown, password: unknown, sourceIp?: string) =>
  post(JSON.stringify({ username, password }), false, sourceIp);

const unauthorized = { statusCode: 401, headers: { 'cache-control': 'no-store' }, body: '' };
const sameWork = ['find', 'read', 'start', 'settle'];

/** Each refusal must derive one key of each kind, whatever hash is stored. */
function expectRefusedWork(): void {
  expect(derivation.recipes.toSorted((one, other) => one.kind.localeCompare(other.kind))).toEqual(refusedRecipes);
}

test('a right name and password give a token that says who it is for (D3)', async () => {
  const { statusCode, headers, body } = await logIn('supervisor1001', 'right password');
  expect(statusCode).toBe(200);
  expect(headers).toMatchObject({ 'cache-control': 'no-store' });
  const { access_token, ...rest } = JSON.parse(body ?? '');
  expect(rest).toEqual({ access: true });
  const keys = await verificationKeys(jwks(pair.public));
  expect(await verifyToken(keys, scope, { token: access_token, nowMs })).toEqual({
    userId: 'u-1',
    clientId: 1001,
    permissions: ['BSP_CN'],
    expiresAtSeconds: start / 1000 + 3_600,
  });
  expect(derivation.recipes).toEqual(refusedRecipes.slice(0, 1));
  expect(audit.noted).toEqual([{ userId: 'u-1', clientId: 1001, act: 'login', on: {}, outcome: 'done' }]);
});

test.each([
  ['a wrong password', 'supervisor1001', 'wrong password'],
  ['a wrong password, where the hash is of scrypt', 'scrypt', 'wrong password'],
  ['a right password of a user without profile', 'gone', 'right password'],
  ['an unknown name', 'nobody', 'right password'],
  ['a name in other letter case', 'Supervisor1001', 'right password'],
  ['an unknown name, and a password of zero bytes', 'nobody', '\0'.repeat(32)],
  ['an empty name', '', ''],
  ['an empty password', 'supervisor1001', ''],
  ['a password of 257 characters', 'supervisor1001', 'x'.repeat(257)],
  ['a long name', 'x'.repeat(3_000), 'right password'],
  ['a name that is a lone surrogate', '\ud800', 'right password'],
  ['a name that is a number', 1001, 'right password'],
  ['no password', 'supervisor1001', undefined],
  ['a password that is an object', 'supervisor1001', {}],
])('401 with an empty body, the same headers and the same work: %s (D11, R37)', async (_, username, password) => {
  expect(await logIn(username, password)).toEqual(unauthorized);
  expect(audit.noted).toEqual([]);
  expectRefusedWork();
  expect(calls).toEqual(sameWork);
});

test.each(['null', '5', '"text"', '[]', '{}', 'true', '{"__proto__":{"username":"supervisor1001"}}'])(
  'JSON that holds no login is a 401 with the same work, not a 400: %s (D11)',
  async (body) => {
    expect(await post(body)).toEqual(unauthorized);
    expectRefusedWork();
    expect(calls).toEqual(sameWork);
  },
);

test.each([undefined, '', '{', 'username=a&password=b', '\ufeff{}', "{'username': 'a'}"])(
  'a body that is not JSON is a 400: %j (D11)',
  async (body) => {
    expect(await post(body)).toMatchObject({ statusCode: 400, body: expect.stringContaining('malformed_body') });
    expect(derivation.recipes).toEqual([]);
  },
);

test('a body of more than 4 KB is refused before it is parsed, without work; at 4 KB it can be right (D6)', async () => {
  const body = (bytes: number) => {
    const login = { username: 'supervisor1001', password: 'right password', padding: '' };
    return JSON.stringify({ ...login, padding: 'x'.repeat(bytes - JSON.stringify(login).length) });
  };
  expect(body(4_096)).toHaveLength(4_096);
  for (const large of [body(4_097), '{'.repeat(4_097)]) {
    expect(await post(large)).toMatchObject({ statusCode: 413, body: expect.stringContaining('payload_too_large') });
  }
  expect(calls).toEqual([]);
  expect(await post(body(4_096))).toMatchObject({ statusCode: 200 });
});

test('failed logins are counted, right ones and broken bodies are not', async () => {
  expect(await countedBy(() => logIn('supervisor1001', 'wrong'))).toMatchObject([{ LoginFailures: 1 }]);
  expect(await countedBy(() => logIn('supervisor1001', 'right password'))).toEqual([]);
  expect(await countedBy(() => post('{'))).toEqual([]);
});

test('ten wrong passwords delay that address, with the same answer and work, and no other address (D11, R38)', async () => {
  for (let failure = 1; failure <= 10; failure += 1) await logIn('supervisor1001', 'wrong');
  calls.length = 0;
  derivation.recipes.length = 0;
  nowMs = start + 29_999;
  expect(await logIn('supervisor1001', 'right password')).toEqual(unauthorized);
  expect(calls).toEqual(sameWork);
  expectRefusedWork();

  expect(await logIn('supervisor1001', 'right password', '203.0.113.8')).toMatchObject({ statusCode: 200 });
  expect(await logIn('old', 'right password')).toMatchObject({ statusCode: 200 });
  nowMs = start + 30_000;
  expect(await logIn('supervisor1001', 'right password')).toMatchObject({ statusCode: 200 });
});

test('all of an IPv6 /64 is one address, and the next /64 another', async () => {
  for (let host = 1; host <= 10; host += 1) await logIn('supervisor1001', 'wrong', `2001:db8:1:2:${host}::${host}`);
  expect(await logIn('supervisor1001', 'right password', '2001:db8:1:2::ffff')).toEqual(unauthorized);
  expect(await logIn('supervisor1001', 'right password', '2001:db8:1:3::1')).toMatchObject({ statusCode: 200 });
});

test('a hash of another recipe is replaced at the first right login, and only then', async () => {
  await logIn('old', 'wrong password');
  expect(calls).not.toContain('replaceHash');
  expect(await logIn('old', 'right password')).toMatchObject({ statusCode: 200 });
  expect(await credentials.find('old')).toMatchObject({ passwordHash: expect.stringContaining('$m=19456,t=2,p=1$') });
  calls.length = 0;
  expect(await logIn('old', 'right password')).toMatchObject({ statusCode: 200 });
  expect(calls).toEqual(['find', 'read', 'start', 'forget']);
});

test('without a signing key a right login is a 500 without internals, never a token', async () => {
  endpoint = loginSignedBy('{"keys":[]}');
  const { statusCode, body } = await logIn('supervisor1001', 'right password');
  expect([statusCode, JSON.parse(body ?? '')]).toEqual([500, { message: 'internal error', code: 'internal_error' }]);
});

import { beforeEach, expect, test, vi } from 'vitest';
import { attemptsInMemory, credentialsInMemory, usersInMemory } from '../../../support/access.ts';

/** Simulates a Node.js that was built without argon2. The hash functions stay real; the test counts their calls. */
const hashings = vi.hoisted(() => ({ argon2id: 0, scrypt: 0 }));
vi.mock('node:crypto', async (original) => {
  const whole = await original<typeof import('node:crypto')>();
  const scrypt = (...args: Parameters<typeof whole.scrypt>) => {
    hashings.scrypt += 1;
    whole.scrypt(...args);
  };
  return { ...whole, scrypt, argon2: undefined, default: { ...whole, scrypt, argon2: undefined } };
});
vi.mock('@noble/hashes/argon2.js', async (original) => {
  const whole = await original<typeof import('@noble/hashes/argon2.js')>();
  const argon2id = (...args: Parameters<typeof whole.argon2id>) => {
    hashings.argon2id += 1;
    return whole.argon2id(...args);
  };
  return { ...whole, argon2id };
});

beforeEach(() => {
  Object.assign(hashings, { argon2id: 0, scrypt: 0 });
});

const {
  deriveKey,
  hashPassword,
  hasArgon2,
  isOutdated,
  dummyPasswordHash: nobodysPasswordHash,
  verifyPassword,
} = await import('../../../../lib/access/sign-in/password.ts');
const { signIn } = await import('../../../../lib/access/sign-in/sign-in.ts');

/** The argon2 of Node.js made this hash of `right password`. */
const provisioned = '$argon2id$v=19$m=19456,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$1q4zM2P2EZYzxa8s31ExOXg6y/FjbriePBoM/1XtSt8';
const salt = Buffer.from('0123456789abcdef');

test('it is found missing before the first login', () => {
  expect(hasArgon2).toBe(false);
});

test('a new hash is one of scrypt and belongs to its password only', async () => {
  const phc = await hashPassword('contrase\u00f1a', salt);
  expect(phc).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(await verifyPassword('contrasen\u0303a', phc)).toBe(true);
  expect(await verifyPassword('contrasena', phc)).toBe(false);
  expect([isOutdated(phc), isOutdated(provisioned), isOutdated(nobodysPasswordHash)]).toEqual([false, true, false]);
});

test('argon2id gives the key of the reference implementation all the same', async () => {
  const recipe = { kind: 'argon2id', memoryKib: 65_536, passes: 2, parallelism: 1 } as const;
  expect((await deriveKey('password', recipe, Buffer.from('somesalt'))).toString('hex')).toBe(
    '09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7',
  );
});

test('a user provisioned with an argon2id hash logs in, and has a scrypt hash from then on', async () => {
  const credentials = credentialsInMemory({ ana: { passwordHash: provisioned, userId: 'u-1', clientId: 1001 } });
  const user = { userId: 'u-1', username: 'ana', clientId: 1001, permissions: [], campaignIds: [] };
  const directory = usersInMemory([user]);
  const ports = { credentials, attempts: attemptsInMemory(), directory, deriveKey, newSalt: () => salt };
  const attempt = { username: 'ana', network: '192.0.2.1' };
  expect(await signIn(ports, { ...attempt, password: 'wrong password' }, 0)).toBeUndefined();
  expect((await credentials.find('ana'))?.passwordHash).toBe(provisioned);
  expect(await signIn(ports, { ...attempt, password: 'right password' }, 0)).toEqual(user);
  expect((await credentials.find('ana'))?.passwordHash).toMatch(/^\$scrypt\$/);
  expect(await signIn(ports, { ...attempt, password: 'right password' }, 0)).toEqual(user);
});

test.each([
  ['an unknown name', 'nobody'],
  ['a wrong password, where the hash is of argon2id', 'ana'],
  ['a wrong password, where the hash is of scrypt', 'luis'],
])('%s costs one hash of each kind (R37)', async (_, username) => {
  const credentials = credentialsInMemory({
    ana: { passwordHash: provisioned, userId: 'u-1', clientId: 1001 },
    luis: { passwordHash: nobodysPasswordHash, userId: 'u-2', clientId: 1001 },
  });
  const directory = usersInMemory([]);
  const ports = { credentials, attempts: attemptsInMemory(), directory, deriveKey, newSalt: () => salt };
  const attempt = { username, network: '192.0.2.1', password: 'wrong password' };
  expect(await signIn(ports, attempt, 0)).toBeUndefined();
  expect(hashings).toEqual({ argon2id: 1, scrypt: 1 });
});

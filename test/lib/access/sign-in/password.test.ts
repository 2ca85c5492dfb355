import { expect, test } from 'vitest';
import {
  deriveKey,
  deriveOtherKind,
  dummyPasswordHash,
  hashPassword,
  isOutdated,
  isPasswordHash,
  verifyPassword,
} from '../../../../lib/access/sign-in/password.ts';
import { cheapDerivation } from '../../../support/access.ts';

const salt = Buffer.from('0123456789abcdef');

test('argon2id gives the key of the reference implementation', async () => {
  const recipe = { kind: 'argon2id', memoryKib: 65_536, passes: 2, parallelism: 1 } as const;
  expect((await deriveKey('password', recipe, Buffer.from('somesalt'))).toString('hex')).toBe(
    '09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7',
  );
});

test('scrypt gives the key of RFC 7914, section 12', async () => {
  const recipe = { kind: 'scrypt', log2Cost: 14, blockSize: 8, parallelism: 1 } as const;
  expect((await deriveKey('pleaseletmein', recipe, Buffer.from('SodiumChloride'))).toString('hex')).toBe(
    '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2',
  );
});

test('scrypt gives the key of RFC 7914, section 12, at another cost too', async () => {
  const recipe = { kind: 'scrypt', log2Cost: 10, blockSize: 8, parallelism: 16 } as const;
  expect((await deriveKey('password', recipe, Buffer.from('NaCl'))).toString('hex')).toBe(
    'fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162',
  );
});

test('a new hash is a PHC string of argon2id with 19 MiB and two passes, and belongs to its password only', async () => {
  const phc = await hashPassword('demo-operator', salt);
  expect(phc).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(await verifyPassword('demo-operator', phc)).toBe(true);
  expect(await verifyPassword('Demo-operator', phc)).toBe(false);
  expect(await verifyPassword('', phc)).toBe(false);
  expect(isOutdated(phc)).toBe(false);
});

test('salt decides the hash; composed and decomposed characters do not', async () => {
  const phc = await hashPassword('contrase\u00f1a', salt);
  expect(await hashPassword('contrase\u00f1a', Buffer.from('fedcba9876543210'))).not.toBe(phc);
  expect(await verifyPassword('contrasen\u0303a', phc)).toBe(true);
});

test('scrypt hashes and weaker argon2id hashes verify and are due for a new one', async () => {
  const key = await deriveKey('secret', { kind: 'scrypt', log2Cost: 13, blockSize: 10, parallelism: 1 }, salt);
  const unpadded = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
  const scrypt = `$scrypt$ln=13,r=10,p=1$${unpadded(salt)}$${unpadded(key)}`;
  expect(await verifyPassword('secret', scrypt)).toBe(true);
  expect(await verifyPassword('other', scrypt)).toBe(false);
  for (const phc of [scrypt, scrypt.replace('ln=13,r=10,p=1', 'ln=15,r=8,p=3')]) expect(isOutdated(phc)).toBe(true);
  expect(isOutdated(dummyPasswordHash.replace('t=2', 't=3'))).toBe(true);
});

test.each([
  ['$argon2id$v=19$m=9216,t=4,p=3', { kind: 'argon2id', memoryKib: 9_216, passes: 4, parallelism: 3 }],
  ['$scrypt$ln=13,r=10,p=2', { kind: 'scrypt', log2Cost: 13, blockSize: 10, parallelism: 2 }],
])('%s says how the key is derived', async (head, recipe) => {
  const key = Buffer.alloc(32, 1);
  const derived: unknown[] = [];
  const derive: typeof deriveKey = async (...asked) => {
    derived.push(asked);
    return key;
  };
  const phc = [head, salt.toString('base64').slice(0, 22), key.toString('base64').slice(0, 43)].join('$');
  expect(await verifyPassword('secret', phc, derive)).toBe(true);
  expect(derived).toEqual([['secret', recipe, salt]]);
});

test('one derivation per verification, of an unknown name too (R37)', async () => {
  let derivations = 0;
  const derive: typeof deriveKey = async () => {
    derivations += 1;
    return Buffer.alloc(32, 1);
  };
  expect(await verifyPassword('any', dummyPasswordHash, derive)).toBe(false);
  expect(derivations).toBe(1);
  expect(isOutdated(dummyPasswordHash)).toBe(false);
});

const tail = `$${'A'.repeat(22)}$${'A'.repeat(43)}`;

test.each([
  [`$argon2id$v=19$m=19456,t=2,p=1${tail}`, true],
  [`$argon2id$v=19$m=65536,t=1,p=1${tail}`, true],
  [`$argon2id$v=19$m=65537,t=1,p=1${tail}`, false],
  [`$argon2id$v=19$m=7168,t=5,p=1${tail}`, true],
  [`$argon2id$v=19$m=7167,t=5,p=1${tail}`, false],
  [`$argon2id$v=19$m=19456,t=0,p=1${tail}`, false],
  [`$argon2id$v=19$m=19456,t=2,p=0${tail}`, false],
  [`$argon2id$v=16$m=19456,t=2,p=1${tail}`, false],
  [`$argon2i$v=19$m=19456,t=2,p=1${tail}`, false],
  [`$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(21)}$${'A'.repeat(43)}`, false],
  [`$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(42)}`, false],
  [`$argon2id$v=19$m=19456,t=2,p=1${tail}$x`, false],
  [`x$argon2id$v=19$m=19456,t=2,p=1${tail}`, false],
  [`$scrypt$ln=15,r=8,p=3${tail}`, true],
  [`$scrypt$ln=16,r=8,p=1${tail}`, true],
  [`$scrypt$ln=17,r=8,p=1${tail}`, false],
  [`$scrypt$ln=13,r=10,p=1${tail}`, true],
  [`$scrypt$ln=13,r=7,p=1${tail}`, false],
  [`$scrypt$ln=12,r=8,p=1${tail}`, false],
  [`$scrypt$ln=15,r=8,p=3${tail}$x`, false],
  [`x$scrypt$ln=15,r=8,p=3${tail}`, false],
  ['$2b$10$abcdefghijklmnopqrstuv', false],
  ['demo-operator', false],
  ['', false],
])('%s can be verified: %s', async (phc, expected) => {
  expect(isPasswordHash(phc)).toBe(expected);
  const verifying = verifyPassword('any', phc, async () => Buffer.alloc(32, 1));
  await (expected ? expect(verifying).resolves.toBe(false) : expect(verifying).rejects.toThrow('not a PHC string'));
});

const argon2idAtUsualCost = { kind: 'argon2id', memoryKib: 19_456, passes: 2, parallelism: 1 };
const scryptAtUsualCost = { kind: 'scrypt', log2Cost: 15, blockSize: 8, parallelism: 3 };

test.each([
  [dummyPasswordHash, scryptAtUsualCost],
  [`$argon2id$v=19$m=9216,t=4,p=1${tail}`, scryptAtUsualCost],
  [`$scrypt$ln=15,r=8,p=3${tail}`, argon2idAtUsualCost],
  [`$scrypt$ln=13,r=10,p=2${tail}`, argon2idAtUsualCost],
])('beside %s the other kind costs one derivation, as much as a hash of its own (R37)', async (phc, recipe) => {
  const derived: unknown[] = [];
  await deriveOtherKind('secret', phc, async (...asked) => {
    derived.push(asked);
    return Buffer.alloc(32);
  });
  expect(derived).toEqual([['secret', recipe, Buffer.alloc(16)]]);
});

test('beside what is no hash there is no other kind', async () => {
  const { derive, recipes } = cheapDerivation();
  await expect(deriveOtherKind('secret', 'demo-operator', derive)).rejects.toThrow('not a PHC string');
  expect(recipes).toEqual([]);
});

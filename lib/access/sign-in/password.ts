import crypto, { scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { argon2id as argon2idInJavaScript } from '@noble/hashes/argon2.js';

/** A longer password is never right, so it is not checked. */
export const passwordMaxLength = 256;

export const saltBytes = 16;
const keyBytes = 32;

/** A hash may ask for no more memory, so that any provisioned hash fits into the login function. */
const maxMemoryBytes = 64 * 1024 * 1024;

type Recipe =
  | {
      readonly kind: 'argon2id';
      readonly memoryKib: number;
      readonly passes: number;
      readonly parallelism: number;
    }
  | { readonly kind: 'scrypt'; readonly log2Cost: number; readonly blockSize: number; readonly parallelism: number };

interface PasswordRecord {
  readonly recipe: Recipe;
  readonly salt: Buffer;
  readonly key: Buffer;
}

/** Turns a password into a key, the costly part of every login. */
export type KeyDerivation = (password: string, recipe: Recipe, salt: Buffer) => Promise<Buffer>;

/** The check is by name, because an import of a missing export would crash the function. */
export const hasArgon2 = typeof crypto.argon2 === 'function';

interface UsualRecipe {
  readonly recipe: Recipe;
  readonly prefix: string;
}

/**
 * The OWASP Password Storage Cheat Sheet recommends argon2id with m = 19 MiB, t = 2, p = 1; scrypt with N = 2^15, r =
 * 8, p = 3.
 */
const usual: Readonly<Record<Recipe['kind'], UsualRecipe>> = {
  argon2id: {
    recipe: { kind: 'argon2id', memoryKib: 19_456, passes: 2, parallelism: 1 },
    prefix: '$argon2id$v=19$m=19456,t=2,p=1$',
  },
  scrypt: { recipe: { kind: 'scrypt', log2Cost: 15, blockSize: 8, parallelism: 3 }, prefix: '$scrypt$ln=15,r=8,p=3$' },
};

const current = hasArgon2 ? usual.argon2id : usual.scrypt;

const scryptAsync = promisify<string, Buffer, number, Record<string, number>, Buffer>(scrypt);

export const deriveKey: KeyDerivation = (password, recipe, salt) => {
  // NFC makes the same password typed on two keyboards one password.
  const message = password.normalize('NFC');
  if (recipe.kind === 'argon2id') {
    return hasArgon2 ? argon2Key(message, recipe, salt) : slowArgon2Key(message, recipe, salt);
  }
  const options = { N: 2 ** recipe.log2Cost, r: recipe.blockSize, p: recipe.parallelism, maxmem: 2 * maxMemoryBytes };
  return scryptAsync(message, salt, keyBytes, options);
};

type Argon2Recipe = Extract<Recipe, { kind: 'argon2id' }>;

function argon2Key(message: string, recipe: Argon2Recipe, salt: Buffer): Promise<Buffer> {
  const { memoryKib: memory, passes, parallelism } = recipe;
  const options = { message, nonce: salt, memory, passes, parallelism, tagLength: keyBytes };
  return promisify(crypto.argon2)('argon2id', options);
}

/** Derives the same key in JavaScript, several times slower: for one login, after which scrypt replaces the hash. */
async function slowArgon2Key(message: string, recipe: Argon2Recipe, salt: Buffer): Promise<Buffer> {
  const { memoryKib: m, passes: t, parallelism: p } = recipe;
  return Buffer.from(argon2idInJavaScript(message, salt, { m, t, p, dkLen: keyBytes }));
}

/** Hashes a password with today's recipe and 16 random bytes, as a PHC string. */
export async function hashPassword(password: string, salt: Buffer, derive: KeyDerivation = deriveKey): Promise<string> {
  return currentPhc(salt, await derive(password, current.recipe, salt));
}

/**
 * Tells whether the password belongs to the PHC string, by one derivation compared in constant time. Throws on a bad
 * string.
 */
export async function verifyPassword(
  password: string,
  phc: string,
  derive: KeyDerivation = deriveKey,
): Promise<boolean> {
  const { recipe, salt, key } = storedRecordOf(phc);
  return timingSafeEqual(await derive(password, recipe, salt), key);
}

/**
 * Derives a key of the other kind for nothing: with `verifyPassword`, every refusal costs one derivation of each kind
 * (R37). Throws on a bad string.
 */
export async function deriveOtherKind(password: string, phc: string, derive: KeyDerivation = deriveKey): Promise<void> {
  const { kind } = storedRecordOf(phc).recipe;
  const { recipe } = kind === 'argon2id' ? usual.scrypt : usual.argon2id;
  await derive(password, recipe, Buffer.alloc(saltBytes));
}

/** Tells whether a hash has another recipe than today's, so that the next login replaces it. */
export function isOutdated(phc: string): boolean {
  return !phc.startsWith(current.prefix);
}

/** Tells whether login can verify a hash: argon2id or scrypt, at most 64 MiB, a salt of 16 bytes or more. */
export function isPasswordHash(phc: string): boolean {
  return recordOf(phc) !== undefined;
}

/** No password belongs to this hash. Login verifies it when the user name is unknown (R37). */
export const dummyPasswordHash = currentPhc(Buffer.alloc(saltBytes), Buffer.alloc(keyBytes));

/** PHC strings have parameters, a salt of 16 bytes or more, a key of 32 bytes, in base64 without padding. */
const argon2idShape = /^\$argon2id\$v=19\$m=(\d{1,5}),t=(\d),p=(\d)\$([A-Za-z0-9+/]{22,86})\$([A-Za-z0-9+/]{43})$/;
const scryptShape = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d)\$([A-Za-z0-9+/]{22,86})\$([A-Za-z0-9+/]{43})$/;

function storedRecordOf(phc: string): PasswordRecord {
  const record = recordOf(phc);
  if (record === undefined) throw new Error('a stored password hash is not a PHC string of a supported kind');
  return record;
}

function recordOf(phc: string): PasswordRecord | undefined {
  const argon2id = argon2idShape.exec(phc);
  const matched = argon2id ?? scryptShape.exec(phc);
  if (matched === null) return undefined;
  const [first = 0, second = 0, parallelism = 0] = matched.slice(1, 4).map(Number);
  const [salt = Buffer.of(), key = Buffer.of()] = matched.slice(4).map((text) => Buffer.from(text, 'base64'));
  const recipe: Recipe =
    argon2id === null
      ? { kind: 'scrypt', log2Cost: first, blockSize: second, parallelism }
      : { kind: 'argon2id', memoryKib: first, passes: second, parallelism };
  return isAffordable(recipe) ? { recipe, salt, key } : undefined;
}

/**
 * Tells whether a recipe is within the algorithms' ranges and the function's memory, and no weaker than OWASP's
 * smallest choices.
 */
function isAffordable(recipe: Recipe): boolean {
  if (recipe.parallelism < 1) return false;
  if (recipe.kind === 'argon2id') {
    return recipe.memoryKib >= 7_168 && recipe.memoryKib * 1024 <= maxMemoryBytes && recipe.passes >= 1;
  }
  return (
    recipe.log2Cost >= 13 && recipe.blockSize >= 8 && 128 * 2 ** recipe.log2Cost * recipe.blockSize <= maxMemoryBytes
  );
}

function currentPhc(salt: Buffer, key: Buffer): string {
  return current.prefix + [salt, key].map(unpadded).join('$');
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}

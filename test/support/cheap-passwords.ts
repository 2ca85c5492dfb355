import { createHash } from 'node:crypto';
import type * as Passwords from '../../lib/access/sign-in/password.ts';

/**
 * The hashing of passwords with a derivation that costs nothing, for tests that provision again and again. What is stored has
 * the form and the recipe of the real one; that a real one opens the door is shown by every login of the contract tests.
 */
export function cheapPasswords(whole: typeof Passwords): typeof Passwords {
  const deriveKey: Passwords.KeyDerivation = async (password, _recipe, salt) =>
    createHash('sha256').update(salt).update(password).digest();
  return {
    ...whole,
    deriveKey,
    hashPassword: (password, salt) => whole.hashPassword(password, salt, deriveKey),
    verifyPassword: (password, phc, derive = deriveKey) => whole.verifyPassword(password, phc, derive),
  };
}

import { createHash } from 'node:crypto';
import { usernamePattern } from './sign-in.ts';

/** The keys of the credentials table, which has no sort key. */
export function credentialKey(username: string): { readonly pk: string } {
  return { pk: `USER#${keyPart(username)}` };
}

/** The failure counter of a user name in one window. */
export function attemptsKey(username: string, window: number): { readonly pk: string } {
  return { pk: `ATTEMPTS#${keyPart(username)}#${window}` };
}

/**
 * A user name as part of a key. Names that nobody can have are digested, so that whatever a stranger sends (a megabyte, a
 * lone surrogate that DynamoDB would refuse) becomes a short key of its own. A digest's colon keeps it apart from names.
 */
function keyPart(username: string): string {
  if (usernamePattern.test(username)) return username;
  return `sha256:${createHash('sha256').update(username).digest('hex')}`;
}

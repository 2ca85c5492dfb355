import { createHash } from 'node:crypto';
import { usernamePattern } from './sign-in.ts';

export const credentialPrefix = 'USER#';

/** Keys a credential; its table has no sort key. */
export function credentialKey(username: string): { readonly pk: string } {
  return { pk: `${credentialPrefix}${keyPart(username)}` };
}

/** Keys the record of one day's attempts at a user name from a network, which is digested for privacy. */
export function pairKey(
  { username, network }: { readonly username: string; readonly network: string },
  day: number,
): { readonly pk: string } {
  const name = keyPart(username);
  return { pk: `ATTEMPTS#${name}#${digest(`${name} ${network}`)}#${day}` };
}

/** Keys the wrong attempts at a user name in one hour, from all networks. */
export function nameFailuresKey(username: string, hour: number): { readonly pk: string } {
  return { pk: `ATTEMPTS#${keyPart(username)}#${hour}` };
}

/**
 * Spells a user name in a key. Impossible names (a megabyte, a lone surrogate) become a digest, whose colon keeps it
 * apart from names.
 */
function keyPart(username: string): string {
  return usernamePattern.test(username) ? username : `sha256:${digest(username)}`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

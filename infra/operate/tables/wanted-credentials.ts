import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { credentialKey } from '../../../lib/access/sign-in/credential-items.ts';
import { hashPassword, isOutdated, saltBytes, verifyPassword } from '../../../lib/access/sign-in/password.ts';
import { credentialItem, type ProvisionedItem } from '../../../lib/provisioning/provisioned-items.ts';
import type { ProvisioningFile } from '../../../lib/provisioning/provisioning-file.ts';
import type { StoredItem } from '../../../lib/provisioning/provisioning-plan.ts';

/** Returns the users' credentials after the run. Hashes only passwords that do not match the stored hash. */
export async function wantedCredentials(
  file: ProvisioningFile,
  { stored, kept }: { readonly stored: readonly StoredItem[]; readonly kept: ReadonlySet<string> },
): Promise<{ readonly credentials: ProvisionedItem[]; readonly passwordsHashed: number }> {
  const items = stored.filter(({ table }) => table === 'credentials');
  const storedHashes = new Map(items.map(({ key, attributes }) => [key.pk, v.parse(HashesSchema, attributes)]));
  const credentials: ProvisionedItem[] = [];
  let passwordsHashed = 0;
  for (const user of file.users) {
    const before = storedHashes.get(credentialKey(user.username).pk);
    const { password, password_hash: givenHash } = user;
    if (before !== undefined && kept.has(user.username)) {
      credentials.push(credentialItem(user, before));
    } else if (password === undefined) {
      if (givenHash === undefined) throw new Error('a user without password passed validation');
      const passwordHash = before?.givenHash === givenHash ? before.passwordHash : givenHash;
      credentials.push(credentialItem(user, { passwordHash, givenHash }));
    } else if (before !== undefined && (await isUnchanged(password, before.passwordHash))) {
      credentials.push(credentialItem(user, before));
    } else {
      credentials.push(credentialItem(user, { passwordHash: await hashPassword(password, randomBytes(saltBytes)) }));
      passwordsHashed += 1;
    }
  }
  return { credentials, passwordsHashed };
}

const HashesSchema = v.object({ passwordHash: v.string(), givenHash: v.optional(v.string()) });

async function isUnchanged(password: string, storedHash: string): Promise<boolean> {
  return !isOutdated(storedHash) && (await verifyPassword(password, storedHash));
}

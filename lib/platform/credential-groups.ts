import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { plainObject } from '../http/closed-object.ts';

const CredentialsSchema = v.pipe(
  plainObject,
  v.record(v.string(), v.object({ accessToken: v.string(), appId: v.string() })),
);

/** The platform's tokens, by the name that WABAs refer to. */
export type PlatformCredentials = v.InferOutput<typeof CredentialsSchema>;

/** How many secrets hold the credentials that have become too many for one: for good, so that a name stays in its group. */
export const groupCount = 32;

/** Secrets Manager takes 65,536 bytes. One secret is left behind before, so that what a file adds fits into it. */
export const maxSecretBytes = 65_536;
const maxSingleBytes = 49_152;

const IndexSchema = v.strictObject({ groups: v.literal(groupCount) });
const StoredSchema = v.union([IndexSchema, CredentialsSchema]);

/** What the secret `platform-credentials` holds: all credentials, or the word that they are in groups. Throws otherwise. */
export function storedCredentials(text: string): PlatformCredentials | 'grouped' {
  const stored = v.parse(StoredSchema, JSON.parse(text));
  return v.is(IndexSchema, stored) ? 'grouped' : stored;
}

/** What the secret of a group holds. Throws when that are no credentials. */
export function groupCredentials(text: string): PlatformCredentials {
  return v.parse(CredentialsSchema, JSON.parse(text));
}

/** Which group a credential is in, by a hash of its name. */
export function groupOf(name: string): number {
  return createHash('sha256').update(name).digest().readUInt32BE() % groupCount;
}

/** What the name of a group's secret has behind that of the single one: `-00` to `-31`. */
export function groupSuffix(group: number): string {
  return `-${String(group).padStart(2, '0')}`;
}

export interface CredentialSecret {
  /** Behind the name of the single secret; empty for that itself. */
  readonly suffix: string;
  readonly text: string;
}

/**
 * The secrets that hold these credentials, in the order in which they are to be written: who reads meanwhile finds every
 * credential that stays. They are in groups when they were so before, or when one secret has no room. A group without
 * any has a secret only when it is one of `written`. Throws when a group has no room: some 5,000 have.
 */
export function credentialSecrets(
  credentials: PlatformCredentials,
  { grouped, written }: { readonly grouped: boolean; readonly written: ReadonlySet<number> },
): CredentialSecret[] {
  const single = JSON.stringify(credentials);
  if (!grouped && Buffer.byteLength(single) <= maxSingleBytes) return [{ suffix: '', text: single }];
  const groups = new Map<number, PlatformCredentials>([...written].map((group) => [group, {}]));
  for (const [name, credential] of Object.entries(credentials)) {
    const group = groupOf(name);
    groups.set(group, { ...groups.get(group), [name]: credential });
  }
  const secrets = [...groups].map(([group, some]) => ({ suffix: groupSuffix(group), text: JSON.stringify(some) }));
  if (secrets.some(({ text }) => Buffer.byteLength(text) > maxSecretBytes)) {
    throw new RangeError('there are more platform credentials than the secrets have room for');
  }
  return [...secrets, { suffix: '', text: JSON.stringify({ groups: groupCount }) }];
}

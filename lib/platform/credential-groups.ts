import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { plainObject } from '../http/closed-object.ts';

const CredentialsSchema = v.pipe(
  plainObject,
  v.record(v.string(), v.object({ accessToken: v.string(), appId: v.string() })),
);

/** The platform's tokens are here by the name that WABAs refer to. */
export type PlatformCredentials = v.InferOutput<typeof CredentialsSchema>;

/** Credentials that outgrow one secret take this many. The number never changes, so a name stays in its group. */
export const groupCount = 32;

/** Secrets Manager takes no more. Groups begin below it, so that additions of a provisioning file still fit. */
export const maxSecretBytes = 65_536;
const maxSingleBytes = 49_152;

const IndexSchema = v.strictObject({ groups: v.literal(groupCount) });
const StoredSchema = v.union([IndexSchema, CredentialsSchema]);

/**
 * Returns the content of the secret `platform-credentials`: all credentials, or a mark that they are in groups. Throws
 * otherwise.
 */
export function storedCredentials(text: string): PlatformCredentials | 'grouped' {
  const stored = v.parse(StoredSchema, JSON.parse(text));
  return v.is(IndexSchema, stored) ? 'grouped' : stored;
}

/** Returns the content of a group's secret. Throws on other text. */
export function groupCredentials(text: string): PlatformCredentials {
  return v.parse(CredentialsSchema, JSON.parse(text));
}

/** Returns the group of a credential, by a hash of its name. */
export function groupOf(name: string): number {
  return createHash('sha256').update(name).digest().readUInt32BE() % groupCount;
}

/** Returns the suffix of a group's secret name: `-00` to `-31`. */
export function groupSuffix(group: number): string {
  return `-${String(group).padStart(2, '0')}`;
}

export interface CredentialSecret {
  /** The single secret's name has none. */
  readonly suffix: string;
  readonly text: string;
}

/**
 * Returns the secrets to write, in an order that keeps existing credentials readable. Groups apply if they did before,
 * or one secret is full. An empty group has a secret only if `written`. Throws when a group is full.
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

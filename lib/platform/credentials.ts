import * as v from 'valibot';
import { keptFor } from '../aws/secrets.ts';
import { nameOf } from '../observe/name-of.ts';
import { PlatformFailure } from './failure.ts';

const CredentialsSchema = v.record(v.string(), v.object({ accessToken: v.string(), appId: v.string() }));

export interface PlatformCredential {
  readonly accessToken: string;
  readonly appId: string;
}

/** Finds a credential by the name that a WABA carries. */
export type CredentialOf = (name: string) => Promise<PlatformCredential>;

const keepForMs = 300_000;

/**
 * Credentials from the secret that `readSecretText` reads, kept 5 minutes. A secret that cannot be read or understood, or
 * that lacks the name, is a failure of ours before anything was sent: `PlatformFailure` `not_sent`, answered 502 (D7).
 */
export function platformCredentials(readSecretText: () => Promise<string>, nowMs: () => number): CredentialOf {
  const credentials = keptFor(keepForMs, nowMs, async () =>
    v.parse(CredentialsSchema, JSON.parse(await readSecretText())),
  );
  return async (name) => {
    try {
      const all = await credentials();
      if (Object.hasOwn(all, name)) return all[name] as PlatformCredential;
    } catch (error) {
      // The cause is named, not carried: messages of JSON.parse and valibot quote what they read, here a token.
      throw notSent(`the credentials could not be read: ${nameOf(error)}`);
    }
    throw notSent('a WABA names a credential that the secret does not hold');
  };
}

function notSent(reason: string): PlatformFailure {
  return new PlatformFailure('not_sent', { cause: new Error(reason) });
}

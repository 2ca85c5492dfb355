import { cachedFor } from '../aws/secrets.ts';
import { errorName } from '../observe/error-name.ts';
import {
  groupCount,
  groupCredentials,
  groupOf,
  groupSuffix,
  type PlatformCredentials,
  storedCredentials,
} from './credential-groups.ts';
import { PlatformFailure } from './failure.ts';

export interface PlatformCredential {
  readonly accessToken: string;
  readonly appId: string;
}

/** Finds a credential by the name that a WABA carries. */
export type CredentialOf = (name: string) => Promise<PlatformCredential>;

const keepForMs = 300_000;

/** Reads the secret `platform-credentials`, or the one with this suffix. */
export type ReadCredentialsText = (suffix: string) => Promise<string>;

/**
 * Reads credentials from the secret or its groups (`credentialSecrets`), cached for 5 minutes; concurrent calls share
 * one read. A failed read or a missing name is `not_sent`, answered with 502 (D7).
 */
export function platformCredentials(readText: ReadCredentialsText, nowMs: () => number): CredentialOf {
  const kept = <Stored>(suffix: string, parse: (text: string) => Stored) =>
    cachedFor(keepForMs, nowMs, async () => parse(await readText(suffix)));
  const single = kept('', storedCredentials);
  const groups: readonly (() => Promise<PlatformCredentials>)[] = Array.from({ length: groupCount }, (_, group) =>
    kept(groupSuffix(group), groupCredentials),
  );
  const holding = async (name: string) => {
    const stored = await single();
    return stored === 'grouped' ? await groups[groupOf(name)]?.() : stored;
  };
  return async (name) => {
    let all: PlatformCredentials | undefined;
    try {
      all = await holding(name);
    } catch (error) {
      // The error names only its cause: JSON.parse and valibot quote what they read, here a token.
      throw notSent(`the credentials could not be read: ${errorName(error)}`);
    }
    if (all !== undefined && Object.hasOwn(all, name)) return all[name] as PlatformCredential;
    throw notSent('a WABA names a credential that the secret does not hold');
  };
}

function notSent(reason: string): PlatformFailure {
  return new PlatformFailure('not_sent', { cause: new Error(reason) });
}

import type { UserProfile } from '../../lib/access/directory.ts';
import type { KeyDerivation } from '../../lib/access/password.ts';
import { type Credential, type Credentials, failureWindowSeconds } from '../../lib/access/sign-in.ts';

/** Credentials in memory that write down every call, for the policy of signing in. */
export interface RecordedCredentials extends Credentials {
  readonly calls: string[];
}

export function credentialsInMemory(stored: Readonly<Record<string, Credential>>): RecordedCredentials {
  const credentials = new Map(Object.entries(stored));
  const failures = new Map<string, number>();
  const calls: string[] = [];
  const windowKey = (username: string, nowMs: number) =>
    JSON.stringify([username, Math.floor(nowMs / 1000 / failureWindowSeconds)]);
  return {
    calls,
    find: async (username) => {
      calls.push('find');
      return credentials.get(username);
    },
    countFailures: async (username, nowMs) => {
      calls.push('countFailures');
      return failures.get(windowKey(username, nowMs)) ?? 0;
    },
    addFailure: async (username, nowMs) => {
      calls.push('addFailure');
      const key = windowKey(username, nowMs);
      failures.set(key, (failures.get(key) ?? 0) + 1);
    },
    replaceHash: async (username, oldHash, newHash) => {
      calls.push('replaceHash');
      const credential = credentials.get(username);
      if (credential?.passwordHash === oldHash) credentials.set(username, { ...credential, passwordHash: newHash });
    },
  };
}

export function usersInMemory(users: readonly UserProfile[]) {
  return {
    findUser: async (clientId: number, userId: string) =>
      users.find((user) => user.clientId === clientId && user.userId === userId),
  };
}

/** A derivation that costs nothing and counts itself. Its key is the password padded: enough to be right or wrong. */
export function cheapDerivation(): { readonly derive: KeyDerivation; count: number } {
  const cheap = {
    count: 0,
    derive: async (password: string) => {
      cheap.count += 1;
      return Buffer.from(password.padEnd(32, '.').slice(0, 32));
    },
  };
  return cheap;
}

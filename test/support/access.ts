import type { UserProfile } from '../../lib/access/directory.ts';
import {
  type AttemptConditions,
  failureHourSeconds,
  type PairRecord,
  recordDaySeconds,
} from '../../lib/access/sign-in/login-throttle.ts';
import type { KeyDerivation } from '../../lib/access/sign-in/password.ts';
import type { Credential, Credentials, LoginAttempts, LoginSource } from '../../lib/access/sign-in/sign-in.ts';

/** Keeps credentials in memory for the login policy. `calls` records every call. */
export function credentialsInMemory(stored: Readonly<Record<string, Credential>>, calls: string[] = []): Credentials {
  const credentials = new Map(Object.entries(stored));
  return {
    find: async (username) => {
      calls.push('find');
      return credentials.get(username);
    },
    replaceHash: async (username, oldHash, newHash) => {
      calls.push('replaceHash');
      const credential = credentials.get(username);
      if (credential?.passwordHash === oldHash) credentials.set(username, { ...credential, passwordHash: newHash });
    },
  };
}

export interface RecordedAttempts extends LoginAttempts {
  readonly startedAtMs: number[];
}

/**
 * Keeps login attempts in memory, under the conditions of the DynamoDB store
 * (test/lib/access/sign-in/login-attempts-store.adapter.test.ts).
 */
export function attemptsInMemory(calls: string[] = []): RecordedAttempts {
  const pairs = new Map<string, Partial<PairRecord>>();
  const names = new Map<string, number>();
  const startedAtMs: number[] = [];
  const pairKey = ({ username, network }: LoginSource, nowMs: number) =>
    JSON.stringify([username, network, Math.floor(nowMs / 1000 / recordDaySeconds)]);
  const nameKey = (username: string, hour: number) => JSON.stringify([username, hour]);
  const hourOf = (nowMs: number) => Math.floor(nowMs / 1000 / failureHourSeconds);
  return {
    startedAtMs,
    read: async (source, nowMs) => {
      calls.push('read');
      const pair = pairs.get(pairKey(source, nowMs));
      const hour = hourOf(nowMs);
      const failures = [hour - 1, hour].map((each) => names.get(nameKey(source.username, each)) ?? 0);
      return {
        pair: pair === undefined ? undefined : { started: 0, failures: 0, lastStartedMs: 0, ...pair },
        nameFailures: failures.reduce((sum, count) => sum + count, 0),
      };
    },
    start: async (source, turn, nowMs) => {
      calls.push('start');
      const pair = pairs.get(pairKey(source, nowMs));
      if (!allows(turn, pair)) return false;
      pairs.set(pairKey(source, nowMs), { ...pair, started: (pair?.started ?? 0) + 1, lastStartedMs: nowMs });
      startedAtMs.push(nowMs);
      return true;
    },
    settle: async (source, failures, nowMs) => {
      calls.push('settle');
      const pair = pairs.get(pairKey(source, nowMs));
      pairs.set(pairKey(source, nowMs), { ...pair, failures: (pair?.failures ?? 0) + failures });
      const name = nameKey(source.username, hourOf(nowMs));
      names.set(name, (names.get(name) ?? 0) + failures);
    },
    forget: async (source, nowMs) => {
      calls.push('forget');
      pairs.delete(pairKey(source, nowMs));
    },
  };
}

/** Tells whether the record allows an attempt to start now. */
function allows({ free, atOnce, afterDelayOf }: AttemptConditions, pair: Partial<PairRecord> | undefined): boolean {
  if (pair?.started === undefined) return true;
  const { started, failures = 0 } = pair;
  return started < free || (failures === 0 && started < atOnce) || started === afterDelayOf;
}

export function usersInMemory(users: readonly UserProfile[]) {
  return {
    findUser: async (clientId: number, userId: string) =>
      users.find((user) => user.clientId === clientId && user.userId === userId),
  };
}

/**
 * Derives keys at no cost and records its calls. A key is the padded password, which is enough to compare passwords.
 */
export function cheapDerivation() {
  const recipes: Parameters<KeyDerivation>[1][] = [];
  const derive: KeyDerivation = async (password, recipe) => {
    recipes.push(recipe);
    return Buffer.from(password.padEnd(32, '.').slice(0, 32));
  };
  return { derive, recipes };
}

/** Every refused login has these derivations, the same for every username, in any order (R37). */
export const refusedRecipes = [
  { kind: 'argon2id', memoryKib: 19_456, passes: 2, parallelism: 1 },
  { kind: 'scrypt', log2Cost: 15, blockSize: 8, parallelism: 3 },
] as const satisfies Parameters<KeyDerivation>[1][];

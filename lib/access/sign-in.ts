import type { Directory, UserProfile } from './directory.ts';
import { hashPassword, isOutdated, type KeyDerivation, nobodysPasswordHash, verifyPassword } from './password.ts';

/** Failed attempts of one user name within one window after which that name is refused until the window ends (R38). */
export const failureLimit = 10;
export const failureWindowSeconds = 900;

/** The user names that can be provisioned. */
export const usernamePattern = /^[A-Za-z0-9._@+-]{1,128}$/;

export interface Credential {
  readonly passwordHash: string;
  /** The hash that was provisioned, where it was a hash: `passwordHash` may have taken its place at a login. */
  readonly givenHash?: string | undefined;
  readonly userId: string;
  readonly clientId: number;
}

/** What login keeps: credentials by user name, and how often each name failed lately, whether anybody has it or not. */
export interface Credentials {
  find(username: string): Promise<Credential | undefined>;
  countFailures(username: string, nowMs: number): Promise<number>;
  addFailure(username: string, nowMs: number): Promise<void>;
  /** Puts `newHash` in the place of `oldHash`; does nothing when the password has been changed in between. */
  replaceHash(username: string, oldHash: string, newHash: string): Promise<void>;
}

export interface SignInPorts {
  readonly credentials: Credentials;
  readonly directory: Pick<Directory, 'findUser'>;
  readonly deriveKey: KeyDerivation;
  readonly newSalt: () => Buffer;
}

export interface SignInAttempt {
  readonly username: string;
  readonly password: string;
}

/**
 * The user a name and password belong to; undefined when they are not right or the name is blocked. Every refused attempt
 * does the same: two reads, one key derivation, one counter write (D11, R37), so neither its answer nor its time tells an
 * unknown name from a wrong password or from a blocked name; a hash provisioned with another recipe takes another time
 * until the first right login replaces it. Attempts already under way when the tenth failure is
 * written are still checked; counting before checking would block a name for its own parallel, rightful logins.
 */
export async function signIn(
  ports: SignInPorts,
  attempt: SignInAttempt,
  nowMs: number,
): Promise<UserProfile | undefined> {
  const { credentials } = ports;
  const { username, password } = attempt;
  const [credential, failures] = await Promise.all([
    credentials.find(username),
    credentials.countFailures(username, nowMs),
  ]);
  const storedHash = credential?.passwordHash ?? nobodysPasswordHash;
  const matches = await verifyPassword(password, storedHash, ports.deriveKey);
  if (credential === undefined || !matches || failures >= failureLimit) {
    await credentials.addFailure(username, nowMs);
    return undefined;
  }
  if (isOutdated(storedHash)) {
    const newHash = await hashPassword(password, ports.newSalt(), ports.deriveKey);
    await credentials.replaceHash(username, storedHash, newHash);
  }
  return ports.directory.findUser(credential.clientId, credential.userId);
}

import type { Directory, UserProfile } from '../directory.ts';
import { type AttemptConditions, type AttemptHistory, attemptConditions } from './login-throttle.ts';
import {
  deriveOtherKind,
  dummyPasswordHash,
  hashPassword,
  isOutdated,
  type KeyDerivation,
  verifyPassword,
} from './password.ts';

export const usernamePattern = /^[A-Za-z0-9._@+-]{1,128}$/;

export interface Credential {
  readonly passwordHash: string;
  /** The hash is the provisioned one, if there was one. A login may have replaced `passwordHash` since. */
  readonly givenHash?: string | undefined;
  readonly userId: string;
  readonly clientId: number;
}

export interface Credentials {
  find(username: string): Promise<Credential | undefined>;
  /** Replaces `oldHash` by a compare-and-set; does nothing when the password has changed in between. */
  replaceHash(username: string, oldHash: string, newHash: string): Promise<void>;
}

export interface LoginSource {
  readonly username: string;
  readonly network: string;
}

/** login-throttle.ts judges the record. `nowMs` is the same for all calls of one attempt. */
export interface LoginAttempts {
  read(source: LoginSource, nowMs: number): Promise<AttemptHistory>;
  /** Counts an attempt, if the turn allows it. Returns whether it did. */
  start(source: LoginSource, turn: AttemptConditions, nowMs: number): Promise<boolean>;
  /** Adds a wrong attempt to pair and name. Adding 0 costs the same writes, so that time reveals nothing. */
  settle(source: LoginSource, failures: 0 | 1, nowMs: number): Promise<void>;
  forget(source: LoginSource, nowMs: number): Promise<void>;
}

export interface SignInPorts {
  readonly credentials: Credentials;
  readonly attempts: LoginAttempts;
  readonly directory: Pick<Directory, 'findUser'>;
  readonly deriveKey: KeyDerivation;
  readonly newSalt: () => Buffer;
}

export interface SignInAttempt extends LoginSource {
  readonly password: string;
}

/**
 * Returns the user of a name and password, or undefined when they are wrong or the throttle refuses
 * (login-throttle.ts). All refusals do the same work (D11, R37), so that neither answer nor time reveals the cause.
 */
export async function signIn(
  ports: SignInPorts,
  attempt: SignInAttempt,
  nowMs: number,
): Promise<UserProfile | undefined> {
  const { attempts, credentials } = ports;
  const { username, network, password } = attempt;
  const source = { username, network };
  const [credential, history] = await Promise.all([credentials.find(username), attempts.read(source, nowMs)]);
  // The attempt counts before the check, so that parallel guesses cannot pass the throttle.
  const started = await attempts.start(source, attemptConditions(history, nowMs), nowMs);
  const storedHash = credential?.passwordHash ?? dummyPasswordHash;
  const matches = await verifyPassword(password, storedHash, ports.deriveKey);
  const user = credential !== undefined && matches && started ? await profileOf(ports, credential) : undefined;
  if (user === undefined) {
    // A hash that was provisioned with other costs takes its own time, until the first right login replaces it.
    await deriveOtherKind(password, storedHash, ports.deriveKey);
    await attempts.settle(source, started ? 1 : 0, nowMs);
    return undefined;
  }
  await attempts.forget(source, nowMs);
  if (isOutdated(storedHash)) {
    const newHash = await hashPassword(password, ports.newSalt(), ports.deriveKey);
    await credentials.replaceHash(username, storedHash, newHash);
  }
  return user;
}

function profileOf({ directory }: SignInPorts, { clientId, userId }: Credential): Promise<UserProfile | undefined> {
  return directory.findUser(clientId, userId);
}

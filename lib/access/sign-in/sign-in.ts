import type { Directory, UserProfile } from '../directory.ts';
import { type AttemptHistory, type Turn, turnOf } from './login-pace.ts';
import {
  deriveOtherKind,
  hashPassword,
  isOutdated,
  type KeyDerivation,
  nobodysPasswordHash,
  verifyPassword,
} from './password.ts';

/** The user names that can be provisioned. */
export const usernamePattern = /^[A-Za-z0-9._@+-]{1,128}$/;

export interface Credential {
  readonly passwordHash: string;
  /** The hash that was provisioned, where it was a hash: `passwordHash` may have taken its place at a login. */
  readonly givenHash?: string | undefined;
  readonly userId: string;
  readonly clientId: number;
}

/** What login keeps: credentials by user name. */
export interface Credentials {
  find(username: string): Promise<Credential | undefined>;
  /** Puts `newHash` in the place of `oldHash`; does nothing when the password has been changed in between. */
  replaceHash(username: string, oldHash: string, newHash: string): Promise<void>;
}

/** By whom an attempt is counted: the user name, whether anybody has it or not, and the network it came from. */
export interface LoginSource {
  readonly username: string;
  readonly network: string;
}

/** The record of attempts that the pace is told from; see login-pace.ts. `nowMs` is the same for all of one attempt. */
export interface LoginAttempts {
  read(source: LoginSource, nowMs: number): Promise<AttemptHistory>;
  /** Counts an attempt of the pair before its password is looked at, if the turn allows it; whether it did. */
  start(source: LoginSource, turn: Turn, nowMs: number): Promise<boolean>;
  /** Adds a wrong attempt to the pair and to the name, or writes as much and adds none. */
  settle(source: LoginSource, failures: 0 | 1, nowMs: number): Promise<void>;
  /** Erases the record of the pair. */
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
 * The user a name and password belong to; undefined when they are not right or it is not this attempt's turn
 * (login-pace.ts). Every refused attempt does the same work, a derivation of each kind (D11, R37): neither answer nor
 * time tells why, nor whether anybody has the name. Only a hash that was provisioned at other costs than `hashPassword`'s
 * takes its own, until its first right login. Attempts are counted before the password is looked at.
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
  const started = await attempts.start(source, turnOf(history, nowMs), nowMs);
  const storedHash = credential?.passwordHash ?? nobodysPasswordHash;
  const matches = await verifyPassword(password, storedHash, ports.deriveKey);
  const user = credential !== undefined && matches && started ? await profileOf(ports, credential) : undefined;
  if (user === undefined) {
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

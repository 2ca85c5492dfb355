import { randomBytes } from 'node:crypto';
import { documents, environmentVariable, secretValue } from '../aws/deployed.ts';
import { log } from '../observe/log.ts';
import { leaseStore } from './budget/lease-store.ts';
import { leasedBudget } from './budget/leased-budget.ts';
import { directoryStore } from './directory-store.ts';
import { credentialStore } from './sign-in/credential-store.ts';
import { loginAttemptsStore } from './sign-in/login-attempts-store.ts';
import { deriveKey, hasArgon2, saltBytes } from './sign-in/password.ts';
import type { TokenScope } from './tokens/token.ts';
import { keysKeptSeconds, signingKey } from './tokens/token-keys.ts';

export { deployed } from '../aws/deployed.ts';

/** Builds the frame's ports behind the authorizer. A limit of 0 switches the budget off (D54). */
export function deployedFrame() {
  const limit = Number(environmentVariable('CLIENT_RATE_PER_MINUTE'));
  const counter = leaseStore(documents(), environmentVariable('BUDGETS_TABLE'));
  return { nowMs: Date.now, budget: limit === 0 ? undefined : leasedBudget(counter, limit) };
}

export function deployedDirectory() {
  return { directory: directoryStore(documents(), environmentVariable('DIRECTORY_TABLE')), nowMs: Date.now };
}

export function deployedAccess() {
  return { ...deployedFrame(), ...deployedDirectory() };
}

export function deployedTokenScope(): TokenScope {
  return { issuer: environmentVariable('TOKEN_ISSUER'), audience: environmentVariable('TOKEN_AUDIENCE') };
}

export function deployedSignIn() {
  if (!hasArgon2) log('login.argon2_missing');
  return {
    credentials: credentialStore(documents(), environmentVariable('CREDENTIALS_TABLE')),
    attempts: loginAttemptsStore(documents(), environmentVariable('CREDENTIALS_TABLE')),
    deriveKey,
    newSalt: () => randomBytes(saltBytes),
    signingKey: secretValue('TOKEN_SIGNING_KEYS_SECRET', keysKeptSeconds, signingKey),
    scope: deployedTokenScope(),
  };
}

import { randomBytes, randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { directoryStore } from '../lib/access/directory-store.ts';
import { credentialStore } from '../lib/access/sign-in/credential-store.ts';
import { loginAttemptsStore } from '../lib/access/sign-in/login-attempts-store.ts';
import { deriveKey, passwordMaxLength, saltBytes } from '../lib/access/sign-in/password.ts';
import { type SignInPorts, signIn } from '../lib/access/sign-in/sign-in.ts';
import { sourceNetwork } from '../lib/access/sign-in/source-address.ts';
import { issueToken, type TokenScope } from '../lib/access/tokens/token.ts';
import { keysKeptSeconds, type SigningKey, signingKey } from '../lib/access/tokens/token-keys.ts';
import { documentClient } from '../lib/aws/dynamodb.ts';
import { environmentVariable } from '../lib/aws/environment.ts';
import { keptFor, secretReader } from '../lib/aws/secrets.ts';
import { answer } from '../lib/http/answer.ts';
import { jsonValue, textBody } from '../lib/http/body.ts';
import type { Endpoint } from '../lib/http/endpoint.ts';
import { publicEndpoint } from '../lib/http/public-endpoint.ts';
import { Refusal } from '../lib/http/refusal.ts';
import { count } from '../lib/observe/metrics.ts';

const loginBody = textBody({ maxBytes: 4_096 });

/** Whatever is not a user name and a password is an attempt of nobody: the same work and the same 401 (D11). */
const nobody = { username: '', password: '' };
const LoginSchema = v.fallback(
  v.object({ username: v.string(), password: v.pipe(v.string(), v.maxLength(passwordMaxLength)) }),
  nobody,
);

export interface LoginCollaborators extends SignInPorts {
  readonly signingKey: () => Promise<SigningKey>;
  readonly scope: TokenScope;
  readonly nowMs: () => number;
  readonly newTokenId: () => string;
}

/** POST /login: an access token for a user name and password (contract, Authentication 1; D3, D11). */
export function login(collaborators: LoginCollaborators): Endpoint {
  return publicEndpoint(loginBody, async (event) => {
    const given = v.parse(LoginSchema, jsonValue(String(event.body)));
    const attempt = { ...given, network: sourceNetwork(event.requestContext.http.sourceIp) };

    const nowMs = collaborators.nowMs();
    const user = await signIn(collaborators, attempt, nowMs);
    if (user === undefined) {
      count('LoginFailures');
      throw new Refusal('invalid_credentials', 'wrong user name or password');
    }

    const token = await issueToken(await collaborators.signingKey(), collaborators.scope, {
      userId: user.userId,
      clientId: user.clientId,
      permissions: user.permissions,
      tokenId: collaborators.newTokenId(),
      nowMs,
    });
    return answer(200, { access: true, access_token: token });
  });
}

const documents = documentClient();
const credentialsTable = environmentVariable('CREDENTIALS_TABLE');
const readSecret = secretReader();
const signingKeysSecret = environmentVariable('TOKEN_SIGNING_KEYS_SECRET');

export const handler = login({
  credentials: credentialStore(documents, credentialsTable),
  attempts: loginAttemptsStore(documents, credentialsTable),
  directory: directoryStore(documents, environmentVariable('DIRECTORY_TABLE')),
  deriveKey,
  newSalt: () => randomBytes(saltBytes),
  signingKey: keptFor(keysKeptSeconds * 1000, Date.now, async () => signingKey(await readSecret(signingKeysSecret))),
  scope: { issuer: environmentVariable('TOKEN_ISSUER'), audience: environmentVariable('TOKEN_AUDIENCE') },
  nowMs: Date.now,
  newTokenId: randomUUID,
});

import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { deployed, deployedDirectory, deployedSignIn } from '../lib/access/deployed.ts';
import { passwordMaxLength } from '../lib/access/sign-in/password.ts';
import { type SignInPorts, signIn } from '../lib/access/sign-in/sign-in.ts';
import { sourceNetwork } from '../lib/access/sign-in/source-address.ts';
import { issueToken, type TokenScope } from '../lib/access/tokens/token.ts';
import type { SigningKey } from '../lib/access/tokens/token-keys.ts';
import type { Audit } from '../lib/audit/audit.ts';
import { deployedAudit } from '../lib/audit/deployed.ts';
import { sourceAddressOf } from '../lib/http/edge-guard.ts';
import { answer, type Endpoint, jsonValue, Refusal, shaped, textBody } from '../lib/http/page.ts';
import { publicEndpoint } from '../lib/http/public-endpoint.ts';
import { count } from '../lib/observe/metrics.ts';

const loginBody = textBody({ maxBytes: 4_096 });

/** A malformed body counts as an attempt without a user: the same work and the same 401 (D11). */
const noUser = { username: '', password: '' };
export const LoginBody = v.object({
  username: v.string(),
  password: v.pipe(v.string(), v.maxLength(passwordMaxLength)),
});
const LoginSchema = v.fallback(LoginBody, noUser);

export const LoginAnswer = v.object({ access: v.literal(true), access_token: v.string() });

export interface LoginPorts extends SignInPorts {
  readonly signingKey: () => Promise<SigningKey>;
  readonly scope: TokenScope;
  readonly nowMs: () => number;
  readonly newTokenId: () => string;
  readonly audit: Audit;
}

/** POST /login: issues an access token for a user name and password (contract, Authentication 1; D3, D11). */
export function login(ports: LoginPorts): Endpoint {
  return publicEndpoint(loginBody, async (event) => {
    const given = v.parse(LoginSchema, jsonValue(String(event.body)));
    const attempt = { ...given, network: sourceNetwork(sourceAddressOf(event)) };

    const nowMs = ports.nowMs();
    const user = await signIn(ports, attempt, nowMs);
    if (user === undefined) {
      count('LoginFailures');
      throw new Refusal('invalid_credentials', 'wrong user name or password');
    }

    const token = await issueToken(await ports.signingKey(), ports.scope, {
      userId: user.userId,
      clientId: user.clientId,
      permissions: user.permissions,
      tokenId: ports.newTokenId(),
      nowMs,
    });
    await ports.audit.note({ caller: user, clientId: user.clientId, act: 'login', on: {} }, 'done');
    return answer(200, shaped(LoginAnswer, { access: true, access_token: token }));
  });
}

export const handler = deployed(() =>
  login({ ...deployedDirectory(), ...deployedSignIn(), ...deployedAudit(), newTokenId: randomUUID }),
);

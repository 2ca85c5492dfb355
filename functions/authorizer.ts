import type { APIGatewayRequestAuthorizerEventV2, APIGatewaySimpleAuthorizerWithContextResult } from 'aws-lambda';
import { authorizerContext, unauthorizedContext } from '../lib/access/authorizer-context.ts';
import { deployedTokenScope } from '../lib/access/deployed.ts';
import { type TokenScope, verifyToken } from '../lib/access/tokens/token.ts';
import { keysKeptSeconds, type VerificationKeys, verificationKeys } from '../lib/access/tokens/token-keys.ts';
import { deployed, secretValue } from '../lib/aws/deployed.ts';
import { correlated } from '../lib/observe/correlation.ts';
import { errorName } from '../lib/observe/error-name.ts';
import { log } from '../lib/observe/log.ts';
import { count, metered } from '../lib/observe/metrics.ts';

export type AuthorizerResult = APIGatewaySimpleAuthorizerWithContextResult<Record<string, string>>;

export type Authorizer = (
  event: Pick<APIGatewayRequestAuthorizerEventV2, 'headers'> & {
    readonly requestContext: { readonly requestId: string };
  },
) => Promise<AuthorizerResult>;

export interface AuthorizerPorts {
  readonly verificationKeys: () => Promise<VerificationKeys>;
  readonly scope: TokenScope;
  readonly nowMs: () => number;
}

/**
 * This alone verifies tokens. HTTP APIs document no authorizer's 401, so every request passes with a verdict, and the
 * endpoint answers 401 (D2, `callerOf`). Without keys it throws: 500 (R35).
 */
export function authorizer(ports: AuthorizerPorts): Authorizer {
  return async (event) => {
    const token = bearerToken(event.headers?.['authorization']);
    if (token === undefined) return unauthorized;
    const keys = await metered(() => keysOf(ports, event.requestContext.requestId));
    const verified = await verifyToken(keys, ports.scope, { token, nowMs: ports.nowMs() });
    return verified === undefined ? unauthorized : { isAuthorized: true, context: authorizerContext(verified) };
  };
}

const unauthorized: AuthorizerResult = { isAuthorized: true, context: unauthorizedContext };

/** Without keys every caller is locked out, and the gateway's 500 does not say why. */
async function keysOf(ports: AuthorizerPorts, requestId: string): Promise<VerificationKeys> {
  try {
    return await ports.verificationKeys();
  } catch (error) {
    count('AuthorizerFailures');
    correlated(requestId, () => log('authorizer.failed', { error: errorName(error) }));
    throw error;
  }
}

function bearerToken(header: string | undefined): string | undefined {
  return /^bearer +(\S+)$/i.exec(header ?? '')?.[1];
}

export const handler = deployed(() =>
  authorizer({
    verificationKeys: secretValue('TOKEN_VERIFICATION_KEYS_SECRET', keysKeptSeconds, verificationKeys),
    scope: deployedTokenScope(),
    nowMs: Date.now,
  }),
);

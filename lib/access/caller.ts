import * as v from 'valibot';
import type { HttpEvent } from '../http/endpoint.ts';
import { Refusal } from '../http/refusal.ts';

/** Permission that lets a token work for other clients than its own (contract, Authentication 3). */
const crossClientPermission = 'BSP_CN';

/** Every permission that there is. */
export const permissions = [crossClientPermission] as const;

/** Who is calling, as the authorizer verified it. */
export interface Caller {
  readonly userId: string;
  readonly clientId: number;
  readonly permissions: readonly string[];
  readonly crossClient: boolean;
}

const contextNumber = v.pipe(v.string(), v.regex(/^\d{1,16}$/), v.transform(Number), v.safeInteger());

/** The authorizer's context: HTTP APIs carry values as strings only, so numbers and lists are spelled as text. */
const AuthorizerContextSchema = v.object({
  verdict: v.literal('authorized'),
  userId: v.pipe(v.string(), v.minLength(1)),
  clientId: contextNumber,
  permissions: v.pipe(
    v.string(),
    v.transform((text) => text.split(' ').filter((word) => word !== '')),
  ),
  expiresAtSeconds: contextNumber,
});

/** The authorizer's context for whatever is not a good token. */
export const unauthorizedContext = { verdict: 'unauthorized' } as const;

/** What the authorizer puts into its context for a verified token; the inverse of `callerOf`. */
export function authorizerContext(token: {
  readonly userId: string;
  readonly clientId: number;
  readonly permissions: readonly string[];
  readonly expiresAtSeconds: number;
}): Record<string, string> {
  return {
    verdict: 'authorized',
    userId: token.userId,
    clientId: String(token.clientId),
    permissions: token.permissions.join(' '),
    expiresAtSeconds: String(token.expiresAtSeconds),
  };
}

/** Whether a token's `exp` has come: the one rule for authorizer and endpoints, without tolerance (D3). */
export function hasExpired(expiresAtSeconds: number, nowMs: number): boolean {
  return nowMs >= expiresAtSeconds * 1000;
}

/**
 * The caller of a request behind the authorizer, which lets every request through and passes on its verdict (D2). Refuses
 * with 401 when the verdict is not `authorized`, when the context is missing or malformed, and when the token has expired
 * since the gateway cached the authorizer's answer (D3).
 */
export function callerOf(event: HttpEvent, nowMs: number): Caller {
  const context = v.safeParse(AuthorizerContextSchema, event.requestContext.authorizer?.lambda);
  if (!context.success || hasExpired(context.output.expiresAtSeconds, nowMs)) {
    throw new Refusal('unauthorized', 'Unauthorized');
  }
  const { userId, clientId, permissions } = context.output;
  return { userId, clientId, permissions, crossClient: permissions.includes(crossClientPermission) };
}

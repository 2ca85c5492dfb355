import * as v from 'valibot';
import type { HttpEvent } from '../http/endpoint.ts';
import { Refusal } from '../http/refusal.ts';
import { AuthorizerContextSchema } from './authorizer-context.ts';

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
    throw new Refusal('unauthorized', 'Unauthorized', { headers: { 'www-authenticate': 'Bearer' } });
  }
  const { userId, clientId, permissions } = context.output;
  return { userId, clientId, permissions, crossClient: permissions.includes(crossClientPermission) };
}

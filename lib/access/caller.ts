import * as v from 'valibot';
import type { HttpEvent } from '../http/endpoint.ts';
import { Refusal } from '../http/refusal.ts';
import { AuthorizerContextSchema } from './authorizer-context.ts';

/** A caller with it may work for other clients than the token's own (contract, Authentication 3). */
const crossClientPermission = 'BSP_CN';

export const permissions = [crossClientPermission] as const;

export interface Caller {
  readonly userId: string;
  readonly clientId: number;
  readonly permissions: readonly string[];
  readonly crossClient: boolean;
}

/** Tells whether a token's `exp` has come: one rule for authorizer and endpoints, without tolerance (D3). */
export function hasExpired(expiresAtSeconds: number, nowMs: number): boolean {
  return nowMs >= expiresAtSeconds * 1000;
}

/**
 * Returns the caller behind the authorizer, which passes every request with its verdict (D2). Refuses with 401 another
 * verdict than `authorized`, a malformed context, and a token that expired since (D3).
 */
export function callerOf(event: HttpEvent, nowMs: number): Caller {
  const context = v.safeParse(AuthorizerContextSchema, event.requestContext.authorizer?.lambda);
  if (!context.success || hasExpired(context.output.expiresAtSeconds, nowMs)) {
    throw new Refusal('unauthorized', 'Unauthorized', { headers: { 'www-authenticate': 'Bearer' } });
  }
  const { userId, clientId, permissions } = context.output;
  return { userId, clientId, permissions, crossClient: permissions.includes(crossClientPermission) };
}

import * as v from 'valibot';
import type { PlatformTransport } from '../../platform/transport.ts';
import { probeTimeoutMs } from '../holds/breaker.ts';
import type { Posting } from './platform-messages.ts';

/** An unknown value blocks nothing. */
const HealthSchema = v.looseObject({
  health_status: v.fallback(v.optional(v.looseObject({ can_send_message: v.optional(v.string()) })), undefined),
});

/**
 * Reads a number's health, free of charge. Throws `PlatformFailure` unless it succeeds, and what unreadable credentials
 * throw.
 */
export function platformProbe(
  call: PlatformTransport,
  credentialOf: (name: string) => Promise<{ readonly accessToken: string }>,
): (message: Pick<Posting, 'wabaId' | 'credential' | 'phoneNumberId'>) => Promise<{ readonly maySend: boolean }> {
  return async ({ wabaId, credential, phoneNumberId }) => {
    const { accessToken } = await credentialOf(credential);
    const query = { fields: 'id,health_status' };
    const asked = { path: phoneNumberId, query, accessToken, wabaId, timeoutMs: probeTimeoutMs };
    const { body } = await call({ method: 'GET', ...asked });
    const health = v.safeParse(HealthSchema, body);
    return { maySend: !health.success || health.output.health_status?.can_send_message !== 'BLOCKED' };
  };
}

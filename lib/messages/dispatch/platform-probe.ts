import type { PlatformTransport } from '../../platform/transport.ts';
import { probeTimeoutMs } from './breaker.ts';
import type { Posting } from './platform-messages.ts';

/**
 * Asks the platform for the number of a message: a read, which costs nothing and sends nothing. Throws
 * `PlatformFailure` for what is not a success, and what the credentials throw when they cannot be read: that says nothing
 * of the platform.
 */
export function platformProbe(
  call: PlatformTransport,
  credentialOf: (name: string) => Promise<{ readonly accessToken: string }>,
): (message: Pick<Posting, 'credential' | 'phoneNumberId'>) => Promise<void> {
  return async ({ credential, phoneNumberId }) => {
    const { accessToken } = await credentialOf(credential);
    const query = { fields: 'id' };
    await call({ method: 'GET', path: phoneNumberId, query, accessToken, timeoutMs: probeTimeoutMs });
  };
}

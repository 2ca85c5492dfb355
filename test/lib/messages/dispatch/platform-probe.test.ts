import { expect, test } from 'vitest';
import { probeTimeoutMs } from '../../../../lib/messages/dispatch/breaker.ts';
import { platformProbe } from '../../../../lib/messages/dispatch/platform-probe.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import type { PlatformCall } from '../../../../lib/platform/transport.ts';

const message = { phoneNumberId: '300000000000001', credential: 'main' };

test('a read of the number, with the credential of the message; nothing is sent (D29)', async () => {
  const calls: PlatformCall[] = [];
  const probe = platformProbe(
    async (call) => {
      calls.push(call);
      return { body: {} };
    },
    async (name) => ({ accessToken: `token of ${name}` }),
  );
  await probe(message);
  expect(calls).toEqual([
    {
      method: 'GET',
      path: message.phoneNumberId,
      query: { fields: 'id' },
      accessToken: `token of ${message.credential}`,
      timeoutMs: probeTimeoutMs,
    },
  ]);
});

test('what the platform says goes to the run that asks; a credential that cannot be read is no word of the platform', async () => {
  const refused = new PlatformFailure('refused', { code: 100 });
  const refusing = platformProbe(
    async () => Promise.reject(refused),
    async () => ({ accessToken: 'token' }),
  );
  await expect(refusing(message)).rejects.toBe(refused);
  const withoutCredential = platformProbe(
    async () => ({ body: {} }),
    async () => Promise.reject(new Error('no secret')),
  );
  await expect(withoutCredential(message)).rejects.not.toBeInstanceOf(PlatformFailure);
});

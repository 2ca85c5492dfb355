import { expect, test } from 'vitest';
import { probeTimeoutMs } from '../../../../lib/messages/holds/breaker.ts';
import { platformProbe } from '../../../../lib/messages/send/platform-messages.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import type { PlatformCall } from '../../../../lib/platform/transport.ts';

const message = { wabaId: '200000000000001', phoneNumberId: '300000000000001', credential: 'main' };

test('the health of the number, with the credential of the message; nothing is sent (D29, D46)', async () => {
  const calls: PlatformCall[] = [];
  const health = (can_send_message: string) => ({ id: '1', health_status: { can_send_message } });
  const bodies: Record<string, unknown>[] = [
    health('BLOCKED'),
    health('LIMITED'),
    health('AVAILABLE'),
    {},
    { health_status: 'well' },
  ];
  const probe = platformProbe(
    async (call) => {
      calls.push(call);
      return { body: bodies.shift() ?? {} };
    },
    async (name) => ({ accessToken: `token of ${name}` }),
  );
  // An unreadable answer does not delay the dispatch.
  const answers = [];
  while (bodies.length > 0) answers.push((await probe(message)).maySend);
  expect(answers).toEqual([false, true, true, true, true]);
  expect(calls).toHaveLength(5);
  expect(calls.slice(0, 1)).toEqual([
    {
      method: 'GET',
      path: message.phoneNumberId,
      query: { fields: 'id,health_status' },
      accessToken: `token of ${message.credential}`,
      wabaId: message.wabaId,
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

import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { sign } from '../../../../lib/webhooks/delivery/signature.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

test('the known answer (R41)', () => {
  const signed = {
    secrets: [secret],
    webhookId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestampSeconds: 1_614_265_330,
    body: '{"test": 2432232314}',
  };
  expect(sign(signed)).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

const other = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDCTxUYnPNNo0=';
test.each([
  ['the new secret', other],
  ['the old secret', secret],
])('during a rotation the library verifies with %s', (_, known) => {
  const timestampSeconds = Math.floor(Date.now() / 1_000);
  const body = '{"name":"☃"}';
  const signature = sign({ secrets: [other, secret], webhookId: 'evt_1', timestampSeconds, body });
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signature,
  };
  expect(signature.split(' ')).toHaveLength(2);
  expect(new Webhook(known).verify(body, headers)).toEqual({ name: '☃' });
  expect(() => new Webhook(known).verify(`${body} `, headers)).toThrow('No matching signature');
});

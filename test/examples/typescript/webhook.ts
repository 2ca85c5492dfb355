// What a receiver of events needs, with Node.js alone; `standardwebhooks` does the same in one call.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { webhooks } from './service-api.ts';

/** An event of any kind: `type` tells which `data` it has. */
export type ServiceEvent = {
  [Kind in keyof webhooks]: webhooks[Kind]['post']['requestBody']['content']['application/json'];
}[keyof webhooks];

/**
 * The event of a delivery (Standard Webhooks 1.0). Throws when it is not ours or 5 minutes old. `body` is what was
 * received, before any parsing.
 */
export function verifiedEvent(
  secret: string,
  headers: Readonly<Record<string, string | undefined>>,
  body: string,
): ServiceEvent {
  const timestamp = headers['webhook-timestamp'] ?? '';
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) throw new Error('the delivery is too old');
  const key = Buffer.from(secret.slice(secret.indexOf('_') + 1), 'base64');
  const expected = createHmac('sha256', key).update(`${headers['webhook-id']}.${timestamp}.${body}`).digest();
  // One signature for each secret that is valid: two for a day after a rotation.
  const given = (headers['webhook-signature'] ?? '').split(' ').filter((each) => each.startsWith('v1,'));
  const isOurs = given
    .map((each) => Buffer.from(each.slice('v1,'.length), 'base64'))
    .some((signature) => {
      return signature.length === expected.length && timingSafeEqual(signature, expected);
    });
  if (!isOurs) throw new Error('the signature is wrong');
  return JSON.parse(body);
}

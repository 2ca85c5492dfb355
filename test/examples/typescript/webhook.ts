// Node.js alone is enough for a receiver of events; the package `standardwebhooks` does the same in one call.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { webhooks } from './service-api.ts';

/** The `type` of an event determines its `data`. */
export type ServiceEvent = {
  [Kind in keyof webhooks]: webhooks[Kind]['post']['requestBody']['content']['application/json'];
}[keyof webhooks];

/**
 * Verifies a delivery (Standard Webhooks 1.0) and returns its event. Throws when the signature is wrong or the delivery
 * is older than 5 minutes. `body` is the raw body, before any parsing.
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
  // The header has one signature for each valid secret: two for a day after a rotation.
  const given = (headers['webhook-signature'] ?? '').split(' ').filter((each) => each.startsWith('v1,'));
  const isOurs = given
    .map((each) => Buffer.from(each.slice('v1,'.length), 'base64'))
    .some((signature) => {
      return signature.length === expected.length && timingSafeEqual(signature, expected);
    });
  if (!isOurs) throw new Error('the signature is wrong');
  return JSON.parse(body);
}

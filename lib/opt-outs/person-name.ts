import { createHmac } from 'node:crypto';
import { canonicalNumber } from './canonical-number.ts';

/** A person's stored name is a keyed digest. Without the key, no search over all numbers can find the person (D60). */
export type PersonName = string;

/** A send spells it: the digits of a number, or a business-scoped user id. */
export type Recipient = string;

export type NameOf = (recipient: Recipient) => PersonName;

/**
 * Names people by HMAC-SHA256, 43 characters of base64url. All spellings of a number share one name
 * (canonical-number.ts). A user id has one name in every WABA; a collision across portfolios would only suppress a
 * message.
 */
export function personNames(key: Uint8Array): NameOf {
  if (key.length < 32) throw new Error('the key of opt-outs is shorter than its digest');
  return (recipient) => createHmac('sha256', key).update(canonicalNumber(recipient)).digest('base64url');
}

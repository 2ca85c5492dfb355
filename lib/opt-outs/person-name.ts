import { createHmac } from 'node:crypto';
import { oneSpelling } from './one-spelling.ts';

/** The name under which a person is kept: a keyed digest, from which without the key no number can be found by trying all (D60). */
export type PersonName = string;

/** A recipient as a send spells it: the digits of a number, or a business-scoped user id. */
export type Recipient = string;

export type NameOf = (recipient: Recipient) => PersonName;

/**
 * Names recipients: HMAC-SHA256 in base64url, 43 characters. All spellings of one number have one
 * name (one-spelling.ts); numbers and user ids never share one. A user id has one name in every
 * WABA: those of a portfolio share it, other portfolios refuse it, and if two ever met, a message too few would be sent.
 */
export function personNames(key: Uint8Array): NameOf {
  if (key.length < 32) throw new Error('the key of opt-outs is shorter than its digest');
  return (recipient) => createHmac('sha256', key).update(oneSpelling(recipient)).digest('base64url');
}

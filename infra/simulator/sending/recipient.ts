import { graphError, messagingError } from '../errors.ts';
import { recipientKey } from '../faults.ts';
import type { Person } from '../people.ts';
import type { World } from '../state.ts';
import { portfolioIdOf, type Waba } from '../wabas.ts';
import type { MessageBody } from './message-body.ts';

export interface Recipient extends Person {
  /** As given. */
  readonly input: string;
  /** The message was sent to the business-scoped user id. */
  readonly scopedUser: boolean;
}

/** Whom a message is for: `to` wins over `recipient` (platform reference, 4.1). */
export function recipientOf(world: World, waba: Waba, { to, recipient }: MessageBody): Recipient {
  if (to !== undefined) {
    const key = recipientKey(to);
    if (!/^\+?\d{5,15}$/.test(to)) throw messagingError(131009, 'to is not a valid phone number');
    return { input: to, key, userId: world.people.userIdOf(portfolioIdOf(waba), key), scopedUser: false };
  }
  if (recipient === undefined) throw graphError(100, '(#100) The parameter to is required.');
  if (!/^[A-Z]{2}\.(ENT\.)?[0-9A-Za-z]{1,128}$/.test(recipient)) {
    throw messagingError(131009, 'recipient is not a valid business-scoped user id');
  }
  return { input: recipient, key: world.people.digitsOf(recipient) ?? recipient, userId: recipient, scopedUser: true };
}

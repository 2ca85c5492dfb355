import type { ViewingBusiness } from '../contact-book.ts';
import { graphError, messagingError } from '../errors.ts';
import { recipientKey } from '../faults.ts';
import { type Person, type Unreachable, userIdForm } from '../people.ts';
import type { World } from '../state.ts';
import type { MessageBody } from './message-body.ts';

export interface Recipient extends Person {
  readonly input: string;
  /** The message is addressed to the business-scoped user id. */
  readonly scopedUser: boolean;
  readonly unreachable?: Unreachable;
}

/** `to` wins over `recipient` (platform reference, 4.1). Nothing hides a number from a sender that uses it. */
export function recipientOf(world: World, sender: ViewingBusiness, { to, recipient }: MessageBody): Recipient {
  const nowMs = world.clock.nowMs();
  if (to !== undefined) {
    const key = recipientKey(to);
    if (!/^\+?\d{5,15}$/.test(to)) throw messagingError(131009, 'to is not a valid phone number');
    const { hidesNumber: _, ...person } = world.people.withNumber(sender, key, nowMs);
    return { ...person, input: to, scopedUser: false, ...(world.people.isLeft(key) ? { unreachable: 'failed' } : {}) };
  }
  if (recipient === undefined) throw graphError(100, '(#100) The parameter to is required.');
  if (!userIdForm.test(recipient)) {
    throw messagingError(131009, 'recipient is not a valid business-scoped user id');
  }
  const { person, unreachable } = world.people.withUserId(sender, recipient, nowMs);
  return { ...person, input: recipient, scopedUser: true, unreachable };
}

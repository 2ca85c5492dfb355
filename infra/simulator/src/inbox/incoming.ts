import type { ViewingBusiness } from '../contact-book.ts';
import { ControlError } from '../control-error.ts';
import { type Person, userIdForm } from '../people.ts';
import type { World } from '../state.ts';
import { portfolioIdOf } from '../wabas.ts';
import { profileOf } from '../webhooks/preference-update.ts';
import { type AcceptedMessage, contactOf } from '../webhooks/receipts.ts';

export interface BusinessNumber extends Pick<AcceptedMessage, 'wabaId' | 'metadata'> {
  readonly viewer: ViewingBusiness;
}

/** Throws a `ControlError` when the id is no number of the business. */
export function businessNumber(world: World, numberId: string): BusinessNumber {
  const number = world.numbers.get(numberId);
  const waba = world.wabas.get(number?.wabaId ?? '');
  if (number === undefined || waba === undefined) {
    throw new ControlError(400, 'phone_number_id', `${numberId} is no phone number of the business`);
  }
  return {
    wabaId: waba.id,
    metadata: { display_phone_number: number.digits, phone_number_id: number.id },
    viewer: { portfolioId: portfolioIdOf(waba), numberId: number.id },
  };
}

/** Finds a person as the business number sees them now. Throws a `ControlError` for an id that reaches no one. */
export function personOf(world: World, viewer: ViewingBusiness, id: string): Person {
  const nowMs = world.clock.nowMs();
  if (userIdForm.test(id)) {
    const { person, unreachable } = world.people.withUserId(viewer, id, nowMs);
    if (unreachable !== undefined) throw new ControlError(400, 'id', `${id} means no person any more`);
    return person;
  }
  if (!/^\d{5,15}$/.test(id)) throw new ControlError(400, 'id', `${id} is no phone number, and no user id`);
  if (world.people.isLeft(id)) throw new ControlError(400, 'id', `${id} is no person's number any more`);
  return world.people.withNumber(viewer, id, nowMs);
}

/**
 * Plans the webhook: in `messages`, or `standby` while another responder owns the thread. Opens the customer service
 * window.
 */
export function planIncoming(world: World, to: BusinessNumber, person: Person, message: object): void {
  const { wabaId, metadata, viewer } = to;
  const atMs = world.clock.nowMs();
  const contact = contactOf(person);
  const value = {
    messaging_product: 'whatsapp',
    metadata,
    contacts: [{ profile: profileOf(person), ...contact }],
    messages: [
      {
        from: contact.wa_id,
        from_user_id: contact.user_id,
        from_parent_user_id: contact.parent_user_id,
        timestamp: String(Math.floor(atMs / 1_000)),
        ...message,
      },
    ],
  };
  const field = world.threads.isOwned(viewer.numberId, person.key, atMs) ? 'standby' : 'messages';
  world.people.wrote(viewer.numberId, person.key, atMs);
  world.threads.wrote(viewer.numberId, person.key, atMs);
  if (contact.wa_id !== undefined) world.people.contacts.met(viewer, contact.wa_id, atMs);
  world.outbox.add({ kind: 'node', wabaId, field, value }, atMs);
}

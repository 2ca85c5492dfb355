import { omitUndefined } from '../../keys/omit-undefined.ts';
import { isUserId } from '../user-id.ts';
import { listOf, objectOf } from './envelope.ts';

/** The platform names a person by at least one id, by its own choice (platform reference, 4.5). */
export interface Person {
  /** The number has digits only, and is absent if the person has a user name and hides the number. */
  readonly waId?: string;
  readonly userId?: string;
  readonly parentUserId?: string;
  /** The name has no `@`. It proves nothing, because a free user name can be taken by another person. */
  readonly username?: string;
}

const maxUsernameLength = 100;

/** Returns digits of a number, without a leading plus. */
export function waIdOf(value: unknown): string | undefined {
  const [, digits] = (typeof value === 'string' && /^\+?(\d{5,20})$/.exec(value)) || [];
  return digits;
}

export function userIdOf(value: unknown): string | undefined {
  return isUserId(value) ? value : undefined;
}

/** Returns a person by these fields; a field of unknown form counts as missing. */
export function personOf(ids: {
  readonly waId: unknown;
  readonly userId: unknown;
  readonly parentUserId?: unknown;
  readonly username?: unknown;
}): Person {
  const username = typeof ids.username === 'string' && ids.username !== '' ? ids.username : undefined;
  return omitUndefined({
    waId: waIdOf(ids.waId),
    userId: userIdOf(ids.userId),
    parentUserId: userIdOf(ids.parentUserId),
    username: username?.slice(0, maxUsernameLength).toWellFormed(),
  });
}

/**
 * Finds the contact of a person in one `value`: by user id, then by number. A person without both is the only contact
 * of an only part.
 */
export function contactsIn(
  value: Readonly<Record<string, unknown>>,
  parts: number,
): (named: Person) => Person | undefined {
  const contacts = (listOf(value['contacts']) ?? []).map((entry) => {
    const contact = objectOf(entry) ?? {};
    return personOf({
      waId: contact['wa_id'],
      userId: contact['user_id'],
      parentUserId: contact['parent_user_id'],
      username: objectOf(contact['profile'])?.['username'],
    });
  });
  const byId = new Map<string, Person>();
  for (const contact of contacts) {
    for (const id of [contact.userId, contact.waId]) if (id !== undefined && !byId.has(id)) byId.set(id, contact);
  }
  const only = contacts.length === 1 && parts === 1 ? contacts[0] : undefined;
  return ({ userId, waId }) => {
    const found = (userId && byId.get(userId)) || (waId && byId.get(waId));
    if (found) return found;
    return userId === undefined && waId === undefined ? only : undefined;
  };
}

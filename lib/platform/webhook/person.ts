import { present } from '../../keys/present.ts';
import { isUserId } from '../user-id.ts';
import { listOf, objectOf } from './envelope.ts';

/** How the platform names a person (platform reference, 4.5): by one id at least, and which ones is not ours to choose. */
export interface Person {
  /** The digits of the number. Left out where the person has a user name and the number may not be shown. */
  readonly waId?: string;
  readonly userId?: string;
  readonly parentUserId?: string;
  /** Without `@`; anybody may take one that somebody has given up, so it proves nothing. */
  readonly username?: string;
}

const maxUsernameLength = 100;

/** Digits of a number; a plus before them is left out. */
export function waIdOf(told: unknown): string | undefined {
  const [, digits] = (typeof told === 'string' && /^\+?(\d{5,20})$/.exec(told)) || [];
  return digits;
}

export function userIdOf(told: unknown): string | undefined {
  return isUserId(told) ? told : undefined;
}

/** A person by what stands in these places; what is of no known form is as good as missing. */
export function personOf(told: {
  readonly waId: unknown;
  readonly userId: unknown;
  readonly parentUserId?: unknown;
  readonly username?: unknown;
}): Person {
  const username = typeof told.username === 'string' && told.username !== '' ? told.username : undefined;
  return present({
    waId: waIdOf(told.waId),
    userId: userIdOf(told.userId),
    parentUserId: userIdOf(told.parentUserId),
    username: username?.slice(0, maxUsernameLength).toWellFormed(),
  });
}

/**
 * The contacts of one `value`, for finding all that it says of a person whom a message, status or preference in it names: by user
 * id, then by number. Where both are missing there, the only contact of the only part is meant.
 */
export function contactsIn(
  value: Readonly<Record<string, unknown>>,
  parts: number,
): (named: Person) => Person | undefined {
  const contacts = (listOf(value['contacts']) ?? []).map((told) => {
    const contact = objectOf(told) ?? {};
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

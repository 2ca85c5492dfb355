import type { ItemKey } from '../aws/item-key.ts';
import type { PersonName } from './person-name.ts';
import { type Scope, type ScopeText, type Sender, textOf } from './scope.ts';

/*
 * Opt-outs in the messages table, none with a time to live. One item each for
 *
 *   a person    PERSON#<name> / OPTOUTS               every writer of a word (record-word.ts): entries of all scopes, other names (person.ts)
 *   a mark      OPTOUTS#<client or WABA> / ANY        the same, before the first entry; never removed
 *   a listed    OPTOUTS#client:<id> / PERSON#<name>   the same, after the person: who is in the listing of a client
 *
 * A name is a keyed digest. Only the listed item spells the recipient, as `recipient`. Erasing removes that item (D60): the person's
 * refuses as before.
 */

export function personKey(name: PersonName): ItemKey {
  return { pk: `PERSON#${name}`, sk: 'OPTOUTS' };
}

/** The inverse of `personKey`. */
export function nameOfPerson(pk: unknown): PersonName {
  return String(pk).slice('PERSON#'.length);
}

/** Of a number the mark is its WABA's, so that a worker has two to look for. */
export function markKey(scope: Scope): ItemKey {
  const marked: ScopeText = scope.kind === 'client' ? textOf(scope) : `waba:${scope.wabaId}`;
  return { pk: `OPTOUTS#${marked}`, sk: 'ANY' };
}

/** The marks of which one at least is there when a message of the sender may be stopped. */
export function markKeysOf({ clientId, wabaId }: Sender): ItemKey[] {
  return [markKey({ kind: 'client', clientId }), markKey({ kind: 'waba', wabaId })];
}

export const listedPrefix = 'PERSON#';

export function listedPartition(clientId: number): string {
  return `OPTOUTS#${textOf({ kind: 'client', clientId })}`;
}

export function listedKey(clientId: number, name: PersonName): ItemKey {
  return { pk: listedPartition(clientId), sk: `${listedPrefix}${name}` };
}

import type { ItemKey } from '../aws/item-key.ts';
import type { PersonName } from './person-name.ts';
import { type Scope, type ScopeText, type Sender, textOf } from './scope.ts';

/*
 * Opt-outs are in the messages table without a time to live. Names are keyed digests; only the listed item spells the
 * recipient. Erasing removes that item (D60), and the person's item refuses as before.
 */

/** Keys a person's item: entries of all scopes, and the person's other names (person.ts). */
export function personKey(name: PersonName): ItemKey {
  return { pk: `PERSON#${name}`, sk: 'OPTOUTS' };
}

export function nameOfPerson(pk: unknown): PersonName {
  return String(pk).slice('PERSON#'.length);
}

/**
 * Keys the mark of a scope, written before its first entry and never removed. A number's mark is its WABA's, so that a
 * worker reads two.
 */
export function markKey(scope: Scope): ItemKey {
  const marked: ScopeText = scope.kind === 'client' ? textOf(scope) : `waba:${scope.wabaId}`;
  return { pk: `OPTOUTS#${marked}`, sk: 'ANY' };
}

/** Keys the marks of a sender. Without both, no message of the sender can be stopped. */
export function markKeysOf({ clientId, wabaId }: Sender): ItemKey[] {
  return [markKey({ kind: 'client', clientId }), markKey({ kind: 'waba', wabaId })];
}

export const listedPrefix = 'PERSON#';

export function listedPartition(clientId: number): string {
  return `OPTOUTS#${textOf({ kind: 'client', clientId })}`;
}

/** Keys a row in a client's list, written after the person's item. */
export function listedKey(clientId: number, name: PersonName): ItemKey {
  return { pk: listedPartition(clientId), sk: `${listedPrefix}${name}` };
}

import { isUserId } from '../platform/user-id.ts';
import { eventId, type OptOutData, type ServiceEvent } from '../webhooks/event.ts';
import type { ClientSource, OptOutChange, PersonSource } from './entry.ts';
import type { Recipient } from './person-name.ts';
import { type ShownScope, textOf } from './scope.ts';

/** A client gets an event about the change. Imported changes have none. */
export interface NotifiedChange {
  readonly clientId: number;
  /** One person has at least one name, the one in the client's list first. */
  readonly recipients: readonly Recipient[];
  /** The person wrote to this number, if to any. */
  readonly did?: string | undefined;
  readonly scope: ShownScope;
  readonly word: OptOutChange<PersonSource | Exclude<ClientSource, 'import'>>;
  /** The person has answered this message, if known. */
  readonly answered?: { readonly dispatchId: string; readonly messageId: string } | undefined;
}

/** Returns the event about a change (D55). The same change has the same event id, whichever run sends it. */
export function optOutEvent({ clientId, recipients, did, scope, word, answered }: NotifiedChange): ServiceEvent {
  const [recipient] = recipients;
  if (recipient === undefined) throw new Error('a change without a person');
  const other = recipients.find((each) => isUserId(each) !== isUserId(recipient));
  const type = word.says === 'stopped' ? 'recipient.opted_out' : 'recipient.opted_in';
  const data: OptOutData = {
    recipient,
    ...(isUserId(recipient) ? { wa_id: other } : { user_id: other }),
    did,
    scope: scope.kind,
    source: word.source,
    at: new Date(word.atMs).toISOString(),
    dispatch_id: answered?.dispatchId,
    message_id: answered?.messageId,
  };
  const id = eventId(type, clientId, [recipient, textOf(scope), word.atMs, word.source]);
  return { id, clientId, type, timestampMs: word.atMs, data };
}

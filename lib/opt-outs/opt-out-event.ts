import { present } from '../keys/present.ts';
import { isUserId } from '../platform/user-id.ts';
import { eventId, type OptOutData, type ServiceEvent } from '../webhooks/event.ts';
import type { ClientSource, PersonSource, Word } from './entry.ts';
import type { Recipient } from './person-name.ts';
import { type Scope, textOf } from './scope.ts';

/** A word that a client is told of. What the operator has imported is told to no client. */
export interface ToldWord {
  readonly clientId: number;
  /** All name one person, the one that the client's list shows first; at least one. */
  readonly recipients: readonly Recipient[];
  /** The number that it was said to, where it was said to one. */
  readonly did?: string | undefined;
  readonly scope: Scope;
  readonly word: Word<PersonSource | Exclude<ClientSource, 'import'>>;
  /** The message that the person has answered, where that is known. */
  readonly answered?: { readonly jobId: string; readonly messageId: string } | undefined;
}

/** The event about a word of a person or of the client's API (D55). The same word is the same event, whichever run tells it. */
export function optOutEvent({ clientId, recipients, did, scope, word, answered }: ToldWord): ServiceEvent {
  const [recipient] = recipients;
  if (recipient === undefined) throw new Error('a word without a person');
  const other = recipients.find((each) => isUserId(each) !== isUserId(recipient));
  const type = word.says === 'stopped' ? 'recipient.opted_out' : 'recipient.opted_in';
  const data: OptOutData = {
    recipient,
    ...present(isUserId(recipient) ? { wa_id: other } : { user_id: other }),
    ...present({ did }),
    scope: scope.kind,
    source: word.source,
    at: new Date(word.atMs).toISOString(),
    ...present({ job_id: answered?.jobId, message_id: answered?.messageId }),
  };
  const id = eventId(type, clientId, [recipient, textOf(scope), word.atMs, word.source]);
  return { id, clientId, type, timestampMs: word.atMs, data };
}

import { omitUndefined } from '../../keys/omit-undefined.ts';
import type { PersonUpdate } from '../../platform/webhook/person-updates.ts';
import type { InboundMessage, InboundUpdate } from './inbound-message.ts';

type NumberWords = Omit<InboundMessage, 'version'>;

/** Returns inbound updates as queued, by number. A person's ids are kept, never the name. */
export function inboundOf(words: readonly PersonUpdate[], receivedAtMs: number): NumberWords[] {
  const byNumber = Map.groupBy(words, ({ wabaId, phoneNumberId }) => `${wabaId} ${phoneNumberId}`);
  return [...byNumber.values()].flatMap((ofNumber) => {
    const [first] = ofNumber;
    if (first === undefined) return [];
    const { wabaId, phoneNumberId } = first;
    return [{ wabaId, phoneNumberId, words: ofNumber.map((word) => queuedWord(word, receivedAtMs)) }];
  });
}

function queuedWord(word: PersonUpdate, receivedAtMs: number): InboundUpdate {
  const { person, atMs, messageId, standby } = word;
  const { waId, userId, parentUserId } = person;
  const shared = {
    person: omitUndefined({ waId, userId, parentUserId }),
    receivedAtMs,
    ...omitUndefined({ atMs, messageId, standby }),
  };
  switch (word.kind) {
    case 'preference':
      return { kind: word.kind, ...shared, says: word.says };
    case 'reply':
      return { kind: word.kind, ...shared, reply: { ...word.reply } };
    case 'user_id_changed':
    case 'number_changed':
      return { kind: 'id_changed', ...shared, old: { ...word.old } };
  }
}

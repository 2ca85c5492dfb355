import { present } from '../../keys/present.ts';
import type { PersonWord } from '../../platform/webhook/person-words.ts';
import type { InboundMessage, InboundWord } from './inbound-message.ts';

type NumberWords = Omit<InboundMessage, 'version'>;

/** People's words as queued, by number. A person's ids are kept, never the name. */
export function inboundOf(words: readonly PersonWord[], receivedAtMs: number): NumberWords[] {
  const byNumber = Map.groupBy(words, ({ wabaId, phoneNumberId }) => `${wabaId} ${phoneNumberId}`);
  return [...byNumber.values()].flatMap((ofNumber) => {
    const [first] = ofNumber;
    if (first === undefined) return [];
    const { wabaId, phoneNumberId } = first;
    return [{ wabaId, phoneNumberId, words: ofNumber.map((word) => queuedWord(word, receivedAtMs)) }];
  });
}

function queuedWord(word: PersonWord, receivedAtMs: number): InboundWord {
  const { person, atMs, messageId, standby } = word;
  const { waId, userId, parentUserId } = person;
  const said = {
    person: present({ waId, userId, parentUserId }),
    receivedAtMs,
    ...present({ atMs, messageId, standby }),
  };
  switch (word.kind) {
    case 'preference':
      return { kind: word.kind, ...said, says: word.says };
    case 'reply':
      return { kind: word.kind, ...said, reply: { ...word.reply } };
    case 'user_id_changed':
    case 'number_changed':
      return { kind: 'id_changed', ...said, old: { ...word.old } };
  }
}

import type { PersonUpdate } from '../../platform/webhook/person-updates.ts';
import type { InboundMessage, InboundUpdate } from './inbound-message.ts';

type NumberUpdates = Omit<InboundMessage, 'version'>;

/** Returns inbound updates as queued, by number. A person's ids are kept, never the name. */
export function inboundOf(updates: readonly PersonUpdate[], receivedAtMs: number): NumberUpdates[] {
  const byNumber = Map.groupBy(updates, ({ wabaId, phoneNumberId }) => `${wabaId} ${phoneNumberId}`);
  return [...byNumber.values()].flatMap((ofNumber) => {
    const [first] = ofNumber;
    if (first === undefined) return [];
    const { wabaId, phoneNumberId } = first;
    return [{ wabaId, phoneNumberId, words: ofNumber.map((update) => queuedUpdate(update, receivedAtMs)) }];
  });
}

function queuedUpdate(update: PersonUpdate, receivedAtMs: number): InboundUpdate {
  const { person, atMs, messageId, standby } = update;
  const { waId, userId, parentUserId } = person;
  const shared = {
    person: { waId, userId, parentUserId },
    receivedAtMs,
    atMs,
    messageId,
    standby,
  };
  switch (update.kind) {
    case 'preference':
      return { kind: update.kind, ...shared, says: update.says };
    case 'reply':
      return { kind: update.kind, ...shared, reply: { ...update.reply } };
    case 'user_id_changed':
    case 'number_changed':
      return { kind: 'id_changed', ...shared, old: { ...update.old } };
  }
}

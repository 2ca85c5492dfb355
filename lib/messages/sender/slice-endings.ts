import type { CallFacts, TriedRecipient } from '../dispatch/call-facts.ts';
import type { Slice } from '../dispatch/slice.ts';
import { eventsOfEndings, type RecipientEnding } from '../send/ending-events.ts';
import { inboundOfEndings } from '../send/inbound-of-endings.ts';
import type { SliceTryPorts } from './sender-ports.ts';

/** The recipients of a try, by place, and how the platform spelled them, by index. */
export interface TriedRecipients {
  readonly recipients: ReadonlyMap<number, TriedRecipient>;
  readonly spelled: ReadonlyMap<number, string>;
}

/** Tells the endings of a try, idempotently by their ids. Rejects when a queue or the store cannot be reached. */
export async function tellEndings(
  facts: CallFacts,
  recorded: Slice,
  { recipients, spelled }: TriedRecipients,
  { events, people, noteSent, process }: SliceTryPorts,
): Promise<void> {
  const endings = [...recipients].flatMap(([place, recipient]): RecipientEnding[] => {
    const outcome = recorded.outcomes[place];
    return outcome === undefined || outcome.state === 'again' ? [] : [{ recipient, outcome }];
  });
  if (endings.length === 0) return;
  await noteSent(facts, endings);
  const { wabaId, phoneNumberId } = facts;
  const words = inboundOfEndings(facts, endings, { slices: [recorded], spelled });
  if (words.length > 0) await people.inbound.send([{ wabaId, phoneNumberId, words }]);
  const told = eventsOfEndings(facts, endings, { slices: [recorded], nowMs: process.nowMs() });
  if (told.length > 0) await events.send(told);
}

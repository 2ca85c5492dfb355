import type { ChunkRecipient, QueuedChunk } from '../chunk.ts';
import { type HeldBy, mayAsk, type Question } from '../holds/hold.ts';
import { isOfRefusal } from '../holds/scope.ts';
import type { RunPorts } from './call-recipient.ts';
import { isDue } from './chunk-time.ts';

/** The one recipient of a slice that is called to ask whether what holds the slice is over (D46). */
export interface Asking {
  readonly question: Question;
  readonly index: number;
}

/** A claimed slice on which there are holds, as read after the claim. */
export interface HeldSlice {
  readonly chunk: QueuedChunk;
  readonly recipients: readonly ChunkRecipient[];
  readonly on: readonly HeldBy[];
}

/**
 * Takes the question of all holds on a claimed slice, for one recipient. Undefined: it is not time, or another worker asks. Of a
 * number that gave no clear answer its health is read first, which costs nothing: a message without an answer ends `unknown`.
 */
export async function askHolds({ chunk, recipients, on }: HeldSlice, ports: RunPorts): Promise<Asking | undefined> {
  const nowMs = ports.nowMs();
  const asker = recipients.find((recipient) => isDue(recipient, nowMs));
  if (asker === undefined || !on.every(({ hold }) => mayAsk(hold, nowMs))) return undefined;
  const question = await ports.holds.ask(chunk);
  if (question === undefined) return undefined;
  const isOfSilence = on.some(({ hold }) => !isOfRefusal(hold.code));
  const health = isOfSilence ? await ports.platform.probe(chunk).catch(() => undefined) : { maySend: true };
  if (health?.maySend) return { question, index: asker.index };
  await ports.holds.answered(chunk, question, 'unclear');
  return undefined;
}

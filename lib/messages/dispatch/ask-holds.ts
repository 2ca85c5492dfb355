import type { ChunkRecipient, QueuedChunk } from '../chunk.ts';
import { answerIn } from '../holds/breaker.ts';
import { reasonOf } from '../holds/held-job.ts';
import { type HeldBy, mayAsk, type Question } from '../holds/hold.ts';
import { isOfRefusal } from '../holds/scope.ts';
import type { JobState } from '../job-state.ts';
import type { RunPorts } from './call-recipient.ts';
import { outsideOf } from './chunk-openings.ts';
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
  /** The widest first. */
  readonly on: readonly HeldBy[];
  readonly job: JobState;
}

/**
 * Takes the question of all holds on a claimed slice, for one recipient. Undefined: it is not time, or another worker asks.
 * Where it is not time, the job is parked; else the hold may be over in a moment, and the next look tells. Of a number that gave
 * no clear answer its health is read first, which costs nothing: a message without an answer ends `unknown`.
 */
export async function askHolds(
  { chunk, recipients, on, job }: HeldSlice,
  ports: RunPorts,
): Promise<Asking | undefined> {
  const nowMs = ports.nowMs();
  const asker = recipients.find(
    (recipient) => isDue(recipient, nowMs) && outsideOf(chunk, recipient, nowMs) === undefined,
  );
  if (!on.every(({ hold }) => mayAsk(hold, nowMs))) {
    const [widest] = on;
    if (widest !== undefined) await ports.holds.park(chunk, reasonOf(widest.scope, widest.hold.code), job);
    return undefined;
  }
  if (asker === undefined) return undefined;
  const question = await ports.holds.ask(chunk);
  if (question === undefined) return undefined;
  const isOfSilence = on.some(({ hold }) => !isOfRefusal(hold.code));
  if (!isOfSilence || (await maySend(chunk, ports))) return { question, index: asker.index };
  await ports.holds.answered(chunk, question, 'unclear');
  return undefined;
}

/** A refused read is an answer that says nothing of the number: a credential may send where it may not read. */
async function maySend(chunk: QueuedChunk, { platform }: RunPorts): Promise<boolean> {
  try {
    return (await platform.probe(chunk)).maySend;
  } catch (error) {
    return answerIn(error) === 'clear';
  }
}

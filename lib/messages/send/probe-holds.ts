import type { ChunkRecipient, QueuedChunk } from '../dispatch/chunk.ts';
import type { DispatchItemState } from '../dispatch/item.ts';
import { answerIn } from '../holds/breaker.ts';
import { reasonOf } from '../holds/held-dispatch.ts';
import { type HeldBy, isProbeDue, type Probe } from '../holds/hold.ts';
import { isOfRefusal } from '../holds/scope.ts';
import { outsideOf } from './chunk-openings.ts';
import { isDue } from './chunk-time.ts';
import type { RunPorts } from './post-message.ts';

/** A call to this recipient of a held slice probes the hold (D46). */
export interface ProbeCall {
  readonly probe: Probe;
  readonly index: number;
}

export interface HeldSlice {
  readonly chunk: QueuedChunk;
  readonly recipients: readonly ChunkRecipient[];
  /** The widest hold comes first. */
  readonly on: readonly HeldBy[];
  readonly dispatch: DispatchItemState;
}

/**
 * Takes the probes of all holds on a slice. Returns undefined when it is too early (the dispatch is then parked) or
 * another worker probes.
 */
export async function probeHolds(
  { chunk, recipients, on, dispatch }: HeldSlice,
  ports: RunPorts,
): Promise<ProbeCall | undefined> {
  const nowMs = ports.nowMs();
  const asker = recipients.find(
    (recipient) => isDue(recipient, nowMs) && outsideOf(chunk, recipient, nowMs) === undefined,
  );
  if (!on.every(({ hold }) => isProbeDue(hold, nowMs))) {
    const [widest] = on;
    if (widest !== undefined) await ports.holds.park(chunk, reasonOf(widest.scope, widest.hold.code), dispatch);
    return undefined;
  }
  if (asker === undefined) return undefined;
  const probe = await ports.holds.takeProbes(chunk);
  if (probe === undefined) return undefined;
  // A silent number's health is read first, free of charge: a message without an answer would end `unknown`.
  const isOfSilence = on.some(({ hold }) => !isOfRefusal(hold.code));
  if (!isOfSilence || (await maySend(chunk, ports))) return { probe, index: asker.index };
  await ports.holds.answered(chunk, probe, 'unclear');
  return undefined;
}

/** A refused read proves nothing: a credential may be allowed to send but not to read. */
async function maySend(chunk: QueuedChunk, { platform }: RunPorts): Promise<boolean> {
  try {
    return (await platform.probe(chunk)).maySend;
  } catch (error) {
    return answerIn(error) === 'clear';
  }
}

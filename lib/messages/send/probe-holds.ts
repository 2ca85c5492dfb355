import type { CallFacts, TriedRecipient } from '../dispatch/call-facts.ts';
import { answerIn } from '../holds/breaker.ts';
import type { HeldBy } from '../holds/hold.ts';
import { isProbeDue, type Probe } from '../holds/questions.ts';
import { isOfRefusal } from '../holds/scope.ts';
import type { RunPorts } from './post-message.ts';
import { outsideOf } from './recipient-openings.ts';

/** A call to this recipient of a held slice probes the hold (D46). */
export interface ProbeCall {
  readonly probe: Probe;
  readonly index: number;
}

export interface HeldSlice {
  readonly callFacts: CallFacts;
  readonly recipients: readonly TriedRecipient[];
  readonly on: readonly HeldBy[];
}

/**
 * Takes the probes of all holds on a slice. Returns undefined when it is too early, or another worker probes.
 */
export async function probeHolds(
  { callFacts, recipients, on }: HeldSlice,
  ports: Pick<RunPorts, 'holds' | 'platform' | 'nowMs'>,
): Promise<ProbeCall | undefined> {
  const nowMs = ports.nowMs();
  const asker = recipients.find(
    (recipient) => (recipient.notBeforeMs ?? 0) <= nowMs && outsideOf(callFacts, recipient, nowMs) === undefined,
  );
  if (asker === undefined || !on.every(({ hold }) => isProbeDue(hold, nowMs))) return undefined;
  const probe = await ports.holds.takeProbes(callFacts);
  if (probe === undefined) return undefined;
  // A silent number's health is read first, free of charge: a message without an answer would end `unknown`.
  const isOfSilence = on.some(({ hold }) => !isOfRefusal(hold.code));
  if (!isOfSilence || (await maySend(callFacts, ports))) return { probe, index: asker.index };
  await ports.holds.answered(callFacts, probe, 'unclear');
  return undefined;
}

/** A refused read proves nothing: a credential may be allowed to send but not to read. */
async function maySend(callFacts: CallFacts, { platform }: Pick<RunPorts, 'platform'>): Promise<boolean> {
  try {
    return (await platform.probe(callFacts)).maySend;
  } catch (error) {
    return answerIn(error) === 'clear';
  }
}

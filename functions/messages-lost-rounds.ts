import { deployed } from '../lib/aws/deployed.ts';
import { deployedLostRounds } from '../lib/messages/deployed/fan-out.ts';
import { findLostRounds, type LostRoundsPorts } from '../lib/messages/fan-out/lost-rounds.ts';
import { metered } from '../lib/observe/metrics.ts';

/** Runs on a schedule: queues again the message of every lost round of a timed send (D56). */
export function messagesLostRounds(ports: LostRoundsPorts): () => Promise<void> {
  return () => metered(() => findLostRounds(ports));
}

export const handler = deployed(() => messagesLostRounds(deployedLostRounds()));

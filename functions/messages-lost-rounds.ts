import { deployed } from '../lib/aws/deployed.ts';
import { deployedLook } from '../lib/messages/deployed/fan-out.ts';
import { type LookPorts, lookAtBacklog } from '../lib/messages/fan-out/backlog-look.ts';
import { metered } from '../lib/observe/metrics.ts';

/** Runs each minute: wakes what is due of the backlog and does not go on (D25, D56). */
export function messagesLostRounds(ports: LookPorts): () => Promise<void> {
  return () => metered(() => lookAtBacklog(ports));
}

export const handler = deployed(() => messagesLostRounds(deployedLook()));

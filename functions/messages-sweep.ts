import { deployed } from '../lib/aws/deployed.ts';
import { deployedSweep } from '../lib/messages/deployed/sweep.ts';
import { type SweepPorts, sweepBacklog } from '../lib/messages/sender/sweep.ts';
import { metered } from '../lib/observe/metrics.ts';

/** Runs each minute: wakes the senders of numbers whose backlog has something due (D25, D56). */
export function messagesSweep(ports: SweepPorts): () => Promise<void> {
  return () => metered(() => sweepBacklog(ports));
}

export const handler = deployed(() => messagesSweep(deployedSweep()));

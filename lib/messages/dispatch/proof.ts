import type { DispatchMessage } from '../job.ts';
import { keyOf } from './claim.ts';
import type { DispatchPorts } from './dispatch-ports.ts';

/**
 * Whether a receipt says that the platform took this message after all. Asked before a claim is given back after a call,
 * before one is settled `unknown`, and again before that is told. A receipt that comes later finds the doubt and does the
 * rest itself: takes the claim before a copy can, or settles `unknown` and tells `message.resolved`.
 */
export async function isProvenTaken(message: DispatchMessage, { doubts }: DispatchPorts): Promise<boolean> {
  await doubts.mark(message);
  return await doubts.hasReceipt(keyOf(message));
}

/**
 * The same, asked again while there is time: when nobody can say, the claim stays, and a message that was certainly not
 * sent ends unknown. A mark written twice is the same mark.
 */
export async function isProvenAfterRefusal(message: DispatchMessage, ports: DispatchPorts): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await isProvenTaken(message, ports);
    } catch (error) {
      if (attempt === 3 || ports.remainingMs() < 5_000) throw error;
      await ports.pause(500 * attempt);
    }
  }
}

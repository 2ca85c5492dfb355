import { type SentQueue, sendAtOnce } from '../../aws/sqs-batch.ts';
import { encodeSenderWake, type SenderWakeMessage } from './sender-wake.ts';

/** Sends wakes, ten a request; rejects unless the queue confirmed all. Each `delaySeconds` is 900 at most. */
export type WakeSenders = (wakes: readonly SenderWakeMessage[], signal?: AbortSignal) => Promise<void>;

/** The message group is the number, so that no number's wakes delay another's. */
export function senderWakeQueue(queue: SentQueue): WakeSenders {
  return async (wakes, signal) => {
    const entries = wakes.map((wake) => {
      const { phoneNumberId: group, delaySeconds } = wake;
      return { body: encodeSenderWake(wake), group, delaySeconds };
    });
    await sendAtOnce(queue, entries, signal);
  };
}

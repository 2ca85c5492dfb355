import { type SentQueue, sendEntry } from '../../aws/sqs-batch.ts';
import { encodeSenderWake, type SenderWakeMessage } from './sender-wake.ts';

/** Sends a wake; rejects when the queue did not confirm it. `delaySeconds` is 900 at most. */
export type WakeSender = (
  wake: Omit<SenderWakeMessage, 'delaySeconds'>,
  delaySeconds: number,
  signal?: AbortSignal,
) => Promise<void>;

/** The message group is the number, so that no number's wakes delay another's. */
export function senderWakeQueue(queue: SentQueue): WakeSender {
  return (wake, delaySeconds, signal) =>
    sendEntry(
      queue,
      { body: encodeSenderWake({ ...wake, delaySeconds }), group: wake.phoneNumberId, delaySeconds },
      signal,
    );
}

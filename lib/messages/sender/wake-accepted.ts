import { laterThanMs } from '../dispatch/backlog.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import type { WakeSender } from '../dispatch/sender-wake-queue.ts';
import { slicesIn } from '../dispatch/slice.ts';
import { hasSlices } from './entry-progress.ts';
import { sendersOf } from './number-parts.ts';

export interface AcceptedWakePorts {
  /** Returns messages a second that the platform lets the number send. Never throws. */
  readonly limitOf: (head: DispatchHead) => Promise<number>;
  readonly wake: WakeSender;
  readonly nowMs: () => number;
}

/**
 * Wakes the senders of an accepted dispatch for its time: the parts of its number that have slices of it. Later ones a
 * sweep wakes. Rejects when a wake was not confirmed.
 */
export async function wakeForAccepted(
  head: DispatchHead,
  { limitOf, wake, nowMs }: AcceptedWakePorts,
  signal?: AbortSignal,
): Promise<void> {
  const { phoneNumberId, dispatchId, acceptedAtMs, when } = head;
  const { fromMs = acceptedAtMs } = when ?? {};
  if (fromMs - acceptedAtMs > laterThanMs) return;
  const of = sendersOf(await limitOf(head));
  const delaySeconds = Math.max(0, Math.ceil((fromMs - nowMs()) / 1_000));
  const slices = slicesIn(head);
  const parts = Array.from({ length: of }, (_, part) => part).filter((part) =>
    hasSlices({ part, of }, { dispatchId, slices }),
  );
  await Promise.all(parts.map((part) => wake({ phoneNumberId, dispatchId, part, of }, delaySeconds, signal)));
}

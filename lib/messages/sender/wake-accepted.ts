import { OutOfReach } from '../../aws/out-of-reach.ts';
import { laterThanMs } from '../dispatch/backlog.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import type { WakeSenders } from '../dispatch/sender-wake-queue.ts';
import { slicesIn } from '../dispatch/slice.ts';
import { hasSlices } from './entry-progress.ts';
import { sendersOf } from './number-parts.ts';

export interface AcceptedWakePorts {
  /** Returns messages a second that the platform lets the number send, if that can be read. Never throws. */
  readonly limitOf: (head: DispatchHead) => Promise<number | undefined>;
  readonly wake: WakeSenders;
  readonly nowMs: () => number;
}

/** Wakes the first part of a stopped dispatch's number, which wakes the others. Rejects as for an accepted one. */
export async function wakeForStopped(
  head: DispatchHead,
  { limitOf, wake }: Pick<AcceptedWakePorts, 'limitOf' | 'wake'>,
): Promise<void> {
  const of = await partsFor(head, limitOf);
  await wake([{ phoneNumberId: head.phoneNumberId, part: 0, of, delaySeconds: 0 }]);
}

/** A number of parts that is not the senders' would begin all of its dispatches again. */
async function partsFor(head: DispatchHead, limitOf: AcceptedWakePorts['limitOf']): Promise<number> {
  const limitPerSecond = await limitOf(head);
  if (limitPerSecond === undefined) throw new OutOfReach('the limit of the number is not known');
  return sendersOf(limitPerSecond);
}

/**
 * Wakes the senders of an accepted dispatch for its time: the parts of its number that have slices of it. Later ones a
 * sweep wakes. Rejects when a wake was not confirmed, or nothing is known of the number.
 */
export async function wakeForAccepted(
  head: DispatchHead,
  { limitOf, wake, nowMs }: AcceptedWakePorts,
  signal?: AbortSignal,
): Promise<void> {
  const { phoneNumberId, dispatchId, acceptedAtMs, when } = head;
  const { fromMs = acceptedAtMs } = when ?? {};
  if (fromMs - acceptedAtMs > laterThanMs) return;
  const of = await partsFor(head, limitOf);
  const delaySeconds = Math.max(0, Math.ceil((fromMs - nowMs()) / 1_000));
  const slices = slicesIn(head);
  const parts = Array.from({ length: of }, (_, part) => part).filter((part) =>
    hasSlices({ part, of }, { dispatchId, slices }),
  );
  await wake(
    parts.map((part) => ({ phoneNumberId, dispatchId, part, of, delaySeconds })),
    signal,
  );
}

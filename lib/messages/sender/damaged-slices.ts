import { isOutOfReach } from '../../aws/out-of-reach.ts';
import { errorName } from '../../observe/error-name.ts';
import { count } from '../../observe/metrics.ts';
import type { DispatchInHand } from './dispatch-in-hand.ts';
import type { OpenSlice } from './open-slice.ts';
import type { SenderPorts } from './sender-ports.ts';

/**
 * Lets a slice wait whose recipients cannot be read, and tells those once that wait together: all other slices go on.
 * Returns false where the store is out of reach: no slice is damaged.
 */
export function letWait(
  hand: DispatchInHand,
  open: OpenSlice,
  error: unknown,
  { log, nowMs }: Pick<SenderPorts['process'], 'log' | 'nowMs'>,
): boolean {
  if (isOutOfReach(error)) return false;
  if (hand.damaged(open, nowMs())) {
    log('dispatch.unreadable', { dispatchId: hand.dispatchId, error: errorName(error) });
    count('SenderFailures');
  }
  return true;
}

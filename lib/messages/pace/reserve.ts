import { straightRecipients } from '../dispatch/chunk.ts';
import { bulkEveryMs, type NumberPace } from './number-pace.ts';
import type { NumberPaces } from './number-paces.ts';
import { reserved, type SlotRequest } from './schedule.ts';

interface OfNumber {
  readonly phoneNumberId: string;
  readonly limitPerSecond: number;
  /** A pace just read saves a read. */
  readonly seen?: NumberPace;
  /** Returns what the number learns in the same write. */
  readonly learning?: (pace: NumberPace, atMs: number) => NumberPace;
}

/**
 * Returns the lane of a dispatch. Small requests share `*`. For other dispatches eight characters of the id suffice:
 * dispatches that share a lane by chance only share its turns.
 */
export function laneOf(dispatchId: string, recipients: number): string {
  return recipients <= straightRecipients ? '*' : dispatchId.slice(-8);
}

/** Reserves `count` positions of a lane, from `firstPosition` on. Throws when the item cannot be written. */
export async function reserve(
  paces: NumberPaces,
  { clientId, lane, count, inFront, late, ...number }: OfNumber & SlotRequest,
  nowMs: number,
): Promise<{ readonly firstPosition: number; readonly pace: NumberPace }> {
  const wanted = [{ clientId, lane, count, inFront, late }];
  const { firstPositions, pace } = await reserveAll(paces, { ...number, wanted }, nowMs);
  return { firstPosition: firstPositions[0] ?? 0, pace };
}

export async function reserveAll(
  paces: NumberPaces,
  {
    phoneNumberId,
    limitPerSecond,
    wanted,
    seen,
    learning = (pace) => pace,
  }: OfNumber & { readonly wanted: readonly SlotRequest[] },
  nowMs: number,
): Promise<{ readonly firstPositions: readonly number[]; readonly pace: NumberPace }> {
  const { pace, result } = await paces.change(phoneNumberId, seen, (current, waitedMs) => {
    const atMs = nowMs + waitedMs;
    const everyMs = bulkEveryMs(limitPerSecond, current, atMs);
    let { schedule } = current;
    const firstPositions = wanted.map((each) => {
      const { schedule: longer, firstPosition } = reserved(schedule, { ...each, everyMs, nowMs: atMs });
      schedule = longer;
      return firstPosition;
    });
    return { pace: learning({ ...current, schedule }, atMs), result: firstPositions };
  });
  return { firstPositions: result, pace };
}

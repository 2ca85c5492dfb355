import type { ChunkRecipient, QueuedChunk } from '../dispatch/chunk.ts';
import type { DispatchItemState } from '../dispatch/item.ts';
import type { Holds } from '../holds/hold.ts';
import { outsideOf } from './chunk-openings.ts';
import type { RunProcess } from './chunk-ports.ts';
import { isTrusted, missedAfterMs, type SeenSchedule, type Slot, slotTimeMs } from './chunk-time.ts';
import { sendBudgetMs } from './deadlines.ts';
import { erased } from './excluded-recipients.ts';
import { type Ended, heldBackBy, lateOf, postMessage, type RunPorts } from './post-message.ts';

/** Dispatch and holds were last read after the claim. The schedule of the number may be older. */
export interface SeenSnapshot extends SeenSchedule {
  readonly dispatch: DispatchItemState;
  readonly holds: Holds;
}

export interface Called {
  readonly chunk: QueuedChunk;
  readonly recipient: ChunkRecipient;
  readonly slot: Slot | undefined;
  /** Returns the last read. `lookAgain` repeats it for a slot that other writers may have moved since. */
  readonly standing: () => SeenSnapshot;
  readonly lookAgain: () => Promise<void>;
  /**
   * Only the recipient that probes a hold has this check. That recipient may leave after its slot, because taking the
   * probe takes longer.
   */
  readonly mayAsk?: () => boolean;
}

/** A recipient with a later slot is left to its next try. Ten slots of the slowest number take less. */
const longestWaitMs = 12_000;

/** An untrusted slot's schedule is read again this long before the slot. */
const lookAgainMs = 400;

/**
 * Calls one recipient in the millisecond of its slot, or says why not (D27, D43, D46, D53, D56). Possibly taken is
 * `unknown`; only provably unsent is `again` (R13). Never throws.
 */
export async function callRecipient(called: Called, ports: RunPorts): Promise<Ended> {
  const { to, request, unfit } = called.recipient;
  if (to === undefined) return { outcome: erased };
  if (request === undefined)
    return { outcome: { state: 'failed', code: unfit ? 'template_changed' : 'not_composable' } };
  const notYet = await untilItsTurn(called, ports);
  if (notYet !== undefined) return notYet;
  return await postMessage(called, ports);
}

/** Waits for the slot. Returns undefined when it is time to call. */
async function untilItsTurn(called: Called, ports: RunPorts): Promise<Ended | undefined> {
  const { chunk, recipient, slot } = called;
  const again = (dueMs: number): Ended => ({ outcome: { state: 'again', dueMs } });
  for (;;) {
    const standing = called.standing();
    const { schedule, readAtMs } = standing;
    const nowMs = ports.nowMs();
    const heldBack = heldBackBy(standing, called, nowMs) ?? lateOf(chunk, recipient, nowMs);
    if (heldBack !== undefined) return { outcome: heldBack };
    const { notBeforeMs = 0 } = recipient;
    const slotMs = slot === undefined ? undefined : slotTimeMs(slot, schedule);
    if (slotMs === undefined || slotMs < notBeforeMs) {
      return notBeforeMs > nowMs ? again(notBeforeMs) : { ...again(nowMs), missed: true };
    }
    if (slotMs - nowMs > longestWaitMs || ports.remainingMs() < Math.max(0, slotMs - nowMs) + sendBudgetMs) {
      return again(Math.max(slotMs, nowMs));
    }
    if (slot === undefined || isTrusted(slot, { schedule, readAtMs })) {
      await Promise.all([pauseUntil(slotMs, ports), ports.platform.ready(chunk)]);
      const atMs = ports.nowMs();
      const late = lateOf(chunk, recipient, atMs) ?? outsideOf(chunk, recipient, atMs);
      if (late !== undefined) return { outcome: late };
      if (called.mayAsk !== undefined) return called.mayAsk() ? undefined : again(atMs);
      return atMs > slotMs + missedAfterMs ? { ...again(atMs), missed: true } : undefined;
    }
    await pauseUntil(slotMs - lookAgainMs, ports);
    try {
      await called.lookAgain();
    } catch {
      return again(ports.nowMs());
    }
  }
}

export async function pauseUntil(atMs: number, { nowMs, pause }: Pick<RunProcess, 'nowMs' | 'pause'>): Promise<void> {
  const waitMs = atMs - nowMs();
  if (waitMs > 0) await pause(waitMs);
}

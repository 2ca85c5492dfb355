import * as v from 'valibot';

/*
 * When the messages of a job may leave, for a send with a time of its own (D56). Acceptance reckons it once, in milliseconds:
 * whatever releases, calls, waits or reports later compares numbers and knows no zones.
 */

/** A stretch of time in which messages may leave: from its beginning on, before its end. */
const OpeningSchema = v.pipe(v.tuple([v.number(), v.number()]), v.readonly());
export type Opening = v.InferOutput<typeof OpeningSchema>;

/**
 * Consecutive recipients of a job that may leave at the same times: those before `until`, from the end of the lot before on.
 * `open` is in order, and no two touch; the last one ends with the last possible call of the job.
 */
export const LotSchema = v.object({ until: v.number(), open: v.pipe(v.array(OpeningSchema), v.readonly()) });
export interface Lot {
  readonly until: number;
  readonly open: readonly Opening[];
}

/** How a moment stands to the times of a lot. */
export type Standing =
  | { readonly kind: 'open'; readonly untilMs: number }
  | { readonly kind: 'closed'; readonly opensAtMs: number }
  /** It does not open any more. */
  | { readonly kind: 'over' };

/** No slot is given in the last five seconds of an opening: a call that begins late would begin outside. */
export const lastSlotBeforeEndMs = 5_000;

/** `marginMs`: so long before its end an opening counts as ended. */
export function standingAt(open: readonly Opening[], nowMs: number, marginMs = 0): Standing {
  const next = open.find(([fromMs, untilMs]) => nowMs < untilMs - marginMs && fromMs < untilMs - marginMs);
  if (next === undefined) return { kind: 'over' };
  const [opensAtMs, endMs] = next;
  return nowMs < opensAtMs ? { kind: 'closed', opensAtMs } : { kind: 'open', untilMs: endMs - marginMs };
}

/** The lot of a recipient, by its index in the job. */
export function lotAt(lots: readonly Lot[], index: number): Lot {
  const lot = lots.find(({ until }) => index < until);
  if (lot === undefined) throw new RangeError('a recipient is behind the last lot of its job');
  return lot;
}

/** When so much time will have been open since a moment; the end of the last opening where that is less. */
export function afterOpenTimeMs(open: readonly Opening[], sinceMs: number, durationMs: number): number {
  let leftMs = durationMs;
  for (const [fromMs, untilMs] of open) {
    const beginsMs = Math.max(fromMs, sinceMs);
    if (beginsMs >= untilMs) continue;
    if (untilMs - beginsMs >= leftMs) return beginsMs + leftMs;
    leftMs -= untilMs - beginsMs;
  }
  return open.at(-1)?.[1] ?? sinceMs;
}

import * as v from 'valibot';

/* Acceptance computes once, in milliseconds, when a scheduled send may leave (D56); later steps need no time zones. */

/** Messages may leave in this time span: start inclusive, end exclusive. */
const OpeningSchema = v.pipe(v.tuple([v.number(), v.number()]), v.readonly());
export type Opening = v.InferOutput<typeof OpeningSchema>;

/**
 * Consecutive recipients have the same openings, up to `until`, exclusive. Openings are sorted and do not touch. The
 * last ends with the dispatch's last possible call.
 */
export const LotSchema = v.object({ until: v.number(), open: v.pipe(v.array(OpeningSchema), v.readonly()) });
export interface Lot {
  readonly until: number;
  readonly open: readonly Opening[];
}

export type OpeningState =
  | { readonly kind: 'open'; readonly untilMs: number }
  | { readonly kind: 'closed'; readonly opensAtMs: number }
  /** No opening follows. */
  | { readonly kind: 'over' };

/** No call begins in the last five seconds of an opening: a late one would fall outside. */
export const lastCallBeforeEndMs = 5_000;

/** Tells the state of openings; one counts as ended `marginMs` before its end. */
export function openingStateAt(open: readonly Opening[], nowMs: number, marginMs = 0): OpeningState {
  const next = open.find(([fromMs, untilMs]) => nowMs < untilMs - marginMs && fromMs < untilMs - marginMs);
  if (next === undefined) return { kind: 'over' };
  const [opensAtMs, endMs] = next;
  return nowMs < opensAtMs ? { kind: 'closed', opensAtMs } : { kind: 'open', untilMs: endMs - marginMs };
}

/** Returns the lot of a recipient, by its index in the dispatch. Throws `RangeError` behind the last lot. */
export function lotAt(lots: readonly Lot[], index: number): Lot {
  const lot = lots.find(({ until }) => index < until);
  if (lot === undefined) throw new RangeError('a recipient is behind the last lot of its dispatch');
  return lot;
}

/**
 * Returns the moment when `durationMs` of open time have passed since `sinceMs`; at most the end of the last opening.
 */
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

/** Returns the openings of all lots merged: sorted, and no two touch. */
export function openingsOfAll(lots: readonly Lot[]): readonly Opening[] {
  const [only, ...others] = lots;
  if (only !== undefined && others.length === 0) return only.open;
  const merged: [fromMs: number, untilMs: number][] = [];
  for (const [fromMs, untilMs] of lots.flatMap(({ open }) => open).sort(([one], [other]) => one - other)) {
    const last = merged.at(-1);
    if (last === undefined || fromMs > last[1]) merged.push([fromMs, untilMs]);
    else last[1] = Math.max(last[1], untilMs);
  }
  return merged;
}

import { spelledAs } from '../../opt-outs/canonical-number.ts';
import type { DispatchReservation } from '../budget/budgets.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import type { DispatchItemState } from '../dispatch/item.ts';
import { forgottenAtMs } from '../dispatch/items.ts';
import type { StoredDispatch } from '../dispatch/whole-dispatch.ts';
import { claimLifeMs } from '../send/deadlines.ts';

/** A report opens with the dispatch's known recipients, dropped ones, and its state. */
export interface DescribedDispatch
  extends DispatchItemState,
    Pick<StoredDispatch, 'head' | 'repeats' | 'lots' | 'positions'> {
  /** By index in the dispatch, addresses are here as far as they are described. */
  readonly recipients: ReadonlyMap<number, string>;
  /** By index, erased recipients have left the market of their price (D60). */
  readonly erasedMarkets?: ReadonlyMap<number, string>;
  /** A client with a budget has reserved the dispatch's cost (D58). */
  readonly reserved?: DispatchReservation;
}

/** The report is kept for 30 days (D40), or longer (D56); afterwards TTL is removing it. */
export function isForgotten(head: DispatchHead, nowMs: number): boolean {
  return forgottenAtMs(head) <= nowMs;
}

/**
 * Tells whether an eventually consistent read may miss results of claims from before the stop. The stop's writer lived
 * no longer than a worker.
 */
export function isStoppedLately({ stop }: DispatchItemState, nowMs: number): boolean {
  return stop !== undefined && nowMs < stop.atMs + claimLifeMs;
}

/** A position in the request has the index of its message in the dispatch. */
export interface Place {
  readonly position: number;
  readonly index: number;
  /** A dropped position repeats that one (D25). */
  readonly duplicateOf?: number;
  /** The client wrote a dropped one so, in another spelling than the one that it repeats. */
  readonly spelling?: number;
}

/** Returns the places of a request, in its order. Throws `RangeError` for corrupt data. */
export function placesOf({
  head: { total },
  repeats,
  positions,
}: Pick<StoredDispatch, 'repeats' | 'positions'> & { readonly head: Pick<DispatchHead, 'total'> }): Place[] {
  const repeated = new Map(repeats.map((repeat) => [repeat[0], repeat]));
  const indexes = positions && new Map(positions.map((position, index) => [position, index]));
  const places: Place[] = [];
  let next = 0;
  for (let position = 0; position < total + repeats.length; position += 1) {
    const [, duplicateOf, spelling] = repeated.get(position) ?? [];
    const original = duplicateOf === undefined ? undefined : places[duplicateOf];
    if (duplicateOf === undefined) {
      const index = indexes === undefined ? next : indexes.get(position);
      if (index === undefined) throw new RangeError('a place of the request has no recipient');
      places.push({ position, index });
      next += 1;
    } else if (original === undefined) throw new RangeError('a recipient repeats a later one');
    else places.push({ position, index: original.index, duplicateOf, spelling });
  }
  return places;
}

/** Returns the recipient at a place as the client wrote it; undefined once the person is erased. */
export function addressAt({ recipients }: Pick<DescribedDispatch, 'recipients'>, { index, spelling }: Place) {
  const to = recipients.get(index);
  return to === undefined || spelling === undefined ? to : spelledAs(to, spelling);
}

import { messageIdOf } from '../../../lib/messages/dispatch/head.ts';
import { type SliceKey, sliceSize } from '../../../lib/messages/dispatch/slice.ts';
import type { Receipt } from '../../../lib/messages/receipts/receipt.ts';

/** The keys are message ids. */
export type ReceiptsByMessage = Readonly<Record<string, readonly Receipt[]>>;

/**
 * Returns the receipts of one message after one is appended, however often the write is repeated
 * (receipt-store.adapter.test.ts).
 */
export function appended(known: readonly Receipt[] = [], receipt: Receipt): readonly Receipt[] {
  const isKnown = known.some((each) => JSON.stringify(each) === JSON.stringify(receipt));
  return isKnown ? known : [...known, receipt];
}

/** Returns the places of a slice with receipts. */
export function provenPlaces(receipts: ReceiptsByMessage, { dispatchId, slice }: SliceKey): ReadonlySet<number> {
  const places = Array.from({ length: sliceSize }, (_, place) => place);
  return new Set(places.filter((place) => receipts[messageIdOf({ dispatchId, index: slice * sliceSize + place })]));
}

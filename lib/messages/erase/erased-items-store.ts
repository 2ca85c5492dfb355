import type { Item } from '../../aws/dynamodb-batch.ts';
import { numberSpellings } from '../../opt-outs/canonical-number.ts';
import { parameterItems } from '../accept/parameter-store.ts';
import { acceptedItem, addressItems, type WholeDispatch } from '../dispatch/whole-dispatch.ts';
import { canonicalAddress } from '../request/recipient-address.ts';
import { addressesWithout, type Change, parametersWithout, sharedWithout } from './anonymized-items.ts';

/** Returns parameters, addresses and record of a dispatch as an erasure of these recipients would have left them. */
export function itemsWithout(dispatch: WholeDispatch, erased: ReadonlySet<number>): readonly Item[] {
  const left = (item: Item, change: Change | undefined): Item => ({ ...item, ...change });
  const theirs = dispatch.recipients.filter((_, index) => erased.has(index));
  const ids = new Set(theirs.flatMap(({ to }) => numberSpellings(canonicalAddress(to))));
  const record = acceptedItem(dispatch);
  return [
    ...[...parameterItems(dispatch)].map((item) => left(item, parametersWithout(item, erased))),
    ...addressItems(dispatch).map((item) => left(item, addressesWithout(item, erased))),
    left(record, sharedWithout(record, { ids, whole: theirs.length === dispatch.head.total })),
  ];
}

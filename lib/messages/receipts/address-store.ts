import * as v from 'valibot';
import { batchGet, type Item, type TableAccess } from '../../aws/dynamodb-batch.ts';
import type { ItemKey } from '../../aws/item-key.ts';
import { messageIdOf } from '../dispatch/head.ts';
import { dispatchKey, dispatchOfPartition, recipientsKey } from '../dispatch/items.ts';
import { addressesFrom, addressesOfItem, addressesPerItem, type StoredAddresses } from '../dispatch/whole-dispatch.ts';
import type { AddressesOf } from './receipt-ports.ts';

/** A straight dispatch's item holds all addresses, in order. */
const StraightSchema = v.object({ to: v.optional(v.instance(Uint8Array)) });

/** Makes one request per hundred items, and reads of each dispatch only the items with these messages. */
export function addressStore(messages: TableAccess): AddressesOf {
  return async (asked) => {
    const keys = new Map(asked.flatMap(keysOf).map((key) => [`${key.pk} ${key.sk}`, key]));
    const items = await batchGet(messages, [...keys.values()], { consistent: true });
    const known = new Map(items.flatMap(addressesIn));
    const wanted = asked.map(messageIdOf);
    return new Map(
      wanted.flatMap((id): [string, string][] => {
        const to = known.get(id);
        return to === undefined ? [] : [[id, to]];
      }),
    );
  };
}

function keysOf({ dispatchId, index }: { readonly dispatchId: string; readonly index: number }): ItemKey[] {
  return [dispatchKey(dispatchId), recipientsKey(dispatchId, Math.floor(index / addressesPerItem) * addressesPerItem)];
}

function addressesIn(item: Item): [messageId: string, to: string][] {
  const dispatchId = dispatchOfPartition(item['pk']);
  const addresses = item['sk'] === dispatchKey(dispatchId).sk ? straightOf(item) : addressesOfItem(item).addresses;
  return addresses.map(([index, to]) => [messageIdOf({ dispatchId, index }), to]);
}

function straightOf(item: Item): StoredAddresses['addresses'] {
  const { to } = v.parse(StraightSchema, item);
  return to === undefined ? [] : addressesFrom(to).addresses;
}

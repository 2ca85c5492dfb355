import * as v from 'valibot';
import { batchGet, type Item, type TableAccess } from '../../aws/dynamodb-batch.ts';
import type { ItemKey } from '../../aws/item-key.ts';
import { addressesFrom, addressesOfItem, addressesPerItem, type StoredAddresses } from '../accept/whole-job.ts';
import { jobKey, jobOfPartition, recipientsKey } from '../items.ts';
import { dispatchIdOf } from '../job.ts';
import type { AddressesOf } from './receipt-ports.ts';

/** A straight job's item holds all addresses, in order. */
const StraightSchema = v.object({ to: v.optional(v.instance(Uint8Array)) });

/** Makes one request per hundred items, and reads of each job only the items with these messages. */
export function addressStore(messages: TableAccess): AddressesOf {
  return async (asked) => {
    const keys = new Map(asked.flatMap(keysOf).map((key) => [`${key.pk} ${key.sk}`, key]));
    const items = await batchGet(messages, [...keys.values()], { consistent: true });
    const known = new Map(items.flatMap(addressesIn));
    const wanted = asked.map(dispatchIdOf);
    return new Map(
      wanted.flatMap((id): [string, string][] => {
        const to = known.get(id);
        return to === undefined ? [] : [[id, to]];
      }),
    );
  };
}

function keysOf({ jobId, index }: { readonly jobId: string; readonly index: number }): ItemKey[] {
  return [jobKey(jobId), recipientsKey(jobId, Math.floor(index / addressesPerItem) * addressesPerItem)];
}

function addressesIn(item: Item): [dispatchId: string, to: string][] {
  const jobId = jobOfPartition(item['pk']);
  const addresses = item['sk'] === jobKey(jobId).sk ? straightOf(item) : addressesOfItem(item).addresses;
  return addresses.map(([index, to]) => [dispatchIdOf({ jobId, index }), to]);
}

function straightOf(item: Item): StoredAddresses['addresses'] {
  const { to } = v.parse(StraightSchema, item);
  return to === undefined ? [] : addressesFrom(to).addresses;
}

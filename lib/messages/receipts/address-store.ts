import * as v from 'valibot';
import { batchGet, type Item, queryPartition, type TableAccess } from '../../aws/dynamodb-batch.ts';
import type { ItemKey } from '../../aws/item-key.ts';
import { recipientsOf, recipientsPerItem } from '../accept/accepted-job.ts';
import { jobKey, jobOfPartition, jobPartition, recipientsKey, recipientsPrefix } from '../items.ts';
import { dispatchIdOf } from '../job.ts';
import type { AddressesOf } from './receipt-ports.ts';

/** Of a job that went straight: the address of its one recipient, or of all in their order, packed or not. */
const StraightSchema = v.object({
  to: v.optional(v.union([v.string(), v.array(v.string()), v.instance(Uint8Array)]), []),
});

/**
 * For whom messages are, from what describes their jobs in the messages table: one request for a hundred items, and of a job
 * only those that have the messages. A job that was described in other portions, as one in parts, is read whole.
 */
export function addressStore(messages: TableAccess): AddressesOf {
  return async (asked) => {
    const open = new Set(asked.map(dispatchIdOf));
    const found = new Map<string, string>();
    const note = (items: readonly Item[]) => {
      for (const [dispatchId, to] of items.flatMap(addressesIn)) {
        if (open.delete(dispatchId)) found.set(dispatchId, to);
      }
    };
    const keys = new Map(asked.flatMap(keysOf).map((key) => [`${key.pk} ${key.sk}`, key]));
    note(await batchGet(messages, [...keys.values()], { consistent: true }));
    const otherwise = asked.filter((message) => open.has(dispatchIdOf(message))).map(({ jobId }) => jobId);
    for (const jobId of new Set(otherwise)) {
      note(await queryPartition(messages, jobPartition(jobId), { prefix: recipientsPrefix }));
    }
    return found;
  };
}

function keysOf({ jobId, index }: { readonly jobId: string; readonly index: number }): ItemKey[] {
  return [jobKey(jobId), recipientsKey(jobId, Math.floor(index / recipientsPerItem) * recipientsPerItem)];
}

function addressesIn(item: Item): [dispatchId: string, to: string][] {
  const jobId = jobOfPartition(item['pk']);
  const addresses = item['sk'] === jobKey(jobId).sk ? straightOf(item) : recipientsOf(item);
  return addresses.map(([index, to]) => [dispatchIdOf({ jobId, index }), to]);
}

function straightOf(item: Item): (readonly [index: number, to: string])[] {
  const { to } = v.parse(StraightSchema, item);
  if (to instanceof Uint8Array) return recipientsOf({ firstIndex: 0, recipients: to });
  return [to].flat().map((address, index) => [index, address]);
}

import { batchGet, type TableAccess } from '../../aws/dynamodb-batch.ts';
import { sliceKeyOf, sliceOfItem } from '../slices/slice-items.ts';
import { sliceStore } from '../slices/slice-store.ts';
import type { ProvenSlices } from './receipt-ports.ts';

/** The slices in the messages table as runs of receipts see them: a hundred a request. */
export function provenSlicesStore(messages: TableAccess, nowMs: () => number): ProvenSlices {
  const { settle } = sliceStore({ client: messages.documentClient, table: messages.tableName, nowMs });
  return {
    settle,

    findAll: async (keys) => {
      const asked = new Map(keys.map((key) => [textOf(sliceKeyOf(key)), key]));
      const items = await batchGet(messages, keys.map(sliceKeyOf), { consistent: true });
      return items.flatMap((item) => {
        const key = asked.get(textOf(item));
        return key === undefined ? [] : [sliceOfItem(key, item)];
      });
    },
  };
}

function textOf({ pk, sk }: { readonly pk?: unknown; readonly sk?: unknown }): string {
  return `${pk} ${sk}`;
}

import { batchGet } from '../../aws/dynamodb-batch.ts';
import type { Table } from '../../aws/table.ts';
import { sliceKeyOf, sliceOfItem } from '../dispatch/slice-items.ts';
import { sliceStore } from '../dispatch/slice-store.ts';
import type { ProvenSlices } from './receipt-ports.ts';

export function provenSlicesStore(messages: Table): ProvenSlices {
  const { settle } = sliceStore(messages);
  return {
    settle,

    findAll: async (keys) => {
      const items = await batchGet(messages, keys.map(sliceKeyOf), { consistent: true });
      const found = new Map(items.map((item) => [textOf(item), item]));
      return keys.flatMap((key) => {
        const item = found.get(textOf(sliceKeyOf(key)));
        return item === undefined ? [] : [sliceOfItem(key, item)];
      });
    },
  };
}

function textOf({ pk, sk }: { readonly pk?: unknown; readonly sk?: unknown }): string {
  return `${pk} ${sk}`;
}

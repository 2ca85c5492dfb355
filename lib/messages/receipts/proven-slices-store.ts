import { batchGet } from '../../aws/dynamodb-batch.ts';
import type { Table } from '../../aws/table.ts';
import { sliceKeyOf, sliceOfItem } from '../dispatch/slice-items.ts';
import type { ProvenSlices } from './receipt-ports.ts';

export function provenSlicesStore(messages: Pick<Table, 'client' | 'name' | 'pause'>): ProvenSlices {
  return {
    findAll: async (asked) => {
      const keys = new Map(asked.map((key) => [textOf(sliceKeyOf(key)), key]));
      const items = await batchGet(messages, [...keys.values()].map(sliceKeyOf), { consistent: true });
      return items.flatMap((item) => {
        const key = keys.get(textOf(item));
        return key === undefined ? [] : [sliceOfItem(key, item)];
      });
    },
  };
}

function textOf({ pk, sk }: { readonly pk?: unknown; readonly sk?: unknown }): string {
  return `${pk} ${sk}`;
}

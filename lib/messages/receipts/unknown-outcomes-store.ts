import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { queryPages } from '../../aws/dynamodb-batch.ts';
import type { Table } from '../../aws/table.ts';
import { dispatchExpiresAtSeconds, receiptGroupOf, receiptPartition, unknownMarkKey } from '../dispatch/items.ts';
import { placeInSlice, sliceOf, sliceSize } from '../dispatch/slice.ts';
import type { UnknownOutcomes } from '../send/sending-ports.ts';
import { coalescedReads } from './coalesced-reads.ts';
import { receiptsOf } from './receipt-items.ts';

/** Forgetting a marked dispatch costs a write. */
const rememberedDispatches = 1_000;

/**
 * A process marks each dispatch once, also for concurrent slices, and retries a failed mark. Concurrent slices share
 * one strong read of receipts.
 */
export function unknownOutcomesStore(table: Pick<Table, 'client' | 'name'>): UnknownOutcomes {
  const { client } = table;
  const marks = new Map<string, Promise<void>>();
  const indexesOf = coalescedReads((partition) => indexesWithReceipts(table, partition));
  return {
    mark: async (dispatch) => {
      const known = marks.get(dispatch.dispatchId);
      if (known !== undefined) return await known;
      if (marks.size >= rememberedDispatches) marks.clear();
      const expiresAtSeconds = dispatchExpiresAtSeconds(dispatch);
      const write = client.send(
        new PutCommand({ TableName: table.name, Item: { ...unknownMarkKey(dispatch.dispatchId), expiresAtSeconds } }),
      );
      const mark = write.then(() => undefined);
      marks.set(dispatch.dispatchId, mark);
      mark.catch(() => marks.delete(dispatch.dispatchId));
      await mark;
    },

    proven: async ({ dispatchId, slice }) => {
      // A group of receipts holds whole slices.
      const indexes = await indexesOf(receiptPartition(dispatchId, receiptGroupOf(slice * sliceSize)));
      const ofSlice = [...indexes].filter((index) => sliceOf({ dispatchId, index }).slice === slice);
      return new Set(ofSlice.map(placeInSlice));
    },
  };
}

async function indexesWithReceipts(
  table: Pick<Table, 'client' | 'name'>,
  partition: string,
): Promise<ReadonlySet<number>> {
  const indexes = new Set<number>();
  const pages = queryPages(table, partition, { sort: undefined, consistent: true });
  for await (const items of pages) {
    for (const { index } of items.flatMap(receiptsOf)) indexes.add(index);
  }
  return indexes;
}

import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { batchGet } from '../../aws/dynamodb-batch.ts';
import { refusedBy, updateOf } from '../../aws/item-write.ts';
import type { Table } from '../../aws/table.ts';
import { type DispatchItemState, dispatchItemIn, stateOf } from './item.ts';
import { type CallsOf, callsOf, type DispatchWrite, dispatchWrites } from './item-writes.ts';
import { dispatchKey, dispatchOfPartition } from './items.ts';

/** Reads and writes dispatches' items. All reject when the store cannot be reached. */
export interface DispatchItemStates
  extends Pick<CallsOf<typeof dispatchWrites>, 'stop' | 'park' | 'parkTold' | 'resume' | 'unpark'> {
  /** Makes one strongly consistent request for up to 100 dispatches. Dispatches without an item are left out. */
  of(dispatchIds: readonly string[]): Promise<ReadonlyMap<string, DispatchItemState>>;
}

/** Stores dispatches' items in the messages table. */
export function dispatchItemStore(
  table: Pick<Table, 'client' | 'name' | 'pause'>,
): DispatchItemStates & CallsOf<typeof dispatchWrites> {
  return {
    ...callsOf(dispatchWrites, executor(table)),
    of: async (dispatchIds) => {
      const keys = [...new Set(dispatchIds)].map(dispatchKey);
      const items = await batchGet(table, keys, { consistent: true });
      return new Map(items.map((item) => [dispatchOfPartition(item['pk']), stateOf(dispatchItemIn(item))]));
    },
  };
}

/** Returns what executes a write. Aborted by the signal, it may take effect nevertheless. */
export function executor({ client, name }: Pick<Table, 'client' | 'name'>) {
  return async <Value>(write: DispatchWrite<Value>, abortSignal?: AbortSignal): Promise<Value> => {
    const command = new UpdateCommand({
      TableName: name,
      Key: dispatchKey(write.dispatchId),
      ...updateOf(write),
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    const put = await conditionalWrite(client.send(command, { abortSignal }));
    if (put.written) return write.answer({ written: true, item: undefined });
    return write.answer(refusedBy(write, put.existing && dispatchItemIn(put.existing)));
  };
}

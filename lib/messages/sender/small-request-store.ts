import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { batchPut, type Item } from '../../aws/dynamodb-batch.ts';
import type { Table } from '../../aws/table.ts';
import { newEntry } from '../dispatch/backlog.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import { dispatchItemIn } from '../dispatch/item.ts';
import { dispatchKey } from '../dispatch/items.ts';
import type { WholeDispatch } from '../dispatch/whole-dispatch.ts';

/** Hands small requests to the sender of their number. Every method is idempotent, and rejects without the store. */
export interface SmallRequestStore {
  /** Stores parameters, recipients and record, without recipients that are erased (D60). */
  store(dispatch: WholeDispatch): Promise<void>;
  /** Puts the entry into the backlog unless it is there. One-time codes stand in front (D44). */
  enter(head: DispatchHead): Promise<void>;
}

/** Returns parameters, recipients and record of a dispatch, without these recipients (erase/erased-items-store.ts). */
export type ItemsWithout = (dispatch: WholeDispatch, erased: ReadonlySet<number>) => readonly Item[];

export function smallRequestStore(
  table: Pick<Table, 'client' | 'name' | 'pause'>,
  itemsWithout: ItemsWithout,
): SmallRequestStore {
  return {
    store: async (dispatch) => {
      const { dispatchId } = dispatch.head;
      for (let erased = await erasedIn(table, dispatchId); ; ) {
        await batchPut(table, itemsWithout(dispatch, erased));
        // An erasure marks first: it finds in these items whom this look does not show.
        const seen = await erasedIn(table, dispatchId);
        if (seen.size === erased.size) return;
        erased = seen;
      }
    },

    enter: async (head) => {
      const front = head.urgent === true ? { front: true } : {};
      const put = new PutCommand({
        TableName: table.name,
        Item: { ...newEntry(head), ...front },
        // A sender may have changed it since.
        ConditionExpression: 'attribute_not_exists(pk)',
      });
      await conditionalWrite(table.client.send(put));
    },
  };
}

async function erasedIn(table: Pick<Table, 'client' | 'name'>, dispatchId: string): Promise<ReadonlySet<number>> {
  const { Item: item } = await table.client.send(
    new GetCommand({ TableName: table.name, Key: dispatchKey(dispatchId), ConsistentRead: true }),
  );
  return dispatchItemIn(item ?? {}).erased ?? new Set();
}

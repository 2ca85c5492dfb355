import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { batchGet, queryPartition, type TableAccess } from '../../aws/dynamodb-batch.ts';
import { dispatchItemIn, headIn } from '../dispatch/item.ts';
import {
  dispatchExpiresAtSeconds,
  dispatchKey,
  dispatchOfPartition,
  receiptPartition,
  unknownMarkKey,
} from '../dispatch/items.ts';
import { keptReceipt, receiptItems, receiptsOf } from './receipt-items.ts';
import type { HeadOfDispatch, ReceiptRecords } from './receipt-ports.ts';

export function receiptStore(messages: TableAccess): ReceiptRecords {
  const readAll = (keys: Parameters<typeof batchGet>[1]) => batchGet(messages, keys, { consistent: true });
  return {
    findHeads: async (dispatchIds) => {
      const heads = new Map<string, HeadOfDispatch | 'unreadable'>();
      for (const item of await readAll(dispatchIds.map(dispatchKey))) {
        try {
          const dispatch = dispatchItemIn(item);
          const head = headIn(dispatch);
          if (head !== undefined) heads.set(head.dispatchId, { ...head, erased: dispatch.erased });
        } catch {
          heads.set(dispatchOfPartition(item['pk']), 'unreadable');
        }
      }
      return heads;
    },

    append: async (head, receipts) => {
      const expiresAtSeconds = dispatchExpiresAtSeconds(head);
      const kept = receipts.map((receipt) => keptReceipt(receipt, head));
      const items = receiptItems(head.dispatchId, kept, expiresAtSeconds);
      const { client, name } = messages;
      await Promise.all(items.map((Item) => client.send(new PutCommand({ TableName: name, Item }))));
    },

    dispatchesWithUnknown: async (dispatchIds) => {
      const items = await readAll(dispatchIds.map(unknownMarkKey));
      return new Set(items.map((item) => dispatchOfPartition(item['pk'])));
    },

    ofGroup: async (dispatchId, group) =>
      (await queryPartition(messages, receiptPartition(dispatchId, group))).flatMap(receiptsOf),
  };
}

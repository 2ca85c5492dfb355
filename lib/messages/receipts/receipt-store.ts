import { PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { batchGet, queryPartition, type TableAccess } from '../../aws/dynamodb-batch.ts';
import { DispatchHeadSchema } from '../dispatch.ts';
import { DispatchItemStateSchema } from '../dispatch-item-state.ts';
import {
  dispatchExpiresAtSeconds,
  dispatchKey,
  dispatchOfPartition,
  receiptPartition,
  unknownMarkKey,
} from '../items.ts';
import { keptReceipt, receiptItems, receiptsOf } from './receipt-items.ts';
import type { HeadOfDispatch, ReceiptRecords } from './receipt-ports.ts';

/** A dispatch that was withdrawn before it began has no head. */
const DispatchItemSchema = v.object({
  pk: v.string(),
  head: v.optional(v.pipe(v.string(), v.parseJson(), DispatchHeadSchema)),
  erased: DispatchItemStateSchema.entries.erased,
});

export function receiptStore(messages: TableAccess): ReceiptRecords {
  const readAll = (keys: Parameters<typeof batchGet>[1]) => batchGet(messages, keys, { consistent: true });
  return {
    findHeads: async (dispatchIds) => {
      const heads = new Map<string, HeadOfDispatch | 'unreadable'>();
      for (const item of await readAll(dispatchIds.map(dispatchKey))) {
        const parsed = v.safeParse(DispatchItemSchema, item);
        if (!parsed.success) {
          heads.set(dispatchOfPartition(item['pk']), 'unreadable');
          continue;
        }
        const { head, erased } = parsed.output;
        if (head !== undefined) heads.set(head.dispatchId, { ...head, erased });
      }
      return heads;
    },

    append: async (head, receipts) => {
      const expiresAtSeconds = dispatchExpiresAtSeconds(head);
      const kept = receipts.map((receipt) => keptReceipt(receipt, head));
      const items = receiptItems(head.dispatchId, kept, expiresAtSeconds);
      const { documentClient, tableName } = messages;
      await Promise.all(items.map((Item) => documentClient.send(new PutCommand({ TableName: tableName, Item }))));
    },

    dispatchesWithUnknown: async (dispatchIds) => {
      const items = await readAll(dispatchIds.map(unknownMarkKey));
      return new Set(items.map((item) => dispatchOfPartition(item['pk'])));
    },

    ofGroup: async (dispatchId, group) =>
      (await queryPartition(messages, receiptPartition(dispatchId, group))).flatMap(receiptsOf),
  };
}

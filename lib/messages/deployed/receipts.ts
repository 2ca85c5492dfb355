import { log } from '../../observe/log.ts';
import { deployedEvents, deployedSubscriptions } from '../../webhooks/deployed.ts';
import { holdStore } from '../holds/hold-store.ts';
import { addressStore } from '../receipts/address-store.ts';
import { provenSlicesStore } from '../receipts/proven-slices-store.ts';
import { receiptStore } from '../receipts/receipt-store.ts';
import { deployedInbound } from './inbound.ts';
import { messagesTable } from './messages-table.ts';
import { deployedCountReceipts } from './spend.ts';

export function deployedReceipts() {
  const messages = messagesTable();
  return {
    records: receiptStore(messages),
    slices: provenSlicesStore(messages),
    addressesOf: addressStore(messages),
    changeHolds: holdStore(messages).change,
    wanted: deployedSubscriptions(),
    events: deployedEvents(),
    countCost: deployedCountReceipts(),
    inbound: deployedInbound(),
    nowMs: messages.nowMs,
    log,
  };
}

import { storePause } from '../../aws/pause.ts';
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
  const { client, table, nowMs } = messagesTable();
  const messages = { documentClient: client, tableName: table, pause: storePause };
  return {
    records: receiptStore(messages),
    slices: provenSlicesStore(messages),
    addressesOf: addressStore(messages),
    changeHolds: holdStore({ client, table, nowMs }).change,
    wanted: deployedSubscriptions(),
    events: deployedEvents(),
    countCost: deployedCountReceipts(),
    inbound: deployedInbound(),
    nowMs,
    log,
  };
}

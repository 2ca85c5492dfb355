import { log } from '../../observe/log.ts';
import { deployedSubscriptions } from '../../webhooks/deployed.ts';
import { repliedToFinder } from '../inbound/find-replied-to.ts';
import { noteSentOf } from '../inbound/sent-ids.ts';
import { sentIdReader, sentIdWriter } from '../inbound/sent-ids-store.ts';
import { receiptStore } from '../receipts/receipt-store.ts';
import { messagesTable } from './messages-table.ts';

export function deployedNoteSent() {
  const table = messagesTable();
  const keep = sentIdWriter(table);
  return noteSentOf({ wanted: deployedSubscriptions(), keep, nowMs: table.nowMs, log });
}

export function deployedRepliedTo() {
  const messages = messagesTable();
  const { findHeads } = receiptStore(messages);
  return repliedToFinder({ findSentId: sentIdReader(messages), findHeads });
}

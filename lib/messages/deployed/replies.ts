import { storePause } from '../../aws/pause.ts';
import { log } from '../../observe/log.ts';
import { deployedSubscriptions } from '../../webhooks/deployed.ts';
import { repliedToFinder } from '../inbound/find-replied-to.ts';
import { noteSentOf } from '../inbound/sent-ids.ts';
import { sentIdReader, sentIdWriter } from '../inbound/sent-ids-store.ts';
import { receiptStore } from '../receipts/receipt-store.ts';
import { messagesTable } from './messages-table.ts';

export function deployedNoteSent() {
  const { client, table, nowMs } = messagesTable();
  const keep = sentIdWriter({ documentClient: client, tableName: table, pause: storePause });
  return noteSentOf({ wanted: deployedSubscriptions(), keep, nowMs, log });
}

export function deployedRepliedTo() {
  const { client, table } = messagesTable();
  const messages = { documentClient: client, tableName: table, pause: storePause };
  const { findHeads } = receiptStore(messages);
  return repliedToFinder({ findSentId: sentIdReader(messages), findHeads });
}

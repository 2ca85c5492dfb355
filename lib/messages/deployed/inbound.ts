import { environmentVariable, queues } from '../../aws/deployed.ts';
import { deployedChannels } from '../../channels/deployed.ts';
import { deployedOptOutWriter, deployedStopWords } from '../../opt-outs/deployed.ts';
import { deployedEvents } from '../../webhooks/deployed.ts';
import { messageIdOf } from '../dispatch/head.ts';
import { inboundQueue } from '../inbound/inbound-queue.ts';
import type { AddressOf } from '../inbound/reply-ports.ts';
import { addressStore } from '../receipts/address-store.ts';
import { messagesTable } from './messages-table.ts';
import { deployedReplacedIdWriter } from './replaced-ids.ts';
import { deployedRepliedTo } from './replies.ts';

export function deployedInbound() {
  return inboundQueue(queues(), environmentVariable('INBOUND_QUEUE_URL'));
}

export function deployedInboundProcessing() {
  const table = messagesTable();
  const addressesOf = addressStore(table);
  return {
    optOuts: deployedOptOutWriter(),
    words: deployedStopWords(),
    channels: deployedChannels(),
    noteReplacedIds: deployedReplacedIdWriter(),
    answered: deployedRepliedTo(),
    addressOf: async (message: Parameters<AddressOf>[0]) => (await addressesOf([message])).get(messageIdOf(message)),
    events: deployedEvents(),
  };
}

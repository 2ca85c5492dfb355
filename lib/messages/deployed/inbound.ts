import { environmentVariable, queues } from '../../aws/deployed.ts';
import { deployedChannels } from '../../channels/deployed.ts';
import { deployedOptOutWriter, deployedPersonNames, deployedStopWords } from '../../opt-outs/deployed.ts';
import { deployedEvents, deployedSubscriptions } from '../../webhooks/deployed.ts';
import { messageIdOf } from '../dispatch/head.ts';
import { correspondentReader, correspondentWriter } from '../inbound/correspondents-store.ts';
import { inboundQueue } from '../inbound/inbound-queue.ts';
import { anySubscribesToReplies, repliedEvents } from '../inbound/replied-event.ts';
import type { AddressOf, EventsOfReply } from '../inbound/reply-ports.ts';
import { addressStore } from '../receipts/address-store.ts';
import { messagesTable } from './messages-table.ts';
import { deployedReplacedIdWriter } from './replaced-ids.ts';
import { deployedRepliedTo } from './replies.ts';

export function deployedInbound() {
  return inboundQueue(queues(), environmentVariable('INBOUND_QUEUE_URL'));
}

/** Notes the recipients of a dispatch from a shared number. Reads the key for people's names on first use. */
export function deployedCorrespondentWriter() {
  return correspondentWriter(messagesTable(), deployedPersonNames());
}

export function deployedInboundProcessing() {
  const table = messagesTable();
  const addressesOf = addressStore(table);
  return {
    optOuts: deployedOptOutWriter(),
    words: deployedStopWords(),
    channels: deployedChannels(),
    wroteTo: correspondentReader(table),
    noteReplacedIds: deployedReplacedIdWriter(),
    answered: deployedRepliedTo(),
    addressOf: async (message: Parameters<AddressOf>[0]) => (await addressesOf([message])).get(messageIdOf(message)),
    eventsOfReply,
    anySubscribesToReplies: anySubscribesToReplies(deployedSubscriptions()),
    events: deployedEvents(),
  };
}

const eventsOfReply: EventsOfReply = async ({ did, answered, ...facts }) => {
  const known = answered?.head.did ?? did?.channel.did;
  return known === undefined ? [] : repliedEvents({ ...facts, number: { did: known }, answered });
};

import { environmentVariable, queues } from '../../aws/deployed.ts';
import { deployedChannels } from '../../channels/deployed.ts';
import { deployedOptOutWriter, deployedPersonNames, deployedWordList } from '../../opt-outs/deployed.ts';
import { deployedEvents, deployedWantedEvents } from '../../webhooks/deployed.ts';
import type { TellReply } from '../inbound/answered.ts';
import { correspondentReader, correspondentWriter } from '../inbound/correspondents-store.ts';
import { inboundQueue } from '../inbound/inbound-queue.ts';
import { anyWantsReplies, repliedEvents } from '../inbound/replied-event.ts';
import { deployedAnswered } from './answered.ts';
import { messagesTable } from './messages-table.ts';
import { deployedReplacedIdWriter } from './replaced-ids.ts';

export function deployedInbound() {
  return inboundQueue(queues(), environmentVariable('INBOUND_QUEUE_URL'));
}

/** Notes the recipients of a job from a shared number. Reads the key for people's names on first use. */
export function deployedCorrespondentWriter() {
  const { client, table } = messagesTable();
  return correspondentWriter({ documentClient: client, tableName: table }, deployedPersonNames());
}

export function deployedHearing() {
  const { client, table } = messagesTable();
  return {
    optOuts: deployedOptOutWriter(),
    words: deployedWordList(),
    channels: deployedChannels(),
    wroteTo: correspondentReader({ documentClient: client, tableName: table }),
    noteReplacedIds: deployedReplacedIdWriter(),
    answered: deployedAnswered(),
    tellReply,
    anyWantsReplies: anyWantsReplies(deployedWantedEvents()),
    events: deployedEvents(),
  };
}

const tellReply: TellReply = async ({ did, answered, ...told }) => {
  const known = answered?.head.did ?? did?.channel.did;
  return known === undefined ? [] : repliedEvents({ ...told, number: { did: known }, answered });
};

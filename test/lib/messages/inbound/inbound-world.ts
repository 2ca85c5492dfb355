import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { InboundUpdate } from '../../../../lib/messages/inbound/inbound-message.ts';
import { type InboundPorts, processInbound } from '../../../../lib/messages/inbound/process-inbound.ts';
import { replacedIdWriter } from '../../../../lib/messages/inbound/replaced-ids-store.ts';
import type { RepliedToMessage } from '../../../../lib/messages/inbound/reply-ports.ts';
import { listedPartition, listedPrefix } from '../../../../lib/opt-outs/opt-out-items.ts';
import { optOutLook, optOutWriter } from '../../../../lib/opt-outs/opt-out-store.ts';
import { personNames } from '../../../../lib/opt-outs/person-name.ts';
import { stopWords } from '../../../../lib/opt-outs/stop-words.ts';
import type { MessageRepliedData } from '../../../../lib/webhooks/event.ts';
import { makeListedChannel, memoryChannels } from '../../../support/channels.ts';
import { makeChannel, makeWaba, memoryDirectory } from '../../../support/directory.ts';
import { makeDispatch } from '../../../support/made-dispatches.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

export const atMs = 1_800_000_000_000;
export const [waId, userId] = ['5491155550001', 'AR.13491208655302741918'];
export const [wabaId, phoneNumberId] = ['200000000000001', '300000000000001'];
export const did = '5491100000001';
export const nameOf = personNames(Buffer.alloc(32, 5));

/** The stores and settings of the current test; `freshWorld` begins each with new ones, and a number of one client. */
export const world = {
  table: '',
  events: new MemoryEvents(),
  waba: makeWaba(),
  answered: undefined as RepliedToMessage | undefined,
  addressOfAnswered: undefined as string | undefined,
};

export async function freshWorld(): Promise<void> {
  const table = await freshTable('messages');
  const events = new MemoryEvents();
  Object.assign(world, {
    table,
    events,
    waba: makeWaba({ clientIds: [1001] }),
    answered: undefined,
    addressOfAnswered: undefined,
  });
}

export function access() {
  return { client: localDocumentClient(), name: world.table, pause: async () => undefined };
}

export function hearing(over: Partial<InboundPorts> = {}): InboundPorts {
  return {
    optOuts: async () => optOutWriter(access(), nameOf),
    words: async () => stopWords,
    channels: memoryChannels([makeListedChannel()]),
    directory: memoryDirectory({ wabas: [world.waba], channels: [makeChannel()] }),
    noteReplacedIds: replacedIdWriter(access()),
    answered: async () => world.answered,
    addressOf: async () => world.addressOfAnswered,
    events: world.events,
    remainingMs: () => 60_000,
    ...over,
  };
}

export const said = { person: { waId }, atMs, receivedAtMs: atMs + 900, messageId: 'wamid.1' };
export const preference = (says: 'stop' | 'resume', more: object = {}): InboundUpdate => ({
  ...{ kind: 'preference', ...said, says },
  ...more,
});
export const wrote = (text: string, more: object = {}): InboundUpdate => ({
  ...{ kind: 'reply', ...said, reply: { by: 'text', text } },
  ...more,
});
export const recordOf = (words: readonly unknown[], of: object = { wabaId, phoneNumberId }, messageId = 'm-1') => ({
  messageId,
  body: JSON.stringify({ version: 1, ...of, words }),
});

/** Works off a queue message with these words. */
export async function hear(words: readonly InboundUpdate[], over: Partial<InboundPorts> = {}) {
  return await processInbound([recordOf(words)], hearing(over));
}

/** The person answers this message of the client. */
export function answers(clientId: number, dispatchId = 'J') {
  const dispatch = makeDispatch([{ to: waId }], { dispatchId, clientId, wabaId, phoneNumberId });
  world.answered = { head: dispatch.head, index: 7 };
}

/** Returns the source of the opt-out that a client's message from the number would meet. */
export async function stopOf(clientId: number, to = waId, from = { wabaId, phoneNumberId }) {
  const stops = await optOutLook(access(), async () => nameOf).stoppedAmong({ clientId, ...from }, [to]);
  return stops.get(to)?.source;
}

export async function listOf(clientId: number) {
  const query = new QueryCommand({
    TableName: world.table,
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :person)',
    ExpressionAttributeValues: { ':pk': listedPartition(clientId), ':person': listedPrefix },
  });
  const { Items = [] } = await localDocumentClient().send(query);
  return Items.map(({ recipient }) => recipient);
}

/** Deduplicates the sent events by id, as receivers do. */
const distinct = (isWanted: (type: string) => boolean) => [
  ...new Map(
    world.events.sent.flatMap(({ id, clientId, type, data }) =>
      isWanted(type) ? [[id, { clientId, type, data }] as const] : [],
    ),
  ).values(),
];
export const told = () => distinct((type) => type !== 'message.replied');
export const toldTo = () => told().map(({ clientId, type }) => [clientId, type]);
/** Who was told of which answers, and of what they answer. */
export const replies = () =>
  distinct((type) => type === 'message.replied').map(({ clientId, data }) => {
    const { text, message_id } = data as MessageRepliedData;
    return { clientId, text, message_id };
  });

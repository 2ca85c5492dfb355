import type { Did } from '../../access/directory.ts';
import { eventId, type MessageRepliedData, type ServiceEvent, type SubscribedTypes } from '../../webhooks/event.ts';
import { aboutDispatch, messageIdOf } from '../dispatch/head.ts';
import { type QuickReplyPlace, repliedMessageOf } from '../reply-payload.ts';
import type { InboundUpdate } from './inbound-message.ts';
import type { RepliedToMessage } from './reply-ports.ts';

type Replied = Extract<InboundUpdate, { readonly kind: 'reply' }>;

export interface NotifiedReply {
  readonly word: Replied;
  readonly number: { readonly did: string };
  readonly clientId: number;
  readonly answered: RepliedToMessage | undefined;
}

/**
 * Returns the event about a reply (D55): for the client of the answered message, else for `clientId`. It has one id per
 * reply and receiver.
 */
export function repliedEvents({ word, number, clientId, answered }: NotifiedReply): ServiceEvent[] {
  const { reply, person, messageId } = word;
  const receiver = answered?.head.clientId ?? clientId;
  const timestampMs = timeOf(word, answered);
  const ours = repliedMessageOf(reply.payload);
  const place = ours !== undefined && isOf(ours, answered) ? ours.place : undefined;
  const data: MessageRepliedData = {
    ...(answered === undefined ? { did: number.did } : aboutAnswered(answered)),
    from: person.waId,
    user_id: person.userId,
    by: reply.by,
    text: textOf(reply, ours !== undefined),
    ...placeOf(place),
    platform_message_id: messageId,
    replied_at: new Date(timestampMs).toISOString(),
  };
  // The platform gives replies ids. Without one, equal texts of a person at the same time count as one reply.
  const unnamed = () => [number.did, person.userId ?? person.waId ?? '', timestampMs, reply.by, data.text ?? ''];
  const id = eventId('message.replied', receiver, messageId === undefined ? unnamed() : [messageId]);
  return [
    {
      id,
      clientId: receiver,
      type: 'message.replied',
      timestampMs,
      correlationId: answered?.head.correlationId,
      data,
    },
  ];
}

/** Tells whether any client of the number's WABA subscribes to replies. */
export function anySubscribesToReplies(wanted: SubscribedTypes): (did: Did | undefined) => Promise<boolean> {
  return async (did) => {
    const kinds = await Promise.all((did?.waba.clientIds ?? []).map(wanted));
    return kinds.some((each) => each.has('message.replied'));
  };
}

function aboutAnswered({ head, index }: RepliedToMessage) {
  const { did, template, campaignId, attends } = aboutDispatch(head);
  const messageId = messageIdOf({ dispatchId: head.dispatchId, index });
  const request = { campaign_id: campaignId, attends };
  return { dispatch_id: head.dispatchId, message_id: messageId, did, template, ...request };
}

/** Returns the person's own words, or the answers of a form, never the payload that this service has set. */
function textOf({ by, text, payload }: Replied['reply'], isOurs: boolean): string | undefined {
  if (isOurs) return text;
  return by === 'flow' ? (payload ?? text) : (text ?? payload);
}

function isOf(
  ours: { readonly dispatchId: string; readonly index: number },
  answered: RepliedToMessage | undefined,
): boolean {
  return ours.dispatchId === answered?.head.dispatchId && ours.index === answered.index;
}

function placeOf(place: QuickReplyPlace | undefined) {
  return { button_index: place?.button, card_index: place?.card };
}

/** Corrects the platform's clock: no answer is older than its message's acceptance, or lies in the future. */
function timeOf({ atMs, receivedAtMs }: Replied, answered: RepliedToMessage | undefined): number {
  return Math.max(Math.min(atMs ?? receivedAtMs, receivedAtMs), answered?.head.acceptedAtMs ?? 0);
}

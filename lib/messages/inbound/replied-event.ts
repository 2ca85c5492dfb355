import { eventId, type MessageRepliedData, type ServiceEvent } from '../../webhooks/event.ts';
import { aboutDispatch, messageIdOf } from '../dispatch/head.ts';
import { type QuickReplyPlace, repliedMessageOf } from '../reply-payload.ts';
import type { InboundUpdate } from './inbound-message.ts';
import type { RepliedToMessage } from './reply-ports.ts';

type Replied = Extract<InboundUpdate, { readonly kind: 'reply' }>;

export interface NotifiedReply {
  readonly word: Replied;
  readonly clientId: number;
  readonly did: string;
  readonly answered: RepliedToMessage | undefined;
}

/** Returns the event about a reply (D55) for that client. It has one id per reply and client. */
export function repliedEvent({ word, did, clientId, answered }: NotifiedReply): ServiceEvent {
  const { reply, person, messageId } = word;
  const timestampMs = timeOf(word, answered);
  const ours = repliedMessageOf(reply.payload);
  const place = ours !== undefined && isOf(ours, answered) ? ours.place : undefined;
  const data: MessageRepliedData = {
    ...(answered === undefined ? { did } : aboutAnswered(answered)),
    from: person.waId,
    user_id: person.userId,
    by: reply.by,
    text: textOf(reply, ours !== undefined),
    ...placeOf(place),
    platform_message_id: messageId,
    replied_at: new Date(timestampMs).toISOString(),
  };
  // The platform gives replies ids. Without one, equal texts of a person at the same time count as one reply.
  const unnamed = () => [did, person.userId ?? person.waId ?? '', timestampMs, reply.by, data.text ?? ''];
  const id = eventId('message.replied', clientId, messageId === undefined ? unnamed() : [messageId]);
  const correlationId = answered?.head.correlationId;
  return { id, clientId, type: 'message.replied', timestampMs, correlationId, data };
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

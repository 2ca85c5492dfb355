import { type EventType, eventId, type ReceiptData, type ServiceEvent } from '../../webhooks/event.ts';
import { messageIdOf } from '../dispatch/head.ts';
import { resolvedByOperator } from '../dispatch/slice.ts';
import type { NotifiedDispatch } from './completed-event.ts';

export interface Addressed extends NotifiedDispatch {
  readonly index: number;
  readonly to: string | undefined;
}

/** A reply has data of its own. */
type MessageEventType = Exclude<Extract<EventType, `message.${string}`>, 'message.replied'>;

export interface NotifiedMessage {
  readonly code?: string;
  readonly reason?: string;
  readonly platformMessageId?: string;
  readonly pricing?: NonNullable<ReceiptData['pricing']>;
  readonly userId?: string;
  readonly waId?: string;
}

const typeOf = { failed: 'message.failed', expired: 'message.expired', unknown: 'message.unknown' } as const;

interface Unsent {
  readonly state: keyof typeof typeOf;
  readonly code: string;
  readonly reason?: string;
}

/**
 * Returns the event about a `failed`, `expired` or `unknown` message (D29, D34), or undefined for an outcome that an
 * operator has settled.
 */
export function outcomeEvent(
  message: Addressed,
  { state, code, reason }: Unsent,
  timestampMs: number,
): ServiceEvent | undefined {
  if (code === resolvedByOperator) return undefined;
  return messageEvent(typeOf[state], message, { timestampMs, code, reason });
}

/**
 * Returns one event about a message. The same kind of event about the same message has one id, whichever run emits it
 * (D41).
 */
export function messageEvent(
  type: MessageEventType,
  message: Addressed,
  facts: NotifiedMessage & { readonly timestampMs: number },
): ServiceEvent {
  const { dispatchId, clientId, acceptedAtMs, about, to } = message;
  const { timestampMs, code, reason, platformMessageId, pricing, userId, waId } = facts;
  const messageId = messageIdOf(message);
  const data: ReceiptData = {
    dispatch_id: dispatchId,
    message_id: messageId,
    did: about.did,
    to,
    user_id: userId,
    wa_id: waId,
    template: about.template,
    campaign_id: about.campaignId,
    attends: about.attends,
    code,
    ...(code !== undefined && /^\d+$/.test(code) ? { platform_code: Number(code) } : {}),
    reason,
    platform_message_id: platformMessageId,
    pricing,
    accepted_at: new Date(acceptedAtMs).toISOString(),
  };
  return { id: eventId(type, clientId, [messageId]), clientId, type, timestampMs, data };
}

import type { PlatformRequest } from '../platform-request.ts';
import { json, type Reply } from '../reply.ts';
import type { World } from '../state.ts';
import { preferenceUpdate } from '../webhooks/preference-update.ts';
import { type AcceptedMessage, type Course, deliveryOf, type PricingView } from '../webhooks/receipts.ts';
import { type CheckedSend, isMarketing } from './fate.ts';
import type { SendEndpoint } from './message-body.ts';
import { planReceipts } from './plan-receipts.ts';

export interface Acceptance extends CheckedSend {
  readonly endpoint: SendEndpoint;
  readonly course: Course;
  /** The person stops marketing after this message, if it is marketing, has arrived. */
  readonly stops: boolean;
}

/** Accepts a checked message: records it, plans its webhooks and answers. */
export function accepted(world: World, send: Acceptance, request: PlatformRequest): Reply {
  const { number, recipient, content, portfolioId, course } = send;
  const nowMs = world.clock.nowMs();
  const id = messageId(recipient.key, world.messages.total + 1);
  const message = acceptedMessage(world, id, send);
  const isHeld = content.kind === 'template' && world.pacing.holds(portfolioId);
  world.sending.accepted(number.id, send.body.biz_opaque_callback_data, nowMs);
  if (!recipient.scopedUser) world.people.contacts.met({ portfolioId, numberId: number.id }, recipient.key, nowMs);
  world.messages.add(
    {
      id,
      to: recipient.key,
      phone_number_id: number.id,
      path: request.path,
      request: request.body,
      received_at: new Date(nowMs).toISOString(),
    },
    {
      ...{ content, accepted: message, told: isHeld ? [] : planReceipts(world, message, course) },
      heldUntilMs: isHeld ? Number.POSITIVE_INFINITY : heldUntilMs(course, nowMs),
    },
  );
  if (isHeld) world.pacing.keep(portfolioId, { message, course });
  else if (send.stops) stopMarketing(world, send, message);
  const contact = recipient.scopedUser ? { user_id: recipient.userId } : { wa_id: recipient.key };
  const message_status = isHeld ? 'held_for_quality_assessment' : 'accepted';
  return json({
    messaging_product: 'whatsapp',
    contacts: [{ input: recipient.input, ...contact }],
    messages: [content.kind === 'template' ? { id, message_status } : { id }],
  });
}

function heldUntilMs({ held_ms: heldMs }: Course, acceptedMs: number): number | undefined {
  return heldMs === 0 ? undefined : acceptedMs + heldMs;
}

function acceptedMessage(world: World, id: string, send: Acceptance): AcceptedMessage {
  const { number, recipient, body, content, portfolioId } = send;
  const nowMs = world.clock.nowMs();
  return {
    id,
    wabaId: number.wabaId,
    metadata: { display_phone_number: number.digits, phone_number_id: number.id },
    recipient,
    pricing: pricingOf(send),
    callbackData: body.biz_opaque_callback_data,
    acceptedMs: nowMs,
    templateId: content.kind === 'template' && content.isDirect === true ? content.template.id : undefined,
    countedFor: world.people.isWindowOpen(number.id, recipient.key, nowMs) ? undefined : portfolioId,
  };
}

/** Plans the stop that a magic recipient makes when the message is delivered. */
function stopMarketing(world: World, send: Acceptance, message: AcceptedMessage): void {
  const { number, recipient, course } = send;
  const deliveredMs = deliveryOf(message, course);
  const isStopped = world.preferences.stopOf(number.id, recipient.userId, Number.POSITIVE_INFINITY) !== undefined;
  if (deliveredMs === undefined || isStopped || !isMarketing(send)) return;
  const stop = { numberId: number.id, to: recipient.key, sinceMs: deliveredMs, answer: 'failed' } as const;
  world.preferences.stop(recipient.userId, stop);
  world.personActs.add({
    ...{ kind: 'stop', person: recipient.key, phone_number_id: number.id },
    ...{ text: '', at_ms: deliveredMs, message: message.id },
  });
  world.outbox.add(preferenceUpdate(message, recipient, { value: 'stop', atMs: deliveredMs }), deliveredMs);
}

/** Free-form messages are always told as free: the monthly free quota is not counted. */
function pricingOf({ endpoint, content }: Acceptance): PricingView {
  if (content.kind === 'text') {
    return { billable: false, pricing_model: 'PMP', type: 'free_customer_service', category: 'service' };
  }
  const category =
    endpoint === 'marketing_messages' ? 'marketing_lite' : content.template.fields.category.toLowerCase();
  return { billable: true, pricing_model: 'PMP', type: 'regular', category };
}

/** Makes an id in the platform's format: base64 of the recipient and 18 hexadecimal digits, here a counter. */
function messageId(recipient: string, count: number): string {
  const bytes = Buffer.concat([
    Buffer.from([0x1c, 0x18, recipient.length]),
    Buffer.from(recipient),
    Buffer.from([0x15, 0x02, 0x00, 0x11, 0x18, 0x12]),
    Buffer.from(count.toString(16).toUpperCase().padStart(18, '0')),
    Buffer.from([0x00]),
  ]);
  return `wamid.${bytes.toString('base64')}`;
}

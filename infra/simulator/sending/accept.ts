import type { Entry, MessageContent } from '../logs.ts';
import type { PlatformRequest } from '../platform-request.ts';
import { json, type Reply } from '../reply.ts';
import type { World } from '../state.ts';
import type { PhoneNumber } from '../wabas.ts';
import { type AcceptedMessage, type Course, type PricingTold, receiptsOf } from '../webhooks/receipts.ts';
import type { MessageBody, SendEndpoint } from './message-body.ts';
import type { Recipient } from './recipient.ts';

export interface Acceptance {
  readonly number: PhoneNumber;
  readonly endpoint: SendEndpoint;
  readonly body: MessageBody;
  readonly recipient: Recipient;
  readonly content: MessageContent;
  readonly course: Course;
}

/** Takes a message that has passed every check: notes it, plans what is told of it, and answers. */
export function accepted(world: World, send: Acceptance, request: PlatformRequest): Reply {
  const { number, recipient, content } = send;
  const id = messageId(recipient.key, world.messages.total + 1);
  world.sending.accepted(number.id, send.body.biz_opaque_callback_data, world.clock.nowMs());
  world.messages.add(
    {
      id,
      to: recipient.key,
      phone_number_id: number.id,
      path: request.path,
      request: request.body,
      received_at: new Date(world.clock.nowMs()).toISOString(),
    },
    { content, ...planReceipts(world, id, send) },
  );
  const contact = recipient.scopedUser ? { user_id: recipient.userId } : { wa_id: recipient.key };
  return json({
    messaging_product: 'whatsapp',
    contacts: [{ input: recipient.input, ...contact }],
    messages: [content.kind === 'template' ? { id, message_status: 'accepted' } : { id }],
  });
}

/** Plans what is told of the message; returns it too. */
function planReceipts(world: World, id: string, send: Acceptance): Pick<Entry, 'accepted' | 'told'> {
  const { number, recipient, body, course } = send;
  const message: AcceptedMessage = {
    id,
    wabaId: number.wabaId,
    metadata: { display_phone_number: number.digits, phone_number_id: number.id },
    recipient,
    pricing: pricingOf(send),
    callbackData: body.biz_opaque_callback_data,
    acceptedMs: world.clock.nowMs(),
  };
  const receipts = receiptsOf(message, course);
  for (const { update, atMs } of receipts) world.outbox.add(update, atMs);
  return { accepted: message, told: receipts.map((receipt) => receipt.told) };
}

/** Free-form messages are among those that cost nothing: the free ones of a month are not counted. */
function pricingOf({ endpoint, content }: Acceptance): PricingTold {
  if (content.kind === 'text') {
    return { billable: false, pricing_model: 'PMP', type: 'free_customer_service', category: 'service' };
  }
  const category =
    endpoint === 'marketing_messages' ? 'marketing_lite' : content.template.fields.category.toLowerCase();
  return { billable: true, pricing_model: 'PMP', type: 'regular', category };
}

/** The platform's form of a message id: base64 of the recipient and of 18 hexadecimal digits, here a counter. */
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

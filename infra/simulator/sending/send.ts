import { graphError, messagingError } from '../errors.ts';
import { interfere, recipientKey } from '../faults.ts';
import type { Entry } from '../logs.ts';
import type { PlatformRequest } from '../platform-request.ts';
import { json, type Reply } from '../reply.ts';
import type { World } from '../state.ts';
import type { Template } from '../templates/template.ts';
import { messagesPerSecond, type PhoneNumber, type Waba } from '../wabas.ts';
import { type AcceptedMessage, type Course, receiptsOf } from '../webhooks/receipts.ts';
import { checkComponents } from './component-checks.ts';
import { type MessageBody, parseMessageBody, type SendEndpoint } from './message-body.ts';
import { mediaIdsIn } from './sent-media.ts';

export interface SendPlace {
  readonly number: PhoneNumber;
  readonly endpoint: SendEndpoint;
}

interface Recipient {
  /** As given. */
  readonly input: string;
  /** Digits, or the business-scoped user id. */
  readonly key: string;
  readonly scopedUser: boolean;
}

/**
 * `POST /{phone_number_id}/messages` and `/marketing_messages` (platform reference, 4 and 6): the form of the body, the
 * number's throughput, the recipient, the template, its parameters, the pair limit, and last what a magic recipient brings.
 */
export function sendMessage(world: World, place: SendPlace, request: PlatformRequest): Reply | Promise<Reply> {
  const { number, endpoint } = place;
  const waba = world.wabas.get(number.wabaId);
  if (waba === undefined) throw new Error(`number ${number.id} belongs to no WABA`);

  const body = parseMessageBody(endpoint, request.body);
  const recipient = recipientOf(body);
  if (!world.throughput.take(number.id, messagesPerSecond(number), world.clock.nowMs())) {
    throw messagingError(130429, 'Too many messages from this number in a second');
  }
  if (recipient.key === number.digits) throw messagingError(131021, 'The recipient is the sender of the message');

  const sent = templateOf(endpoint, body);
  const template = world.templates.find(waba.id, sent.name, sent.language.code);
  checkStatus(template, sent);
  checkEndpoint(endpoint, { template, waba, recipient });
  checkComponents(
    { template, catalogIds: waba.catalogs.map((catalog) => catalog.id), nowMs: world.clock.nowMs() },
    sent.components,
  );
  if (!world.pairs.take(number.id, recipient.key, world.clock.nowMs())) throw messagingError(131056);

  const { action, course: magic } = world.magicFates.next(recipient.key);
  const accept = () => {
    const usual = {
      ...(world.blocked.has(recipient.key) ? courseOfBlocked : {}),
      ...(hasMedia(world, sent.components) ? {} : { fail: mediaFailure }),
      ...magic,
    };
    const course = world.receiptRules.courseOf({ to: recipient.key, template: template.fields.name }, usual);
    return accepted(world, { ...place, body, recipient, template, course }, request);
  };
  if (action === undefined) return accept();
  return interfere(action, { path: request.path, traceId: world.nextTraceId, wait: request.wait }, accept);
}

function recipientOf(body: MessageBody): Recipient {
  if (body.to !== undefined) {
    const key = recipientKey(body.to);
    if (!/^\+?\d{5,15}$/.test(body.to)) throw messagingError(131009, 'to is not a valid phone number');
    return { input: body.to, key, scopedUser: false };
  }
  if (body.recipient === undefined) throw graphError(100, '(#100) The parameter to is required.');
  if (!/^[A-Z]{2}\.(ENT\.)?[0-9A-Za-z]{1,128}$/.test(body.recipient)) {
    throw messagingError(131009, 'recipient is not a valid business-scoped user id');
  }
  return { input: body.recipient, key: body.recipient, scopedUser: true };
}

function templateOf(endpoint: SendEndpoint, body: MessageBody): NonNullable<MessageBody['template']> {
  if (body.type !== 'template') {
    throw endpoint === 'messages'
      ? messagingError(131051, `messages of type ${body.type} are not simulated`)
      : messagingError(134100, 'type must be template');
  }
  if (body.template === undefined) throw graphError(100, '(#100) The parameter template is required.');
  return body.template;
}

function checkStatus(
  template: Template | undefined,
  sent: NonNullable<MessageBody['template']>,
): asserts template is Template {
  const status = template?.fields.status;
  if (status === 'APPROVED') return;
  if (status === 'PAUSED') throw messagingError(132015);
  if (status === 'DISABLED') throw messagingError(132016);
  throw messagingError(132001, `template name (${sent.name}) does not exist in ${sent.language.code}`);
}

function checkEndpoint(
  endpoint: SendEndpoint,
  send: { readonly template: Template; readonly waba: Waba; readonly recipient: Recipient },
): void {
  const { category, optimization_spec: bid } = send.template.fields;
  const { fields } = send.waba;
  if (endpoint === 'messages') {
    if (bid !== undefined) throw messagingError(131061);
    if (category === 'MARKETING' && fields['disable_marketing_messages_on_cloud_api'] === true)
      throw messagingError(131063);
    return;
  }
  if (fields['marketing_messages_onboarding_status'] !== 'ONBOARDED')
    throw messagingError(131055, 'the business account is not onboarded');
  if (category !== 'MARKETING') throw messagingError(134100);
  if (bid !== undefined && send.recipient.scopedUser) throw messagingError(131062);
}

/** Whoever has blocked a number is not told to it: the messages stay underway. */
const courseOfBlocked = { delivered_after_ms: null, read_after_ms: null };

/** Media are looked for once a message is accepted: what is wrong with them is told by webhook. */
const mediaFailure = 131053;

function hasMedia(world: World, parts: NonNullable<MessageBody['template']>['components']): boolean {
  return mediaIdsIn(parts).every((id) => world.media.get(id, world.clock.nowMs()) !== undefined);
}

interface Acceptance extends SendPlace {
  readonly body: MessageBody;
  readonly recipient: Recipient;
  readonly template: Template;
  readonly course: Course;
}

function accepted(world: World, send: Acceptance, request: PlatformRequest): Reply {
  const { number, recipient, template } = send;
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
    { template, ...planReceipts(world, id, send) },
  );
  return json({
    messaging_product: 'whatsapp',
    contacts: [{ input: recipient.input, [recipient.scopedUser ? 'user_id' : 'wa_id']: recipient.key }],
    messages: [{ id, message_status: 'accepted' }],
  });
}

/** Plans what is told of the message; returns it too. */
function planReceipts(world: World, id: string, send: Acceptance): Pick<Entry, 'accepted' | 'told'> {
  const { number, recipient, template, endpoint, body, course } = send;
  const message: AcceptedMessage = {
    id,
    wabaId: number.wabaId,
    metadata: { display_phone_number: number.digits, phone_number_id: number.id },
    recipient,
    pricingCategory: endpoint === 'marketing_messages' ? 'marketing_lite' : template.fields.category.toLowerCase(),
    callbackData: body.biz_opaque_callback_data,
    acceptedMs: world.clock.nowMs(),
  };
  const receipts = receiptsOf(message, course);
  for (const { update, atMs } of receipts) world.outbox.add(update, atMs);
  return { accepted: message, told: receipts.map((receipt) => receipt.told) };
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

import { graphError, messagingError } from '../errors.ts';
import { applyFault } from '../faults.ts';
import { type Hold, noAnswer } from '../holds.ts';
import type { MessageContent } from '../logs.ts';
import type { PlatformRequest } from '../platform-request.ts';
import type { Reply } from '../reply.ts';
import type { World } from '../state.ts';
import type { Template } from '../templates/template.ts';
import { messagesPerSecond, type PhoneNumber, portfolioIdOf, type Waba } from '../wabas.ts';
import { type Acceptance, accepted } from './accept.ts';
import { checkComponents } from './component-checks.ts';
import { directSend, refusePartsOfDirectSend } from './direct-send.ts';
import { type CheckedSend, noteCapped, usualFate } from './fate.ts';
import { type MessageBody, parseMessageBody, type SendEndpoint } from './message-body.ts';
import { answerReadMark } from './read-mark.ts';
import { type Recipient, recipientOf } from './recipient.ts';

export interface SendPlace {
  readonly number: PhoneNumber;
  readonly endpoint: SendEndpoint;
}

/**
 * Answers `POST /{phone_number_id}/messages` and `/marketing_messages` (platform reference, 4 and 6). It checks body
 * and address, holds, throughput, content, pair limit, then person, portfolio and magic recipient.
 */
export function sendMessage(world: World, place: SendPlace, request: PlatformRequest): Reply | Promise<Reply> {
  const { number, endpoint } = place;
  const waba = world.wabas.get(number.wabaId);
  if (waba === undefined) throw new Error(`number ${number.id} belongs to no WABA`);
  const holds = [...world.holds.on(waba.id), ...world.holds.on(number.id)];
  if (holds.some(({ kind }) => kind.code === noAnswer)) return silence(request);
  const readMark = endpoint === 'messages' ? answerReadMark(request) : undefined;
  if (readMark !== undefined) return readMark;

  const body = parseMessageBody(endpoint, request.body);
  checkAccount(waba, body);
  const portfolioId = portfolioIdOf(waba);
  const recipient = recipientOf(world, { portfolioId, numberId: number.id }, body);
  const concerning = holdsConcerning(holds, categoryOf(world, waba, body));
  refuseHeld(concerning, world.pacing.reviewOf(portfolioId));
  if (!world.throughput.take(number.id, messagesPerSecond(number), world.clock.nowMs())) {
    throw messagingError(130429, 'Too many messages from this number in a second');
  }
  if (recipient.key === number.digits) throw messagingError(131021, 'The recipient is the sender of the message');

  const content = contentOf(world, { waba, endpoint, body, recipient });
  if (!world.pairs.take(number.id, recipient.key, world.clock.nowMs())) throw messagingError(131056);
  return meetFate(world, { ...place, portfolioId, body, recipient, content, holds: concerning }, request);
}

/** Applies receipt rules and a magic recipient, then accepts the message unless they forbid it. */
function meetFate(
  world: World,
  send: CheckedSend & Pick<Acceptance, 'endpoint'>,
  request: PlatformRequest,
): Reply | Promise<Reply> {
  const { recipient, content, body } = send;
  const usual = usualFate(world, send);
  const category = content.kind === 'template' ? content.template.fields.category : undefined;
  const magic = world.magicFates.next(recipient.key, {
    category,
    hasIdentityHash: body.recipient_identity_key_hash !== undefined,
  });
  const accept = () => {
    const template = content.kind === 'template' ? content.template.fields.name : undefined;
    const course = world.receiptRules.courseOf({ to: recipient.key, template }, { ...usual, ...magic.course });
    noteCapped(world, send, course);
    return accepted(world, { ...send, course, stops: magic.stops === true }, request);
  };
  if (magic.action === undefined) return accept();
  return applyFault(magic.action, { path: request.path, traceId: world.nextTraceId, wait: request.wait }, accept);
}

/** A number's messaging account has the id of its WABA; no other is simulated. */
function checkAccount(waba: Waba, { messaging_account_id: id, paid_messaging_account_id: old }: MessageBody): void {
  const given = id ?? old;
  if (given === undefined || given === waba.id) return;
  const name = id === undefined ? 'paid_messaging_account_id' : 'messaging_account_id';
  throw graphError(100, `(#100) Param ${name} must be a messaging account of the phone number - got "${given}".`);
}

/** The wait for an answer ends here; clients give up earlier. */
const silenceMs = 600_000;

async function silence(request: PlatformRequest): Promise<Reply> {
  await request.wait(silenceMs);
  return { kind: 'closed' };
}

/** Only holds on all messages apply to a message without a category, such as a text. */
function holdsConcerning(holds: readonly Hold[], category: string | undefined): readonly Hold[] {
  return holds.filter(({ kind }) => kind.category === undefined || kind.category === category);
}

/** Runs before any counter: a message refused by a hold or review uses up no throughput (platform reference, 6.4). */
function refuseHeld(holds: readonly Hold[], review: number | undefined): void {
  const hold = holds.find(({ kind, isLater }) => typeof kind.code === 'number' && isLater !== true)?.kind;
  if (typeof hold?.code === 'number') throw messagingError(hold.code, hold.details);
  if (review !== undefined) throw messagingError(review, 'The business portfolio is being reviewed.');
}

/** Returns undefined for a plain text and for an unknown template. */
function categoryOf(world: World, waba: Waba, { template, type, category }: MessageBody): string | undefined {
  if (type === 'text') return category?.toUpperCase();
  return template && world.templates.find(waba.id, template.name, template.language.code)?.fields.category;
}

function contentOf(world: World, send: TemplateSend): MessageContent {
  const { waba, endpoint, body, recipient } = send;
  if (body.category === undefined) refusePartsOfDirectSend(body);
  if (body.type === 'template') {
    if (body.category === undefined) return templateOf(world, send);
    throw messagingError(100, "Parameter Invalid: 'category' does not go with a template");
  }
  const text = textOf(endpoint, body);
  if (body.category === undefined) return { kind: 'text', text };
  return { kind: 'template', template: directSend(world, waba, { body, recipient, text }), isDirect: true };
}

function textOf(endpoint: SendEndpoint, { text }: MessageBody): string {
  if (endpoint === 'marketing_messages') throw messagingError(134100, 'type must be template');
  if (text === undefined) throw graphError(100, '(#100) The parameter text is required.');
  if (text.body === '') throw graphError(100, "(#100) The parameter text['body'] is required.");
  return text.body;
}

interface TemplateSend {
  readonly waba: Waba;
  readonly endpoint: SendEndpoint;
  readonly body: MessageBody;
  readonly recipient: Recipient;
}

function templateOf(world: World, send: TemplateSend): MessageContent {
  const { waba, endpoint, body, recipient } = send;
  const sent = body.template;
  if (sent === undefined) throw graphError(100, '(#100) The parameter template is required.');
  const template = world.templates.find(waba.id, sent.name, sent.language.code);
  checkStatus(template, sent);
  checkAddressee(template, recipient);
  checkEndpoint(endpoint, { ...send, template });
  checkComponents(
    { template, catalogIds: waba.catalogs.map((catalog) => catalog.id), nowMs: world.clock.nowMs() },
    sent.components,
  );
  return { kind: 'template', template };
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

/** Refuses user ids for one-time codes, and for templates with a bid (platform reference, 4.5). */
export function checkAddressee(
  { fields: { category, optimization_spec: bid } }: Template,
  { scopedUser }: Recipient,
): void {
  if (!scopedUser || (category !== 'AUTHENTICATION' && bid === undefined)) return;
  throw messagingError(131062, 'Business-scoped User ID (BSUID) recipients are not supported for this message.');
}

function checkEndpoint(endpoint: SendEndpoint, send: { readonly template: Template; readonly waba: Waba }): void {
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
}

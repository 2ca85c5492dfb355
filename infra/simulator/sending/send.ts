import { graphError, messagingError } from '../errors.ts';
import { interfere } from '../faults.ts';
import { type HoldKind, noAnswer } from '../holds.ts';
import type { MessageContent } from '../logs.ts';
import type { PlatformRequest } from '../platform-request.ts';
import type { Reply } from '../reply.ts';
import type { World } from '../state.ts';
import type { Template } from '../templates/template.ts';
import { messagesPerSecond, type PhoneNumber, type Waba } from '../wabas.ts';
import type { CourseChanges } from '../webhooks/receipt-rules.ts';
import { accepted } from './accept.ts';
import { checkComponents } from './component-checks.ts';
import { type MessageBody, parseMessageBody, type SendEndpoint } from './message-body.ts';
import { answerReadMark } from './read-mark.ts';
import { type Recipient, recipientOf } from './recipient.ts';
import { mediaIdsIn } from './sent-media.ts';

export interface SendPlace {
  readonly number: PhoneNumber;
  readonly endpoint: SendEndpoint;
}

/**
 * `POST /{phone_number_id}/messages` and `/marketing_messages` (platform reference, 4 and 6): the form of the body, what
 * holds the WABA or the number, the number's throughput, the recipient, the text or the template with its parameters, the
 * pair limit, and last what a magic recipient brings.
 */
export function sendMessage(world: World, place: SendPlace, request: PlatformRequest): Reply | Promise<Reply> {
  const { number, endpoint } = place;
  const waba = world.wabas.get(number.wabaId);
  if (waba === undefined) throw new Error(`number ${number.id} belongs to no WABA`);
  const holds = [...world.holds.on(waba.id), ...world.holds.on(number.id)].map(({ kind }) => kind);
  if (holds.some(({ code }) => code === noAnswer)) return silence(request);
  const readMark = endpoint === 'messages' ? answerReadMark(request) : undefined;
  if (readMark !== undefined) return readMark;

  const body = parseMessageBody(endpoint, request.body);
  const recipient = recipientOf(world, waba, body);
  refuseHeld(holds, body.type === 'template' ? categoryOf(world, waba, body) : undefined);
  if (!world.throughput.take(number.id, messagesPerSecond(number), world.clock.nowMs())) {
    throw messagingError(130429, 'Too many messages from this number in a second');
  }
  if (recipient.key === number.digits) throw messagingError(131021, 'The recipient is the sender of the message');

  const content =
    body.type === 'text' ? textOf(endpoint, body) : templateOf(world, { waba, endpoint, body, recipient });
  if (!world.pairs.take(number.id, recipient.key, world.clock.nowMs())) throw messagingError(131056);

  const { action, course: magic } = world.magicFates.next(recipient.key);
  const accept = () => {
    const usual = { ...usualFate(world, place, { recipient, content, body }), ...magic };
    const template = content.kind === 'template' ? content.template.fields.name : undefined;
    const course = world.receiptRules.courseOf({ to: recipient.key, template }, usual);
    return accepted(world, { ...place, body, recipient, content, course }, request);
  };
  if (action === undefined) return accept();
  return interfere(action, { path: request.path, traceId: world.nextTraceId, wait: request.wait }, accept);
}

/** The longest that a request may wait; the client gives up before. */
const silenceMs = 600_000;

async function silence(request: PlatformRequest): Promise<Reply> {
  await request.wait(silenceMs);
  return { kind: 'closed' };
}

/** Refuses what a hold concerns (platform reference, 6.4): before anything is counted, so a refused message takes nothing. */
function refuseHeld(holds: readonly HoldKind[], category: string | undefined): void {
  const hold = holds.find((each) => each.category === undefined || each.category === category);
  if (typeof hold?.code === 'number') throw messagingError(hold.code, hold.details);
}

/** Undefined when the template is not there. */
function categoryOf(world: World, waba: Waba, { template }: MessageBody): string | undefined {
  return template && world.templates.find(waba.id, template.name, template.language.code)?.fields.category;
}

function textOf(endpoint: SendEndpoint, { text }: MessageBody): MessageContent {
  if (endpoint === 'marketing_messages') throw messagingError(134100, 'type must be template');
  if (text === undefined) throw graphError(100, '(#100) The parameter text is required.');
  if (text.body === '') throw graphError(100, "(#100) The parameter text['body'] is required.");
  return { kind: 'text', text: text.body };
}

interface TemplateSend {
  readonly waba: Waba;
  readonly endpoint: SendEndpoint;
  readonly body: MessageBody;
  readonly recipient: Recipient;
}

/** The template that a message names, once it may be sent so. */
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

/** One-time codes go to numbers alone, and so do templates with a bid (platform reference, 4.5). */
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

/** Whoever has blocked a number is not told to it: the messages stay underway. */
const courseOfBlocked = { delivered_after_ms: null, read_after_ms: null };

/** Media are looked for once a message is accepted: what is wrong with them is told by webhook. */
const mediaFailure = 131053;

/** So is that a text came when the person has not written for 24 hours. */
const windowFailure = 131047;

function usualFate(
  world: World,
  { number }: SendPlace,
  send: { readonly recipient: Recipient; readonly content: MessageContent; readonly body: MessageBody },
): CourseChanges {
  const { key } = send.recipient;
  const nowMs = world.clock.nowMs();
  const isLate = send.content.kind === 'text' && !world.people.isWindowOpen(number.id, key, nowMs);
  const lacksMedia = mediaIdsIn(send.body.template?.components ?? []).some(
    (id) => world.media.get(id, nowMs) === undefined,
  );
  return {
    ...(world.blocked.has(key) ? courseOfBlocked : {}),
    ...(lacksMedia ? { fail: mediaFailure } : {}),
    ...(isLate ? { fail: windowFailure } : {}),
  };
}

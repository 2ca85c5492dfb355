import type { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { queueBody } from '../../lib/aws/queue-body.ts';
import { accountEvents } from '../../lib/hints/account-events.ts';
import { type HintMessage, hintsOf } from '../../lib/hints/hint-message.ts';
import { smallRequestBody } from '../../lib/messages/accept/hand-over.ts';
import { thresholdEvent } from '../../lib/messages/budget/thresholds.ts';
import { messageIdOf } from '../../lib/messages/dispatch/head.ts';
import { encodeSenderWake } from '../../lib/messages/dispatch/sender-wake.ts';
import type { InboundUpdate } from '../../lib/messages/inbound/inbound-message.ts';
import { inboundOf } from '../../lib/messages/inbound/inbound-of.ts';
import { inboundQueue } from '../../lib/messages/inbound/inbound-queue.ts';
import { repliedEvent } from '../../lib/messages/inbound/replied-event.ts';
import { receiptEntries } from '../../lib/messages/receipts/receipt-queue.ts';
import { replyPayload } from '../../lib/messages/reply-payload.ts';
import { completedEvent } from '../../lib/messages/send/completed-event.ts';
import { messageEvent } from '../../lib/messages/send/message-event.ts';
import { parkedEvent, resumedEvent } from '../../lib/messages/send/pause-events.ts';
import { countMessageOf } from '../../lib/messages/spend/later-counts.ts';
import { optOutEvent } from '../../lib/opt-outs/opt-out-event.ts';
import type { PersonUpdate } from '../../lib/platform/webhook/person-updates.ts';
import { encodeSync, noCounts } from '../../lib/templates/sync/sync-message.ts';
import { failingEvent } from '../../lib/webhooks/delivery/failing-event.ts';
import { encodeWake } from '../../lib/webhooks/delivery/pending.ts';
import { type EventType, eventId, type ServiceEvent } from '../../lib/webhooks/event.ts';
import { encodeEvent } from '../../lib/webhooks/event-queue.ts';
import { makeDispatch, makeRecipients } from './made-dispatches.ts';
import { startMs as atMs } from './scenario-dispatch.ts';

/** The current code writes these bodies to every queue. */
export type QueuedBodies = Readonly<Record<'wakes' | 'smallRequests' | Others, readonly string[]>>;
type Others = 'counts' | 'events' | 'syncs' | 'receipts' | 'hints' | 'inbound';

const wabaId = '200000000000001';
const phoneNumberId = '300000000000001';
const clientId = 1001;
const correlationId = 'c-1';

/**
 * Returns all kinds of bodies that the current code writes to its queues: wakes of senders and small
 * requests. The fixture of a released version has them (fixtures/write-released.ts).
 */
export async function queuedBodies(): Promise<QueuedBodies> {
  return {
    wakes: wakes(),
    smallRequests: await smallRequests(),
    counts: [countMessageOf(large.head, 1)].map(queueBody),
    events: [...events().map(encodeEvent), encodeWake(clientId)],
    syncs: syncs.map(encodeSync),
    receipts: receiptEntries(receipts).map(({ body }) => body),
    hints: hints().map(queueBody),
    inbound: await inboundBodies(),
  };
}

const head = {
  ...{ dispatchId: '01M80HXQNCYVAMMXGBXAHJWT8R', acceptedAtMs: atMs, expiresAtMs: atMs + 86_400_000, campaignId: 10 },
  ...{ attends: { waitTime: -1, typification: 3 }, correlationId },
};
const large = makeDispatch(makeRecipients(40), head);

function wakes(): string[] {
  const wake = { phoneNumberId, part: 0, of: 1, delaySeconds: 0 };
  return [wake, { ...wake, dispatchId: head.dispatchId }, { ...wake, part: 7, of: 8, delaySeconds: 36 }].map(
    encodeSenderWake,
  );
}

/** Makes small requests: a code, and one to few recipients with expected receipts. */
async function smallRequests(): Promise<string[]> {
  const recipients = makeRecipients(3);
  const dispatches = [
    makeDispatch(recipients.slice(0, 1), { ...head, urgent: true }),
    makeDispatch(recipients, {
      ...head,
      receiptsExpected: true,
      heedsOptOuts: true,
      path: 'marketing_messages',
    }),
  ];
  const header = { type: 'image_url', value: 'https://cdn.example.com/a.png' } as const;
  const withMedia = dispatches.map((dispatch) => ({
    ...dispatch,
    header,
    plan: { ...dispatch.plan, catalogId: '900000000000001' },
  }));
  const bodies = await Promise.all(withMedia.map((dispatch) => smallRequestBody(dispatch, async () => 80)));
  return bodies.filter((body) => body !== undefined);
}

function events(): ServiceEvent[] {
  const about = { did: '5491100000001', template: { name: 'order_update', language: 'en_US' }, campaignId: 10 };
  const dispatch = { dispatchId: '01M80HXQNCYVAMMXGBXAHJWT8R', clientId, acceptedAtMs: atMs, about };
  const parked = { code: '131042', scope: 'waba', sinceMs: atMs } as const;
  const message = { ...dispatch, index: 0, to: '5491155550001' };
  const told = { timestampMs: atMs, platformMessageId: 'wamid.1' };
  const pricing = { billable: true, pricing_model: 'PMP', type: 'regular', category: 'utility' };
  const template = {
    ...{ template_id: '7', waba_id: wabaId, platform_template_id: '400000000000001', name: 'order_update' },
    ...{ language: 'en_US', status: 'REJECTED', category: 'UTILITY' },
  };
  const eventOf = <T extends EventType>(type: T, data: Extract<ServiceEvent, { type: T }>['data']) =>
    ({ id: eventId(type, clientId, [1]), clientId, type, timestampMs: atMs, data, correlationId }) as ServiceEvent;
  return [
    eventOf('template.created', template),
    eventOf('template.status_changed', {
      ...template,
      ...{ previous_status: 'PENDING', previous_category: 'UTILITY', rejected_reason: 'INVALID_FORMAT' },
    }),
    eventOf('template.deleted', template),
    eventOf('sync.completed', {
      ...{ client_id: clientId, sync_id: '01M80HXQNCYVAMMXGBXAHJWT8S', created: 1, updated: 2, deleted: 0 },
      ...{ unchanged: 40, skipped: 1, failed_wabas: 0, finished_at: new Date(atMs).toISOString() },
    }),
    messageEvent('message.failed', message, { timestampMs: atMs, code: '131026', reason: 'Message undeliverable' }),
    messageEvent('message.expired', message, { timestampMs: atMs, code: 'expired' }),
    messageEvent('message.unknown', message, { timestampMs: atMs, code: 'no_answer' }),
    messageEvent('message.held', message, { ...told, code: 'paused' }),
    messageEvent('message.sent', message, { ...told, pricing }),
    messageEvent('message.delivered', message, told),
    messageEvent('message.read', message, told),
    messageEvent('message.resolved', message, told),
    ...[{ head: large.head, index: 3 }, undefined].map((answered) =>
      repliedEvent({ word: reply, did: about.did, clientId, answered }),
    ),
    parkedEvent(dispatch, { ...parked, untilMs: atMs + 86_400_000 }),
    resumedEvent(dispatch, parked, atMs + 60_000),
    completedEvent(dispatch, { sent: 2, failed: 1 }, atMs),
    ...accountEvents({ wabaId, clientIds: [clientId] }, [
      { ...{ kind: 'restricted', matter: 'sending', word: 'DISABLE', code: '131031' }, atMs, untilMs: atMs },
      { kind: 'restored', matter: 'access', word: 'ACCOUNT_RECONNECTED', atMs },
    ]),
    ...(['stopped', 'started'] as const).map((says) =>
      optOutEvent({
        ...{ clientId, recipients: ['5491155550001', 'AR.1'], did: about.did, scope: { kind: 'client', clientId } },
        ...{
          word: { says, atMs, source: 'reply' },
          answered: { dispatchId: dispatch.dispatchId, messageId: `${dispatch.dispatchId}-0` },
        },
      }),
    ),
    thresholdEvent({ clientId, amount: 100, stop: true }, { percent: 80, committedUnits: 8_125_000_000, atMs }),
    failingEvent(clientId, atMs),
  ];
}

const reply = {
  kind: 'reply',
  ...{ person: { waId: '5491155550001', userId: 'AR.1' }, receivedAtMs: atMs, messageId: 'wamid.2' },
  reply: {
    by: 'quick_reply',
    text: 'More',
    payload: replyPayload(messageIdOf({ dispatchId: head.dispatchId, index: 3 }), { button: 1, card: 2 }),
  },
} as const;

const lock = { name: 'sync', owner: '01M80HXQNCYVAMMXGBXAHJWT8S', fence: 12 };
const syncs = [
  { lock, clientId, wabaIds: [wabaId, '200000000000002'], counts: noCounts, correlationId },
  {
    ...{ lock, clientId, wabaIds: [wabaId], counts: { ...noCounts, created: 1, skipped: 2 }, correlationId },
    listing: { after: 'MTAwZA==', startedAtMs: atMs, seen: ['abcdefgh'], complete: true },
    walk: { id: '2026-11-21T00', turn: 2 },
  },
  { walk: { id: '2026-11-21T00', turn: 3, after: clientId } },
];

const receipt = { dispatchId: '01M80HXQNCYVAMMXGBXAHJWT8R', index: 0, atMs, platformMessageId: 'wamid.1' };
const receipts = [
  {
    wabaId,
    phoneNumberId,
    receipts: [
      { ...receipt, status: 'sent', pricing: { billable: true, category: 'utility' } },
      { ...receipt, index: 1, status: 'failed', code: '131026', reason: 'Message undeliverable' },
    ],
  },
];

/** Makes words of people from webhooks, and opt-outs that sending discovers. */
async function inboundBodies(): Promise<string[]> {
  const person = {
    waId: '5491155550001',
    userId: 'AR.13491208655302741918',
    parentUserId: 'AR.ENT.1',
    username: 'ana',
  };
  const said = { wabaId, phoneNumberId, person, atMs, messageId: 'wamid.2' } as const;
  const reply = { by: 'quick_reply', text: 'Stop promotions', payload: 'p', toMessageId: 'wamid.1' } as const;
  const words: PersonUpdate[] = [
    { ...said, kind: 'preference', says: 'stop' },
    { ...said, kind: 'reply', standby: true, reply },
    { ...said, kind: 'user_id_changed', old: { waId: '5491155550002', userId: 'AR.2', parentUserId: 'AR.ENT.2' } },
    { ...said, kind: 'number_changed', old: { waId: '5491155550002' } },
  ];
  const found: InboundUpdate[] = [
    { kind: 'refused', clientId, recipients: ['5491155550001'], atMs },
    { kind: 'respelled', recipients: ['5491155550001', '541155550001'], atMs },
  ];
  const bodies: string[] = [];
  const send = async ({ input }: SendMessageBatchCommand) => {
    bodies.push(...(input.Entries ?? []).map(({ MessageBody = '' }) => MessageBody));
    return {};
  };
  const queue = inboundQueue({ send } as unknown as SQSClient, 'inbound');
  await queue.send([...inboundOf(words, atMs + 900), { wabaId, phoneNumberId, words: found }]);
  return bodies;
}

function hints(): HintMessage[] {
  const update = (field: string, value: Record<string, unknown>) => ({ wabaId, field, value });
  const told = [
    [update('message_template_status_update', { message_template_id: 400_000_000_000_001 })],
    [update('message_template_status_update', {})],
    [update('phone_number_quality_update', {})],
    [
      {
        ...update('account_update', {
          event: 'ACCOUNT_RESTRICTION',
          restriction_info: [{ restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING', expiration: atMs / 1_000 }],
        }),
        atMs,
      },
    ],
  ].flatMap((updates) => hintsOf(updates, atMs));
  return [...told, { version: 1, wabaId, templateIds: ['400000000000001'], numbers: true, wakeAtMs: atMs }];
}

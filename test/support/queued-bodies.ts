import { queueBody } from '../../lib/aws/queue-body.ts';
import { type HintMessage, hintsOf } from '../../lib/hints/hint.ts';
import { type AcceptedSend, encodeJobMessage, encodeSendJob } from '../../lib/messages/accept/send-job.ts';
import { straightSend } from '../../lib/messages/accept/straight-send.ts';
import { completedEvent } from '../../lib/messages/dispatch/completed-event.ts';
import { postponeCopy, tryUnclaimedLater } from '../../lib/messages/dispatch/later.ts';
import { messageEvent } from '../../lib/messages/dispatch/message-event.ts';
import type { DispatchMessage } from '../../lib/messages/job.ts';
import { receiptEntries } from '../../lib/messages/receipts/receipt-queue.ts';
import { parkedEvent, resumedEvent } from '../../lib/messages/reports/parked-event.ts';
import { composeMessage } from '../../lib/messages/request/compose.ts';
import { parkedWatchOf } from '../../lib/messages/rounds/watch-message.ts';
import { encodeSync, noCounts } from '../../lib/templates/sync/sync-message.ts';
import { encodePending } from '../../lib/webhooks/delivery/pending.ts';
import { type EventType, eventId, type ServiceEvent } from '../../lib/webhooks/event.ts';
import { encodeEvent } from '../../lib/webhooks/event-queue.ts';
import { DispatchWorld } from './dispatch-ports.ts';
import { fanOutStartMs as atMs, fannedOut, fanOutWorld } from './fan-out-world.ts';
import { makeJob } from './send-jobs.ts';

/** Bodies of every queue, by the code of today. */
export type QueuedBodies = Readonly<Record<'sendJobs' | 'dispatchMessages' | Others, readonly string[]>>;
type Others = 'urgentMessages' | 'watches' | 'events' | 'syncs' | 'receipts' | 'hints';

const wabaId = '200000000000001';
const phoneNumberId = '300000000000001';
const clientId = 1001;
const correlationId = 'c-1';

/**
 * Bodies that today's code writes to each of its queues, of each kind that it has: jobs as they are accepted, and what the
 * fan-out makes of them. The fixture of a released version is made of them (fixtures/write-released.ts).
 */
export async function queuedBodies(): Promise<QueuedBodies> {
  const accepted = acceptedJobs();
  const world = fanOutWorld({ compose: composeMessage });
  for (const job of accepted)
    await fannedOut({ ...job, firstIndex: 0 }, { ...world.ports, jobs: fanOutWorld().ports.jobs });
  const queued = world.queued.map(({ delaySeconds: _, ...message }) => message);
  return {
    sendJobs: [...accepted.flatMap(encodeSendJob), ...partsAndRounds(accepted)],
    dispatchMessages: [...[...queued, ...(await copiesOf(queued))].map(queueBody), ...(await straightBodies())],
    urgentMessages: world.codes.map(queueBody),
    watches: [...world.watched.map(({ message }) => message), ...parkedWatches()].map(queueBody),
    events: [...events().map(encodeEvent), ...pending().map(encodePending)],
    syncs: syncs.map(encodeSync),
    receipts: receiptEntries(receipts).map(({ body }) => body),
    hints: hints().map(queueBody),
  };
}

const recipient = { to: '5491155550001', params: { body: ['Ana', 'A-1'], buttons: ['orders/A-1?x=1'] } };
const first: AcceptedSend = makeJob([recipient, { ...recipient, to: '+5491155550002' }], {
  ...{ jobId: '01M80HXQNCYVAMMXGBXAHJWT8R', acceptedAtMs: atMs, expiresAtMs: atMs + 86_400_000, campaignId: 10 },
  ...{ attends: { waitTime: -1, typification: 3 }, correlationId },
});

/** Usual ones, codes that go first, receipts that are expected, dropped duplicates, more than few, and much text. */
function acceptedJobs(): AcceptedSend[] {
  const { head, plan, recipients } = first;
  const many = Array.from({ length: 12 }, (_, index) => ({ ...recipient, to: String(5_491_155_550_100 + index) }));
  const large = many.slice(0, 4).map((each) => ({ ...each, params: { body: ['a'.repeat(300_000)] } }));
  const jobOf = (jobId: string, changes: Partial<AcceptedSend>): AcceptedSend => {
    const to = changes.recipients ?? recipients;
    return { plan, ...changes, recipients: to, head: { ...head, ...changes.head, jobId, total: to.length } };
  };
  const receiptsExpected = true;
  return [
    first,
    jobOf('01M80HXQNCYVAMMXGBXAHJWTR1', { recipients: many, head: { ...head, receiptsExpected } }),
    jobOf('01M80HXQNCYVAMMXGBXAHJWTR2', { recipients: [recipient], head: { ...head, urgent: true } }),
    jobOf('01M80HXQNCYVAMMXGBXAHJWTR3', { recipients: many.slice(0, 2), repeats: [[2, 0]] }),
    jobOf('01M80HXQNCYVAMMXGBXAHJWTR4', { recipients: large }),
  ];
}

/** What goes to the workers without the fan-out. */
async function straightBodies(): Promise<string[]> {
  const job = { ...first, recipients: [recipient], head: { ...first.head, total: 1 } };
  const straight = await straightSend(job, async () => 80);
  return straight === undefined ? [] : [straight.body];
}

function partsAndRounds(jobs: readonly AcceptedSend[]): string[] {
  return jobs
    .slice(0, 1)
    .flatMap((job) => [
      encodeJobMessage({ ...job, firstIndex: 2, part: { number: 2, of: 2 } }),
      encodeJobMessage({ ...job, firstIndex: 0, round: 3, parkedSeconds: 120 }),
    ]);
}

/** As workers queue messages again: for their time, after a failure, of a parked job. */
async function copiesOf([message]: readonly DispatchMessage[]): Promise<DispatchMessage[]> {
  if (message === undefined) return [];
  const world = new DispatchWorld();
  const ports = world.ports();
  await postponeCopy({ ...message, hasWaited: true, notBeforeMs: atMs, missedSlots: 1 }, 5, ports);
  await tryUnclaimedLater(message, 'claims', ports);
  return world.copies.map(({ message: copy }) => copy);
}

function parkedWatches() {
  const watch = parkedWatchOf(
    { jobId: '01M80HXQNCYVAMMXGBXAHJWT8R', clientId, acceptedAtMs: atMs, correlationId },
    atMs,
  );
  return [watch, { ...watch, toldMs: atMs, askedAtMs: atMs, resumedMs: atMs }];
}

function events(): ServiceEvent[] {
  const about = { did: '5491100000001', template: { name: 'order_update', language: 'en_US' }, campaignId: 10 };
  const job = { jobId: '01M80HXQNCYVAMMXGBXAHJWT8R', clientId, acceptedAtMs: atMs, about };
  const message = { ...job, index: 0, to: '5491155550001' };
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
    parkedEvent(job, { sinceMs: atMs, untilMs: atMs + 86_400_000 }),
    resumedEvent(job, atMs, atMs + 60_000),
    completedEvent(job, { sent: 2, failed: 1 }, atMs),
  ];
}

function pending() {
  return events()
    .slice(0, 1)
    .map((event) => ({ event, attempts: 2, firstSeenMs: atMs, dueMs: atMs + 300_000, yields: 1 }));
}

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

const receipt = { jobId: '01M80HXQNCYVAMMXGBXAHJWT8R', index: 0, atMs, platformMessageId: 'wamid.1' };
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

function hints(): HintMessage[] {
  const update = (field: string, value: Record<string, unknown>) => ({ wabaId, field, value });
  const told = [
    [update('message_template_status_update', { message_template_id: 400_000_000_000_001 })],
    [update('message_template_status_update', {})],
    [update('phone_number_quality_update', {})],
  ].flatMap(hintsOf);
  return [...told, { version: 1, wabaId, templateIds: ['400000000000001'], numbers: true, wakeAtMs: atMs }];
}

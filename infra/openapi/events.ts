import * as v from 'valibot';
import { type EventType, ServiceEventSchema } from '../../lib/webhooks/event.ts';
import { demo, demoTemplateId } from './examples.ts';

/** What is told of each kind of event, and an example of its data. */
interface EventDocument {
  readonly summary: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const jobId = demo.dispatchId;
const templateData = {
  template_id: demoTemplateId('order_update'),
  waba_id: demo.wabaId,
  platform_template_id: '1627019861106475',
  name: 'order_update',
  language: 'en_US',
  status: 'PENDING',
  category: 'UTILITY',
};
const dispatchData = {
  job_id: jobId,
  did: demo.did,
  template: { name: 'order_update', language: 'en_US' },
  campaign_id: demo.campaignId,
  attends: { waitTime: 0 },
  accepted_at: '2026-11-22T10:00:00.000Z',
};
const messageData = { ...dispatchData, message_id: `${jobId}-0`, to: '5491155550001' };
const takenData = { ...messageData, platform_message_id: 'wamid.HBgN' };
const pricing = { billable: true, pricing_model: 'PMP', type: 'regular', category: 'utility' };
const parked_at = '2026-11-22T10:00:09.000Z';

const documents: Readonly<Record<EventType, EventDocument>> = {
  'template.created': { summary: 'A template was created through the service', data: templateData },
  'template.status_changed': {
    summary: 'Status or category of a template is not what it was',
    data: { ...templateData, status: 'APPROVED', previous_status: 'PENDING', previous_category: 'UTILITY' },
  },
  'template.deleted': { summary: 'A template is gone', data: templateData },
  'sync.completed': {
    summary: 'A synchronization has come to its end',
    data: {
      client_id: demo.clientId,
      sync_id: '6f1c2f0e-4f0a-4b0e-9d2a-1c9f5b7f3a10',
      created: 1,
      updated: 2,
      deleted: 0,
      unchanged: 5996,
      skipped: 1,
      failed_wabas: 0,
      finished_at: '2026-11-22T10:00:00.000Z',
    },
  },
  'message.failed': {
    summary: 'A message was refused for good, retried in vain, cancelled, or failed by receipt',
    data: { ...messageData, code: '131026', platform_code: 131026, reason: 'Message undeliverable' },
  },
  'message.expired': {
    summary: 'A message could not be handed over in time',
    data: { ...messageData, code: 'expired' },
  },
  'message.unknown': {
    summary: 'Nobody can say whether a message was sent',
    data: { ...messageData, code: 'no_answer' },
  },
  'message.held': {
    summary: 'The platform took a message and holds it back',
    data: { ...takenData, code: 'held_for_quality_assessment' },
  },
  'message.sent': { summary: 'A receipt says that a message was sent', data: { ...takenData, pricing } },
  'message.delivered': { summary: 'A receipt says that a message was delivered', data: { ...takenData, pricing } },
  'message.read': { summary: 'A receipt says that a message was read', data: { ...takenData, pricing } },
  'message.resolved': {
    summary: 'A receipt proves that a message which was unknown was taken',
    data: takenData,
  },
  'dispatch.parked': {
    summary: 'The platform has paused the template: what is left of the dispatch waits',
    data: { ...dispatchData, code: 'template_paused', parked_at, expires_at: '2026-11-23T10:00:09.000Z' },
  },
  'dispatch.resumed': {
    summary: 'The template is back, and a message has left again',
    data: { ...dispatchData, parked_at },
  },
  'dispatch.completed': {
    summary: 'Nothing of a dispatch is pending any more',
    data: {
      ...dispatchData,
      total: 1000,
      counts: { pending: 0, held: 2, sent: 610, delivered: 280, read: 90, failed: 15, expired: 1, unknown: 2 },
    },
  },
};

/** Each kind of event with the schema of the body that receivers get (D34). */
export const events = ServiceEventSchema.options.map(({ entries }) => {
  const type = entries.type.literal;
  const { summary, data } = documents[type];
  return {
    type,
    summary,
    schema: v.object({ type: v.literal(type), timestamp: v.pipe(v.string(), v.isoTimestamp()), data: entries.data }),
    example: { type, timestamp: '2026-11-22T10:00:10.000Z', data },
  };
});

/** Headers of every delivery (Standard Webhooks 1.0). */
export const deliveryHeaders: Readonly<
  Record<string, { readonly description: string; readonly schema: v.GenericSchema }>
> = {
  'webhook-id': {
    description: 'The id of the event, the same at every attempt: drop one that you have seen.',
    schema: v.pipe(v.string(), v.regex(/^evt_[a-z2-7]{26}$/)),
  },
  'webhook-timestamp': {
    description: 'The time of the attempt, in seconds.',
    schema: v.pipe(v.number(), v.integer()),
  },
  'webhook-signature': {
    description:
      'v1,<base64> of the HMAC-SHA256 of <id>.<timestamp>.<body>, one for each valid secret, blanks between them.',
    schema: v.pipe(v.string(), v.regex(/^v1,\S+( v1,\S+)*$/)),
  },
};

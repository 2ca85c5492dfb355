import { type EventType, eventId, type ServiceEvent } from '../../../lib/webhooks/event.ts';

/** The receiver can look up the client and place of the event at the same stack. */
export interface SampleSubject {
  readonly clientId: number;
  readonly did: string;
  readonly wabaId: string;
}

type DataOf<Type extends EventType> = Extract<ServiceEvent, { readonly type: Type }>['data'];

/**
 * Returns an event of the kind, about a dispatch and a template that do not exist. The event's id is derived from
 * `dispatchId`.
 */
export function sampleEvent(
  type: EventType,
  subject: SampleSubject,
  unique: { readonly dispatchId: string; readonly nowMs: number },
): ServiceEvent {
  const { clientId } = subject;
  const { dispatchId, nowMs } = unique;
  const data = dataOf(subject, unique)[type];
  return {
    id: eventId(type, clientId, ['sample', dispatchId]),
    clientId,
    type,
    timestampMs: nowMs,
    data,
  } as ServiceEvent;
}

function dataOf(
  { clientId, did, wabaId }: SampleSubject,
  { dispatchId, nowMs }: { readonly dispatchId: string; readonly nowMs: number },
): { readonly [Type in EventType]: DataOf<Type> } {
  const at = (ms: number) => new Date(ms).toISOString();
  const template = { name: 'order_update', language: 'en_US' };
  const created = {
    template_id: `sample-${dispatchId}`,
    waba_id: wabaId,
    platform_template_id: '1627019861106475',
    ...template,
    status: 'PENDING',
    category: 'UTILITY',
  };
  const dispatch = {
    ...{ dispatch_id: dispatchId, did, template, campaign_id: 10 },
    ...{ attends: { waitTime: 0 }, accepted_at: at(nowMs - 10_000) },
  };
  const paused = { scope: 'template', code: 'template_paused' } as const;
  const message = { ...dispatch, message_id: `${dispatchId}-0`, to: '5491155550001' };
  const taken = { ...message, platform_message_id: `wamid.${dispatchId}` };
  const receipt = {
    ...taken,
    user_id: 'AR.13491208655302741918',
    pricing: { billable: true, pricing_model: 'PMP', type: 'regular', category: 'utility' },
  };
  const person = { recipient: message.to, user_id: receipt.user_id, did, scope: 'client', source: 'reply' } as const;
  return {
    'template.created': created,
    'template.status_changed': {
      ...created,
      status: 'APPROVED',
      previous_status: 'PENDING',
      previous_category: 'UTILITY',
    },
    'template.deleted': { ...created, status: 'APPROVED' },
    'sync.completed': {
      ...{ client_id: clientId, sync_id: dispatchId, finished_at: at(nowMs) },
      ...{ created: 1, updated: 2, deleted: 0, unchanged: 17, skipped: 0, failed_wabas: 0 },
    },
    'message.failed': { ...message, code: '131026', platform_code: 131026, reason: 'Message undeliverable' },
    'message.expired': { ...message, code: 'expired' },
    'message.unknown': { ...message, code: 'no_answer' },
    'message.held': { ...taken, code: 'held_for_quality_assessment' },
    'message.sent': receipt,
    'message.delivered': receipt,
    'message.read': receipt,
    'message.resolved': taken,
    'message.replied': {
      ...{
        dispatch_id: dispatchId,
        message_id: `${dispatchId}-0`,
        did,
        template,
        campaign_id: 10,
        attends: { waitTime: 0 },
      },
      ...{ from: '5491155550001', user_id: 'AR.13491208655302741918', by: 'quick_reply', text: 'Where is it?' },
      ...{ button_index: 1, platform_message_id: `wamid.${dispatchId}.reply`, replied_at: at(nowMs) },
    },
    'dispatch.parked': {
      ...dispatch,
      ...paused,
      parked_at: at(nowMs),
      expires_at: at(nowMs + 24 * 3_600_000),
    },
    'dispatch.resumed': { ...dispatch, ...paused, parked_at: at(nowMs - 5_000) },
    'dispatch.completed': {
      ...dispatch,
      total: 3,
      counts: { pending: 0, held: 0, sent: 1, delivered: 1, read: 0, failed: 1, expired: 0, unknown: 0 },
    },
    'account.restricted': {
      ...{ waba_id: wabaId, scope: 'utility', code: '131064' },
      platform_word: 'RATE_LIMITED_UTILITY_TEMPLATE_MESSAGING',
      until: at(nowMs + 7 * 86_400_000),
      remediation: 'Review the categories of your utility templates.',
    },
    'account.restored': {
      ...{ waba_id: wabaId, scope: 'utility', code: '131064' },
      platform_word: 'UTILITY_TEMPLATE_ABUSE_RATE_LIMIT_RECOVERY',
    },
    'recipient.opted_out': { ...person, at: at(nowMs), dispatch_id: dispatchId, message_id: message.message_id },
    'recipient.opted_in': { ...person, at: at(nowMs) },
    'budget.reached': {
      ...{ month: at(nowMs).slice(0, 7), percent: 80, stop: true },
      budget: { amount: 100, currency: 'USD' },
      committed: { amount: 81.25, currency: 'USD' },
    },
    'webhook.failing': { since: at(nowMs - 15 * 60_000) },
  };
}

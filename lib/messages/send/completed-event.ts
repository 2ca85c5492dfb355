import { type DispatchCompletedData, type DispatchData, eventId, type ServiceEvent } from '../../webhooks/event.ts';
import type { CallFacts } from '../dispatch/call-facts.ts';

type Ended = Omit<DispatchCompletedData['counts'], 'pending'>;

const none: Ended = { held: 0, sent: 0, delivered: 0, read: 0, failed: 0, expired: 0, unknown: 0 };

export type NotifiedDispatch = Pick<CallFacts, 'dispatchId' | 'clientId' | 'acceptedAtMs' | 'about'>;

export function dispatchData({ dispatchId, acceptedAtMs, about }: Omit<NotifiedDispatch, 'clientId'>): DispatchData {
  return {
    dispatch_id: dispatchId,
    did: about.did,
    template: about.template,
    campaign_id: about.campaignId,
    attends: about.attends,
    accepted_at: new Date(acceptedAtMs).toISOString(),
  };
}

/**
 * Returns the event that nothing of a dispatch is pending (D41). It has one id per dispatch, whichever run emits it; a
 * repetition may count newer receipts.
 */
export function completedEvent(dispatch: NotifiedDispatch, ended: Partial<Ended>, timestampMs: number): ServiceEvent {
  const { dispatchId, clientId } = dispatch;
  const counts: DispatchCompletedData['counts'] = { pending: 0, ...none, ...ended };
  const data: DispatchCompletedData = {
    ...dispatchData(dispatch),
    total: Object.values(counts).reduce((sum, each) => sum + each, 0),
    counts,
  };
  const type = 'dispatch.completed';
  return { id: eventId(type, clientId, [dispatchId]), clientId, type, timestampMs, data };
}

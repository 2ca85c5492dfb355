import { eventId, type ServiceEvent } from '../../webhooks/event.ts';
import type { DispatchParked } from '../dispatch/item.ts';
import { dispatchData, type NotifiedDispatch } from './completed-event.ts';

/** Returns the event that the rest of a dispatch waits for a hold (D46), with one id per waiting. */
export function parkedEvent(
  dispatch: NotifiedDispatch,
  { code, scope, sinceMs, untilMs }: DispatchParked & { readonly untilMs: number },
): ServiceEvent {
  const type = 'dispatch.parked';
  const { dispatchId, clientId } = dispatch;
  const data = {
    ...dispatchData(dispatch),
    ...{ code, scope },
    parked_at: new Date(sinceMs).toISOString(),
    expires_at: new Date(untilMs).toISOString(),
  };
  return { id: eventId(type, clientId, [dispatchId, sinceMs]), clientId, type, timestampMs: sinceMs, data };
}

/** Returns the event that the pause of `sinceMs` has ended and the dispatch goes on (D46). */
export function resumedEvent(
  dispatch: NotifiedDispatch,
  { code, scope, sinceMs }: DispatchParked,
  timestampMs: number,
): ServiceEvent {
  const type = 'dispatch.resumed';
  const { dispatchId, clientId } = dispatch;
  const data = { ...dispatchData(dispatch), code, scope, parked_at: new Date(sinceMs).toISOString() };
  return { id: eventId(type, clientId, [dispatchId, sinceMs]), clientId, type, timestampMs, data };
}

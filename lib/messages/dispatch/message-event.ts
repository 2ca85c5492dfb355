import { present } from '../../keys/present.ts';
import { type EventType, eventId, type MessageData, type ServiceEvent } from '../../webhooks/event.ts';
import { type DispatchMessage, dispatchIdOf } from '../job.ts';
import type { Claim } from './claim.ts';

/** A message with the recipient it is for. */
export interface Addressed extends Pick<DispatchMessage, 'jobId' | 'index' | 'clientId' | 'acceptedAtMs' | 'about'> {
  readonly to: string | undefined;
}

const typeOf = { failed: 'message.failed', expired: 'message.expired', unknown: 'message.unknown' } as const satisfies {
  readonly [State in Claim['state']]?: EventType;
};

/**
 * The event about a message that ended `failed`, `expired` or `unknown` (D29, D34); undefined for `sent`, which the client
 * expects, and while it has not ended. The same outcome of the same message is the same event.
 */
export function outcomeEvent(
  message: Addressed,
  { state, code, reason }: Pick<Claim, 'state' | 'code' | 'reason'>,
  timestampMs: number,
): ServiceEvent | undefined {
  if (state === 'sent' || state === 'claimed') return undefined;
  const type = typeOf[state];
  const { jobId, clientId, acceptedAtMs, about, to } = message;
  const messageId = dispatchIdOf(message);
  const data: MessageData = {
    job_id: jobId,
    message_id: messageId,
    did: about.did,
    ...present({ to }),
    template: about.template,
    ...present({ campaign_id: about.campaignId, attends: about.attends, code }),
    ...(code !== undefined && /^\d+$/.test(code) ? { platform_code: Number(code) } : {}),
    ...present({ reason }),
    accepted_at: new Date(acceptedAtMs).toISOString(),
  };
  return { id: eventId(type, clientId, [messageId]), clientId, type, timestampMs, data };
}

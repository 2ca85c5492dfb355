import * as v from 'valibot';
import { PlatformFailure } from '../../platform/failure.ts';
import type { PlatformTransport } from '../../platform/transport.ts';
import type { DispatchHead, MessageRequest } from '../dispatch/head.ts';
import { probeTimeoutMs } from '../holds/breaker.ts';

const AcceptedSchema = v.object({
  messages: v.pipe(
    v.array(
      v.object({
        id: v.pipe(v.string(), v.minLength(1)),
        // The message was taken whatever stands here: no value may make the answer unreadable.
        message_status: v.fallback(v.optional(v.string()), 'unreadable'),
      }),
    ),
    v.minLength(1),
  ),
  contacts: v.fallback(v.optional(v.array(v.object({ wa_id: v.optional(v.pipe(v.string(), v.digits())) }))), undefined),
});

export interface Posting {
  /** A refused token is counted with this WABA. */
  readonly wabaId: string;
  readonly phoneNumberId: string;
  readonly path: DispatchHead['path'];
  readonly credential: string;
  readonly request: MessageRequest;
}

export interface Handover {
  readonly platformMessageId: string;
  /** The status is `accepted`, `held_for_quality_assessment`, `paused`, or an unknown one, cut to 64 characters. */
  readonly messageStatus?: string;
  /** The platform reports how much of the call limit for messages is used. */
  readonly usagePercent?: number;
  /** The platform spells the person's number so; a user id has none. */
  readonly waId?: string;
}

const longestStatus = 64;

/** Reads the credential before the turn, so that a cold cache does not delay the call. Never throws. */
export function readyToCall(
  credentialOf: (name: string) => Promise<unknown>,
): (message: Pick<Posting, 'credential'>) => Promise<void> {
  return async ({ credential }) => {
    await credentialOf(credential).catch(() => undefined);
  };
}

/**
 * Posts to `/messages` or `/marketing_messages` (D30). Throws `PlatformFailure`: `not_sent` also without a credential,
 * `ambiguous` also for a success without an id. Never retries: the platform has no idempotency key (D29).
 */
export function platformMessages(
  call: PlatformTransport,
  credentialOf: (name: string) => Promise<{ readonly accessToken: string }>,
): (message: Posting) => Promise<Handover> {
  return async (message) => {
    const { accessToken } = await credentialOf(message.credential).catch((cause: unknown) => {
      throw new PlatformFailure('not_sent', { cause });
    });
    const { body, usagePercent } = await call({
      method: 'POST',
      path: `${message.phoneNumberId}/${message.path}`,
      body: message.request,
      accessToken,
      wabaId: message.wabaId,
    });
    const accepted = v.safeParse(AcceptedSchema, body);
    const first = accepted.success ? accepted.output.messages[0] : undefined;
    if (first === undefined) throw new PlatformFailure('ambiguous', { httpStatus: 200 });
    const { id, message_status: status } = first;
    const waId = accepted.success ? accepted.output.contacts?.[0]?.wa_id : undefined;
    return {
      platformMessageId: id,
      messageStatus: status?.slice(0, longestStatus),
      usagePercent,
      waId,
    };
  };
}

/** An unknown value blocks nothing. */
const HealthSchema = v.object({
  health_status: v.fallback(v.optional(v.object({ can_send_message: v.optional(v.string()) })), undefined),
});

/**
 * Reads a number's health, free of charge. Throws `PlatformFailure` unless it succeeds, and what unreadable credentials
 * throw.
 */
export function platformProbe(
  call: PlatformTransport,
  credentialOf: (name: string) => Promise<{ readonly accessToken: string }>,
): (message: Pick<Posting, 'wabaId' | 'credential' | 'phoneNumberId'>) => Promise<{ readonly maySend: boolean }> {
  return async ({ wabaId, credential, phoneNumberId }) => {
    const { accessToken } = await credentialOf(credential);
    const query = { fields: 'id,health_status' };
    const asked = { path: phoneNumberId, query, accessToken, wabaId, timeoutMs: probeTimeoutMs };
    const { body } = await call({ method: 'GET', ...asked });
    const health = v.safeParse(HealthSchema, body);
    return { maySend: !health.success || health.output.health_status?.can_send_message !== 'BLOCKED' };
  };
}

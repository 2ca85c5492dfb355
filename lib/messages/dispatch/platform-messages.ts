import * as v from 'valibot';
import { present } from '../../keys/present.ts';
import { PlatformFailure } from '../../platform/failure.ts';
import type { PlatformTransport } from '../../platform/transport.ts';
import type { MessageRequest, SendPath } from '../job.ts';

const AcceptedSchema = v.looseObject({
  messages: v.pipe(
    v.array(
      v.looseObject({
        id: v.pipe(v.string(), v.minLength(1)),
        // Whatever stands here, the message was taken: it must not make the answer unreadable.
        message_status: v.fallback(v.optional(v.string()), 'unreadable'),
      }),
    ),
    v.minLength(1),
  ),
  contacts: v.fallback(
    v.optional(v.array(v.looseObject({ wa_id: v.optional(v.pipe(v.string(), v.digits())) }))),
    undefined,
  ),
});

/** One message as it is posted. */
export interface Posting {
  /** Whose credential it is: a token that is refused is counted with it. */
  readonly wabaId: string;
  readonly phoneNumberId: string;
  readonly path: SendPath;
  readonly credential: string;
  readonly request: MessageRequest;
}

/** The platform's answer to a message that it took. */
export interface Handover {
  readonly platformMessageId: string;
  /** `accepted`, `held_for_quality_assessment`, `paused`, or what the platform may yet say; at most 64 characters. */
  readonly messageStatus?: string;
  /** How much of the calls for messages the platform says is used up. */
  readonly usagePercent?: number;
  /** The number of the person as the platform spells it; of a message to a user id there is none. */
  readonly waId?: string;
}

const longestStatus = 64;

/**
 * Reads beforehand what a call takes beside its message: the credential, which a process that has just started does not
 * have, and which others read again every few minutes. Never throws: the call itself says what is wrong.
 */
export function readyToCall(
  credentialOf: (name: string) => Promise<unknown>,
): (message: Pick<Posting, 'credential'>) => Promise<void> {
  return async ({ credential }) => {
    await credentialOf(credential).catch(() => undefined);
  };
}

/**
 * Hands one composed message to the platform, on `/messages` or `/marketing_messages` (D30), and returns the platform's
 * message id and its word on the message. Throws `PlatformFailure`: `not_sent` also when no credential could be read; `ambiguous` also for a success
 * without a message id. Never retries: the platform has no idempotency key (D29).
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
      ...present({ messageStatus: status?.slice(0, longestStatus), usagePercent, waId }),
    };
  };
}

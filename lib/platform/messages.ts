import * as v from 'valibot';
import type { DispatchMessage } from '../messages/job.ts';
import { PlatformFailure } from './failure.ts';
import type { PlatformTransport } from './transport.ts';

const AcceptedSchema = v.looseObject({
  messages: v.pipe(v.array(v.looseObject({ id: v.pipe(v.string(), v.minLength(1)) })), v.minLength(1)),
});

/**
 * Hands one composed message to the platform, on `/messages` or `/marketing_messages` (D30), and returns the platform's
 * message id. Throws `PlatformFailure`: `not_sent` also when no credential could be read; `ambiguous` also for a success
 * without a message id. Never retries: the platform has no idempotency key (D29).
 */
export function platformMessages(
  call: PlatformTransport,
  credentialOf: (name: string) => Promise<{ readonly accessToken: string }>,
): (message: DispatchMessage) => Promise<string> {
  return async (message) => {
    const { accessToken } = await credentialOf(message.credential).catch((cause: unknown) => {
      throw new PlatformFailure('not_sent', { cause });
    });
    const { body } = await call({
      method: 'POST',
      path: `${message.phoneNumberId}/${message.path}`,
      body: message.request,
      accessToken,
    });
    const accepted = v.safeParse(AcceptedSchema, body);
    const first = accepted.success ? accepted.output.messages[0] : undefined;
    if (first === undefined) throw new PlatformFailure('ambiguous', { httpStatus: 200 });
    return first.id;
  };
}

import * as v from 'valibot';
import { messagingError } from '../errors.ts';
import { parsedParameters } from '../parameters.ts';
import type { PlatformRequest } from '../platform-request.ts';
import { json, type Reply } from '../reply.ts';

const ReadMarkSchema = v.strictObject({
  messaging_product: v.literal('whatsapp'),
  status: v.literal('read'),
  message_id: v.string(),
  typing_indicator: v.optional(v.strictObject({ type: v.literal('text') })),
});

/**
 * Answers `POST /{phone_number_id}/messages` with a `status`: a read mark, perhaps with a typing indicator (platform
 * reference, 4.1), without effect here. Returns undefined when the request sends a message.
 */
export function answerReadMark({ body }: PlatformRequest): Reply | undefined {
  if (typeof body !== 'object' || body === null || !('status' in body)) return undefined;
  const { message_id: id } = parsedParameters(ReadMarkSchema, body);
  if (!id.startsWith('wamid.')) throw messagingError(131009, 'message_id is not the id of a message');
  return json({ success: true });
}

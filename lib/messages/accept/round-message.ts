import * as v from 'valibot';
import { queueBody } from '../../aws/queue-body.ts';
import { queuedMessage } from '../../aws/queued-message.ts';

/** Queued dispatches carry this version (D47). */
export const roundMessageVersion = 1;

/** The dispatch is stored before this message is queued (whole-dispatch.ts, parameter-pages.ts). */
const RoundMessageSchema = v.object({
  version: v.literal(roundMessageVersion),
  dispatchId: v.string(),
  clientId: v.number(),
  acceptedAtMs: v.number(),
  correlationId: v.optional(v.string()),
  /** The fan-out's first round has none. */
  round: v.optional(v.number()),
  /** The previous round waited this long for a parked dispatch. */
  parkedSeconds: v.optional(v.number()),
});
export type RoundMessage = Omit<v.InferOutput<typeof RoundMessageSchema>, 'version'>;

export function encodeRound(message: RoundMessage): string {
  return queueBody({ version: roundMessageVersion, ...message });
}

/** Inverts `encodeRound`. Throws for any other text, and `LaterVersion`. */
export function decodeRound(body: string): RoundMessage {
  const { version: _version, ...message } = v.parse(RoundMessageSchema, queuedMessage(body, roundMessageVersion));
  return message;
}

import * as v from 'valibot';
import { queueBody } from '../../aws/queue-body.ts';
import { queuedMessage } from '../../aws/queued-message.ts';

/** Queued wakes carry this version (D47). */
export const senderWakeVersion = 1;

/** Lost, doubled or late, a wake costs seconds: the look at the backlog finds what waits. */
const SenderWakeSchema = v.pipe(
  v.object({
    version: v.literal(senderWakeVersion),
    phoneNumberId: v.string(),
    /** It is woken for this dispatch; without one, for whatever is due. */
    dispatchId: v.optional(v.string()),
    /** The part counts from 0, below `of`. */
    part: v.pipe(v.number(), v.integer(), v.minValue(0)),
    of: v.pipe(v.number(), v.integer(), v.minValue(1)),
    /** The queue has held it back for so long: only what comes on top was a wait for a worker. */
    delaySeconds: v.optional(v.number(), 0),
  }),
  v.check(({ part, of }) => part < of, 'no such part'),
);
export type SenderWakeMessage = Omit<v.InferOutput<typeof SenderWakeSchema>, 'version'>;

export function encodeSenderWake(wake: SenderWakeMessage): string {
  return queueBody({ version: senderWakeVersion, ...wake });
}

/** Inverts `encodeSenderWake`. Throws for any other text, and `LaterVersion`. */
export function decodeSenderWake(body: string): SenderWakeMessage {
  const { version: _version, ...wake } = v.parse(SenderWakeSchema, queuedMessage(body, senderWakeVersion));
  return wake;
}

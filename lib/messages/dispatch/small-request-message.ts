import * as v from 'valibot';
import { queueBody } from '../../aws/queue-body.ts';
import { queuedMessage } from '../../aws/queued-message.ts';
import { straightRecipients } from './call-facts.ts';
import { CompositionPlanSchema } from './composition-plan.ts';
import { DispatchHeadSchema, HeaderInputSchema, RecipientSchema } from './head.ts';

/** Queued small requests carry this version (D47). */
export const smallRequestVersion = 1;

/** The whole dispatch as acceptance has it: its worker calls it, or stores it as acceptance does (small-request.ts). */
const SmallRequestSchema = v.object({
  version: v.literal(smallRequestVersion),
  head: DispatchHeadSchema,
  plan: CompositionPlanSchema,
  recipients: v.pipe(v.array(RecipientSchema), v.minLength(1), v.maxLength(straightRecipients), v.readonly()),
  header: v.optional(HeaderInputSchema),
  /** The platform last reported this for the number. */
  limitPerSecond: v.number(),
});
export type SmallRequest = Omit<v.InferOutput<typeof SmallRequestSchema>, 'version'>;

export function encodeSmallRequest(request: SmallRequest): string {
  return queueBody({ version: smallRequestVersion, ...request });
}

/** Inverts `encodeSmallRequest`. Throws for any other text, and `LaterVersion`. */
export function decodeSmallRequest(body: string): SmallRequest {
  const { version: _version, ...request } = v.parse(SmallRequestSchema, queuedMessage(body, smallRequestVersion));
  return request;
}

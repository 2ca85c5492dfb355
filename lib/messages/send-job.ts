import * as v from 'valibot';
import { CompositionPlanSchema } from './compose.ts';
import { JobHeadSchema, RecipientSchema } from './job.ts';

const SendJobSchema = v.object({
  head: JobHeadSchema,
  plan: CompositionPlanSchema,
  firstIndex: v.number(),
  part: v.exactOptional(v.object({ number: v.number(), of: v.number() })),
  recipients: v.array(RecipientSchema),
});
export type SendJob = v.InferOutput<typeof SendJobSchema>;

export function decodeSendJobMessage(body: string): SendJob {
  return v.parse(SendJobSchema, JSON.parse(body));
}

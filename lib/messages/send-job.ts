import * as v from 'valibot';
import { type CompositionPlan, CompositionPlanSchema } from './compose.ts';
import { type JobHead, JobHeadSchema, type Recipient, RecipientSchema } from './job.ts';

const SendJobSchema = v.object({
  head: JobHeadSchema,
  plan: CompositionPlanSchema,
  recipients: v.array(RecipientSchema),
  firstIndex: v.number(),
  part: v.optional(v.object({ number: v.number(), of: v.number() })),
});

export function decodeSendJobMessage(body: string): {
  head: JobHead;
  plan: CompositionPlan;
  recipients: Recipient[];
  firstIndex: number;
  part?: { number: number; of: number };
} {
  const { part, ...job } = v.parse(SendJobSchema, JSON.parse(body));
  return part === undefined ? job : { ...job, part };
}

import * as v from 'valibot';
import type { DispatchMessage, Recipient } from './job.ts';

export const CompositionPlanSchema = v.looseObject({});
export type CompositionPlan = v.InferOutput<typeof CompositionPlanSchema>;

export function composeMessage(
  plan: CompositionPlan,
  recipient: Recipient,
  dispatchId: string,
): DispatchMessage['request'] {
  return { ...plan, to: recipient.to, biz_opaque_callback_data: dispatchId };
}

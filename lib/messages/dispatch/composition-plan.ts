import * as v from 'valibot';
import { HeaderInputSchema } from './head.ts';

const DynamicButtonSchema = v.object({ index: v.number(), kind: v.picklist(['url', 'copy_code']) });

/** A message must name these buttons of a template or card. */
const plannedButtonEntries = {
  buttons: v.array(DynamicButtonSchema),
  redirects: v.optional(v.array(v.object({ index: v.number(), code: v.string() }))),
  quickReplies: v.optional(v.array(v.number())),
};

/** Messages of a dispatch share it: it travels once with the dispatch. */
export const CompositionPlanSchema = v.object({
  templateName: v.string(),
  /** The code has the template's spelling, whatever the request wrote (D26). */
  languageCode: v.string(),
  /** The number's channel may name the Messaging Account of the messages (platform reference, 8). */
  messagingAccountId: v.optional(v.string()),
  header: v.optional(HeaderInputSchema),
  /** A single-product template has it. */
  catalogId: v.optional(v.string()),
  ...plannedButtonEntries,
  flows: v.optional(v.array(v.number())),
  codeButton: v.optional(v.number()),
  productList: v.optional(v.number()),
  cards: v.array(
    v.object({
      media: v.object({ kind: v.picklist(['image', 'video']), link: v.string() }),
      ...plannedButtonEntries,
    }),
  ),
});
export type CompositionPlan = v.InferOutput<typeof CompositionPlanSchema>;

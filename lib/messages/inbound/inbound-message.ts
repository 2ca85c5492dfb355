import * as v from 'valibot';
import { isUserId } from '../../platform/user-id.ts';

/** Queued updates carry this version (D47). */
export const inboundMessageVersion = 1;

/** A person has all ids that the platform gave, without the user name. */
const PersonSchema = v.pipe(
  v.object({
    waId: v.optional(v.string()),
    userId: v.optional(v.string()),
    parentUserId: v.optional(v.string()),
  }),
  v.check(({ waId, userId }) => waId !== undefined || userId !== undefined, 'no person'),
);

const sharedEntries = {
  person: PersonSchema,
  /** The time is by the platform's clock, if readable. */
  atMs: v.optional(v.number()),
  receivedAtMs: v.number(),
  /** The id is that of what the person wrote or tapped. */
  messageId: v.optional(v.string()),
  standby: v.optional(v.literal(true)),
};

/**
 * The webhook brings `preference`, `reply` and `id_changed`; results of our messages bring `refused` (131050, no
 * marketing) and `respelled` (another spelling of the number).
 */
const InboundUpdateSchema = v.variant('kind', [
  v.object({ kind: v.literal('preference'), ...sharedEntries, says: v.picklist(['stop', 'resume', 'signup']) }),
  v.object({
    kind: v.literal('reply'),
    ...sharedEntries,
    reply: v.object({
      by: v.picklist(['text', 'quick_reply', 'button', 'list', 'flow']),
      text: v.optional(v.string()),
      payload: v.optional(v.string()),
      toMessageId: v.optional(v.string()),
    }),
  }),
  v.object({
    kind: v.literal('id_changed'),
    ...sharedEntries,
    old: v.object({
      waId: v.optional(v.string()),
      userId: v.optional(v.string()),
      parentUserId: v.optional(v.string()),
    }),
  }),
  v.object({ kind: v.literal('refused'), clientId: v.number(), recipients: v.array(v.string()), atMs: v.number() }),
  v.object({ kind: v.literal('respelled'), recipients: v.array(v.string()), atMs: v.number() }),
]);
export type InboundUpdate = v.InferOutput<typeof InboundUpdateSchema>;

/** A message of the inbound queue says what people said to one number, or what sending from it revealed about them. */
export const InboundMessageSchema = v.object({
  version: v.literal(inboundMessageVersion),
  wabaId: v.string(),
  phoneNumberId: v.string(),
  words: v.array(InboundUpdateSchema),
});
export type InboundMessage = v.InferOutput<typeof InboundMessageSchema>;

export interface InboundSink {
  /** Resolves when all is queued; rejects when any may not be. Repetition is harmless. */
  send(messages: readonly Omit<InboundMessage, 'version'>[]): Promise<void>;
}

/** Returns the distinct ids among these that a send could address. */
export function recipientsAmong(ids: readonly (string | undefined)[]): string[] {
  return [...new Set(ids.filter((id): id is string => id !== undefined && (isUserId(id) || /^\d{5,20}$/.test(id))))];
}

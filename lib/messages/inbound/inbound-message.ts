import * as v from 'valibot';
import { isUserId } from '../../platform/user-id.ts';

/** The format in which what people say is queued now (D47). */
export const inboundMessageVersion = 1;

/** A person by all ids that the platform has named, without the user name. */
const PersonSchema = v.pipe(
  v.object({
    waId: v.exactOptional(v.string()),
    userId: v.exactOptional(v.string()),
    parentUserId: v.exactOptional(v.string()),
  }),
  v.check(({ waId, userId }) => waId !== undefined || userId !== undefined, 'no person'),
);

const said = {
  person: PersonSchema,
  /** By the platform's clock, where that could be read. */
  atMs: v.exactOptional(v.number()),
  receivedAtMs: v.number(),
  /** The platform's id of what the person wrote or tapped. */
  messageId: v.exactOptional(v.string()),
  standby: v.exactOptional(v.literal(true)),
};

/**
 * What becomes known of a person. The platform's webhook tells `preference`, `reply` and `id_changed`. What became of one of our
 * messages tells the others: the platform refuses marketing to the person (`refused`, 131050), or writes a number in another way than
 * the client did (`respelled`).
 */
const InboundWordSchema = v.variant('kind', [
  v.object({ kind: v.literal('preference'), ...said, says: v.picklist(['stop', 'resume', 'signup']) }),
  v.object({
    kind: v.literal('reply'),
    ...said,
    reply: v.object({
      by: v.picklist(['text', 'quick_reply', 'button', 'list', 'flow']),
      text: v.exactOptional(v.string()),
      payload: v.exactOptional(v.string()),
      toMessageId: v.exactOptional(v.string()),
    }),
  }),
  v.object({
    kind: v.literal('id_changed'),
    ...said,
    old: v.object({ waId: v.exactOptional(v.string()), userId: v.exactOptional(v.string()) }),
  }),
  v.object({ kind: v.literal('refused'), clientId: v.number(), recipients: v.array(v.string()), atMs: v.number() }),
  v.object({ kind: v.literal('respelled'), recipients: v.array(v.string()), atMs: v.number() }),
]);
export type InboundWord = v.InferOutput<typeof InboundWordSchema>;

/** A message of the inbound queue: what people have said to one number, or what was found of them in sending from it. */
export const InboundMessageSchema = v.object({
  version: v.literal(inboundMessageVersion),
  wabaId: v.string(),
  phoneNumberId: v.string(),
  words: v.array(InboundWordSchema),
});
export type InboundMessage = v.InferOutput<typeof InboundMessageSchema>;

/** Where what people say waits for its worker. */
export interface InboundSink {
  /** Resolves when all of it is queued; throws when any may not be. Repeating is harmless. */
  send(messages: readonly Omit<InboundMessage, 'version'>[]): Promise<void>;
}

/** The ids among these by which a send could name a person, each once. */
export function recipientsAmong(ids: readonly (string | undefined)[]): string[] {
  return [...new Set(ids.filter((id): id is string => id !== undefined && (isUserId(id) || /^\d{5,20}$/.test(id))))];
}

import * as v from 'valibot';
import { type AccountUpdate, AccountUpdateSchema, accountUpdatesOf } from '../platform/webhook/account-update.ts';
import { idOf, type PlatformUpdate } from '../platform/webhook/envelope.ts';
import { categoryFields, numberFields, templateFields } from '../platform/webhook/fields.ts';
import { type TemplateWord, TemplateWordSchema, templateWordsOf } from './template-words.ts';

/** Queued hints carry this version (D47). */
export const hintMessageVersion = 1;

/**
 * A message of the hint queue says what changed on a WABA and must be read again. It also carries account updates,
 * which no reading shows (D42, D47).
 */
export const HintMessageSchema = v.object({
  version: v.literal(hintMessageVersion),
  wabaId: v.string(),
  templateIds: v.array(v.string()),
  numbers: v.boolean(),
  /** All templates are read when the changed ones are unknown. */
  everything: v.optional(v.boolean()),
  /** Account updates are in order of time. */
  account: v.optional(v.array(AccountUpdateSchema)),
  /** What makes templates stricter counts before it is read (D42). The words are in order of time. */
  words: v.optional(v.array(TemplateWordSchema)),
  /** Only our own wake message has the time that it was meant for. */
  wakeAtMs: v.optional(v.number()),
});
export type HintMessage = v.InferOutput<typeof HintMessageSchema>;

export interface HintSink {
  /** Resolves when all are queued; throws when any may not be. */
  send(hints: readonly HintMessage[]): Promise<void>;
}

const aboutTemplate: ReadonlySet<string> = new Set([...templateFields, ...categoryFields]);
const aboutNumbers: ReadonlySet<string> = new Set(numberFields);

/** Tells whether an update of that field is worth a hint. */
export function isHint(field: string): boolean {
  return aboutTemplate.has(field) || aboutNumbers.has(field);
}

/** Above this number the whole list is read anyway, and the message stays small. */
const maxTemplateIds = 100;
/** The platform tells a handful at once; a queue message holds this many of the longest. */
const mostWords = 200;

/**
 * Returns one hint for each WABA with changed templates, numbers or account. An id that a number cannot hold exactly
 * (platform reference, 2.3) makes it a hint about everything. `arrivedAtMs` replaces a missing time.
 */
export function hintsOf(updates: readonly PlatformUpdate[], arrivedAtMs: number): HintMessage[] {
  const byWaba = Map.groupBy(updates, ({ wabaId }) => wabaId);
  return [...byWaba].flatMap(([wabaId, ofWaba]) => hintOf(wabaId, ofWaba, arrivedAtMs) ?? []);
}

function hintOf(wabaId: string, updates: readonly PlatformUpdate[], arrivedAtMs: number): HintMessage | undefined {
  const ids = updates
    .filter(({ field }) => aboutTemplate.has(field))
    .map(({ value }) => idOf(value['message_template_id']));
  const numbers = updates.some(({ field }) => aboutNumbers.has(field));
  if (ids.length === 0 && !numbers) return undefined;
  const templateIds = [...new Set(ids.filter((id) => id !== undefined))];
  const everything = ids.includes(undefined) || templateIds.length > maxTemplateIds;
  const account: AccountUpdate[] = accountUpdatesOf(updates, arrivedAtMs);
  const words: TemplateWord[] = templateWordsOf(updates, arrivedAtMs).slice(-mostWords);
  return {
    ...{ version: 1, wabaId, numbers },
    ...(everything ? { templateIds: [], everything } : { templateIds }),
    ...(account.length === 0 ? {} : { account }),
    ...(words.length === 0 ? {} : { words }),
  };
}

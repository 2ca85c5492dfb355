import * as v from 'valibot';
import { type AccountWord, AccountWordSchema, accountWordsOf } from '../platform/webhook/account-update.ts';
import { idOf, type PlatformUpdate } from '../platform/webhook/envelope.ts';
import { numberFields, templateFields } from '../platform/webhook/fields.ts';
import type { PersonWord } from '../platform/webhook/person-words.ts';

/** The format in which hints are queued now. */
export const hintMessageVersion = 1;

/**
 * A message of the hint queue (D42, D47): what of a WABA has to be read again, because the platform said that it changed. It
 * also carries what no reading tells: the platform's words on the account, and on ids of persons.
 */
export const HintMessageSchema = v.object({
  version: v.literal(hintMessageVersion),
  wabaId: v.string(),
  templateIds: v.array(v.string()),
  /** The WABA's numbers: their quality, limit and throughput. */
  numbers: v.boolean(),
  /** All of its templates: which of them changed could not be told. */
  everything: v.exactOptional(v.boolean()),
  /** By their time. */
  account: v.exactOptional(v.array(AccountWordSchema)),
  /** User ids that others have taken the place of. */
  replacedIds: v.exactOptional(v.array(v.object({ userId: v.string(), by: v.string(), atMs: v.number() }))),
  /** Set in a message of our own, that something gathered is to be read: the time for which it was meant. */
  wakeAtMs: v.exactOptional(v.number()),
});
export type HintMessage = v.InferOutput<typeof HintMessageSchema>;
export type ReplacedId = NonNullable<HintMessage['replacedIds']>[number];

/** Where hints wait for their worker. */
export interface HintSink {
  /** Resolves when all of them are queued; throws when any may not be. */
  send(hints: readonly HintMessage[]): Promise<void>;
}

/** The same for a message that is to arrive after a time. */
export interface DelayedHints {
  sendLater(hint: HintMessage, delaySeconds: number): Promise<void>;
}

const aboutTemplate: ReadonlySet<string> = new Set(templateFields);
const aboutNumbers: ReadonlySet<string> = new Set(numberFields);

/** Whether an update of that field is worth a hint. */
export function isHint(field: string): boolean {
  return aboutTemplate.has(field) || aboutNumbers.has(field);
}

/** More templates than this are read by a listing anyway, and the message stays small. */
const maxTemplateIds = 100;

/**
 * One hint for each WABA that these updates tell something of; none for updates about anything else. Ids come as numbers
 * (platform reference, 2.3): one that a number cannot hold exactly makes the hint one about everything. `arrivedAtMs` stands
 * for the time of a word on an account that names none.
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
  const account: AccountWord[] = accountWordsOf(updates, arrivedAtMs);
  return {
    ...{ version: 1, wabaId, numbers },
    ...(everything ? { templateIds: [], everything } : { templateIds }),
    ...(account.length === 0 ? {} : { account }),
  };
}

/** Of the longest ids a third of what a queue message holds. */
const maxReplacedIds = 1_000;

/**
 * Hints at the user ids that are replaced by these words, for each WABA, of each id the last. A change whose old id the platform
 * does not tell is none. One without a time, or of one to come, is of its arrival.
 */
export function replacedIdHints(words: readonly PersonWord[], arrivedAtMs: number): HintMessage[] {
  const changes = words.flatMap((word) => (word.kind === 'user_id_changed' ? [word] : []));
  return [...Map.groupBy(changes, ({ wabaId }) => wabaId)].flatMap(([wabaId, ofWaba]) => {
    const replaced = new Map<string, ReplacedId>();
    for (const { old, person, atMs = arrivedAtMs } of ofWaba) {
      if (old.userId === undefined || person.userId === undefined) continue;
      const next = { userId: old.userId, by: person.userId, atMs: Math.min(atMs, arrivedAtMs) };
      if (next.atMs > (replaced.get(next.userId)?.atMs ?? Number.NEGATIVE_INFINITY)) replaced.set(next.userId, next);
    }
    return portionsOf([...replaced.values()]).map((replacedIds) => ({
      ...{ version: hintMessageVersion, wabaId, templateIds: [], numbers: false, replacedIds },
    }));
  });
}

function portionsOf(replaced: readonly ReplacedId[]): ReplacedId[][] {
  return Array.from({ length: Math.ceil(replaced.length / maxReplacedIds) }, (_, portion) =>
    replaced.slice(portion * maxReplacedIds, (portion + 1) * maxReplacedIds),
  );
}

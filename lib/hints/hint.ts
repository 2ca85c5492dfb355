import * as v from 'valibot';
import { type AccountWord, AccountWordSchema, accountWordsOf } from '../platform/webhook/account-update.ts';
import { idOf, type PlatformUpdate } from '../platform/webhook/envelope.ts';
import { numberFields, templateFields } from '../platform/webhook/fields.ts';

/** The format in which hints are queued now. */
export const hintMessageVersion = 1;

/**
 * A message of the hint queue (D42, D47): what of a WABA has to be read again, because the platform said that it changed. It
 * also carries what no reading tells: the platform's words on the account.
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
  /** Set in a message of our own, that something gathered is to be read: the time for which it was meant. */
  wakeAtMs: v.exactOptional(v.number()),
});
export type HintMessage = v.InferOutput<typeof HintMessageSchema>;

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

import * as v from 'valibot';
import { type PlatformUpdate, timeOf } from './envelope.ts';

/**
 * A word of the platform on the sending of a whole WABA (platform reference, 10.4): it takes no template at all until then, or
 * fewer messages of the category UTILITY, or these as before; it has disabled the account, or enabled it again.
 */
export const AccountWordSchema = v.object({
  says: v.picklist(['no_templates', 'utility_limited', 'utility_released', 'disabled', 'reinstated']),
  /** When the platform said it, by its clock, in whole seconds; missing where that cannot be read. */
  atMs: v.exactOptional(v.number()),
  /** The end that it has told. */
  untilMs: v.exactOptional(v.number()),
});
export type AccountWord = v.InferOutput<typeof AccountWordSchema>;
type Says = AccountWord['says'];

const saidByRestriction: ReadonlyMap<string, Says> = new Map([
  ['RESTRICTED_BIZ_INITIATED_MESSAGING', 'no_templates'],
  ['RATE_LIMITED_UTILITY_TEMPLATE_MESSAGING', 'utility_limited'],
]);
/** A disabling that is only planned (SCHEDULE_FOR_DISABLE) stops nothing yet. */
const saidByBan: ReadonlyMap<string, Says> = new Map([
  ['DISABLE', 'disabled'],
  ['REINSTATE', 'reinstated'],
]);

/** Seconds as a number or as text; undefined for anything else. */
const TimeSchema = v.pipe(v.unknown(), v.transform(timeOf));
const RestrictionSchema = v.object({ restriction_type: v.string(), expiration: v.optional(TimeSchema) });

/** A part that cannot be read takes nothing from the others. */
const AccountUpdateSchema = v.object({
  event: v.fallback(v.optional(v.string()), undefined),
  violation_info: v.fallback(v.optional(v.object({ violation_type: v.string() })), undefined),
  ban_info: v.fallback(v.optional(v.object({ waba_ban_state: v.string() })), undefined),
  restriction_info: v.fallback(v.array(v.fallback(v.nullable(RestrictionSchema), null)), []),
  phone_number: v.optional(v.unknown()),
});

/**
 * What the platform says of the sending of one WABA, of each kind what it said last. Never throws: what is not understood says
 * nothing, and neither does what concerns one number, or a review (`account_review_update`): a send tells.
 */
export function accountWordsOf(updates: readonly PlatformUpdate[]): AccountWord[] {
  const words = updates.flatMap(({ field, value, atMs }) =>
    field === 'account_update' ? wordsIn(value).map((word) => (atMs === undefined ? word : { ...word, atMs })) : [],
  );
  const last = new Map<Says, AccountWord>();
  for (const word of words) {
    const known = last.get(word.says);
    if (known === undefined || timeOfWord(known) <= timeOfWord(word)) last.set(word.says, word);
  }
  return [...last.values()];
}

function wordsIn(value: unknown): AccountWord[] {
  const update = v.safeParse(AccountUpdateSchema, value);
  if (!update.success) return [];
  const { event, violation_info, ban_info, restriction_info, phone_number } = update.output;
  if ((phone_number ?? undefined) !== undefined) return [];
  if (violation_info?.violation_type === 'UTILITY_TEMPLATE_ABUSE_RATE_LIMIT_RECOVERY') {
    return [{ says: 'utility_released' }];
  }
  if (event === 'DISABLED_UPDATE') {
    const says = saidByBan.get(ban_info?.waba_ban_state ?? '');
    return says === undefined ? [] : [{ says }];
  }
  if (event !== 'ACCOUNT_RESTRICTION') return [];
  return restriction_info.flatMap((restriction) => {
    const says = saidByRestriction.get(restriction?.restriction_type ?? '');
    const untilMs = restriction?.expiration;
    return says === undefined ? [] : [{ says, ...(untilMs === undefined ? {} : { untilMs }) }];
  });
}

/** One without a time is as young as its arrival. */
function timeOfWord({ atMs = Number.POSITIVE_INFINITY }: AccountWord): number {
  return atMs;
}

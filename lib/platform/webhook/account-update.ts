import * as v from 'valibot';
import { present } from '../../keys/present.ts';
import { type PlatformUpdate, timeOf } from './envelope.ts';

/**
 * What a word on an account is about. A word that restores takes back those that restrict the same matter and were said
 * before it; of `other` nothing is ever said to be restored. `access`: whether this service still reaches the account.
 */
const matters = ['sending', 'utility', 'utility_templates', 'access', 'other'] as const;
export type AccountMatter = (typeof matters)[number];

/** How wide a matter is: all of a WABA, or what is UTILITY of it. */
export const matterScopes: Readonly<Record<AccountMatter, 'waba' | 'utility'>> = {
  sending: 'waba',
  utility: 'utility',
  utility_templates: 'utility',
  access: 'waba',
  other: 'waba',
};

/** A word of the platform on a whole WABA (platform reference, 10.4): what it restricts from now on, or no longer. */
export const AccountWordSchema = v.object({
  kind: v.picklist(['restricted', 'restored']),
  matter: v.picklist(matters),
  /** The platform's own: a type of restriction or violation, a state of a ban, or an event. */
  word: v.string(),
  /** What it answers to the messages that are restricted. Missing where templates may be sent, or no source says it. */
  code: v.exactOptional(v.string()),
  /** When the platform said it, by its clock, in whole seconds; where that cannot be read or is still to come, when it arrived. */
  atMs: v.number(),
  /** The platform named no time, or one that is still to come. */
  untimed: v.exactOptional(v.literal(true)),
  /** The end that it has told. */
  untilMs: v.exactOptional(v.number()),
  /** Its text for people: what to do. */
  remediation: v.exactOptional(v.string()),
});
export type AccountWord = v.InferOutput<typeof AccountWordSchema>;
type Meaning = Pick<AccountWord, 'kind' | 'matter' | 'code'>;

/** Of the types that are not here a text for people says more; templates may be sent. */
const restrictions: ReadonlyMap<string, Omit<Meaning, 'kind'>> = new Map([
  ['RESTRICTED_BIZ_INITIATED_MESSAGING', { matter: 'sending', code: '368' }],
  ['RATE_LIMITED_UTILITY_TEMPLATE_MESSAGING', { matter: 'utility', code: '131064' }],
  ['RESTRICTED_UTILITY_TEMPLATES', { matter: 'utility_templates' }],
  ['RESTRICTED_DIRECT_SEND_UTILITY_TEMPLATES', { matter: 'utility_templates' }],
]);

const recoveries: ReadonlyMap<string, Meaning> = new Map([
  ['UTILITY_TEMPLATE_ABUSE_RATE_LIMIT_RECOVERY', { kind: 'restored', matter: 'utility', code: '131064' }],
  ['UTILITY_TEMPLATE_ABUSE_UNBAN', { kind: 'restored', matter: 'utility_templates' }],
]);

/** A disabling that is only planned stops nothing yet, so it has no code. */
const bans: ReadonlyMap<string, Meaning> = new Map([
  ['DISABLE', { kind: 'restricted', matter: 'sending', code: '131031' }],
  ['SCHEDULE_FOR_DISABLE', { kind: 'restricted', matter: 'sending' }],
  ['REINSTATE', { kind: 'restored', matter: 'sending', code: '131031' }],
]);

/** Whether sends are refused then, and how, no source says: each answer is judged by its own row. */
const losses: ReadonlyMap<string, Meaning> = new Map([
  ['ACCOUNT_DELETED', { kind: 'restricted', matter: 'access' }],
  ['ACCOUNT_OFFBOARDED', { kind: 'restricted', matter: 'access' }],
  ['PARTNER_REMOVED', { kind: 'restricted', matter: 'access' }],
  ['PARTNER_APP_UNINSTALLED', { kind: 'restricted', matter: 'access' }],
  ['ACCOUNT_RECONNECTED', { kind: 'restored', matter: 'access' }],
]);

/** A word that may be new, as the platform spells its words. */
const WordSchema = v.pipe(v.string(), v.regex(/^[A-Z][A-Z0-9_]{1,63}$/));
const mostRemediation = 1_000;
/** What the platform's clock and ours may be apart: a later time is none, else its word would be news, and the latest, for years. */
const clocksApartMs = 60_000;
/** More than there are types of restrictions and events: nothing that the platform says together is cut off. */
const mostWords = 50;

/** A body of 3 MB has a million of them, and seconds of work. */
const mostRestrictions = 1_000;

/** Seconds as a number or as text; undefined for anything else. */
const TimeSchema = v.pipe(v.unknown(), v.transform(timeOf));
const RestrictionSchema = v.object({
  restriction_type: WordSchema,
  expiration: v.optional(TimeSchema),
  remediation: v.fallback(v.optional(v.pipe(v.string(), v.nonEmpty())), undefined),
});

/** A part that cannot be read takes nothing from the others. */
const AccountUpdateSchema = v.object({
  event: v.fallback(v.optional(v.string()), undefined),
  violation_info: v.fallback(v.optional(v.object({ violation_type: v.string() })), undefined),
  ban_info: v.fallback(v.optional(v.object({ waba_ban_state: v.string() })), undefined),
  restriction_info: v.fallback(
    v.pipe(
      v.array(v.unknown()),
      v.transform((all) => all.slice(0, mostRestrictions)),
      v.array(v.fallback(v.nullable(RestrictionSchema), null)),
    ),
    [],
  ),
  waba_info: v.fallback(v.optional(v.object({ waba_id: v.string() })), undefined),
  phone_number: v.optional(v.unknown()),
});

/**
 * What the platform says of one WABA as a whole, each word once, by its time. Never throws: what is not understood says
 * nothing, and neither does what concerns one number or another WABA, a warning, or a review (`account_review_update`).
 */
export function accountWordsOf(updates: readonly PlatformUpdate[], arrivedAtMs: number): AccountWord[] {
  const words = new Map<string, AccountWord>();
  for (const update of updates) {
    for (const word of wordsIn(update)) {
      const { atMs } = update;
      const isKnown = atMs !== undefined && atMs <= arrivedAtMs + clocksApartMs;
      const timed = isKnown ? { atMs } : { atMs: arrivedAtMs, untimed: true as const };
      words.set(`${word.word} ${timed.atMs}`, { ...word, ...timed });
    }
  }
  return [...words.values()].toSorted(bySaid).slice(-mostWords);
}

/**
 * By their time. Of one second, a word that restores comes last: what is held in error waits, what leaves in error is refused.
 */
export function bySaid(one: AccountWord, other: AccountWord): number {
  return one.atMs - other.atMs || Number(one.kind === 'restored') - Number(other.kind === 'restored');
}

function wordsIn({ wabaId, field, value }: PlatformUpdate): Omit<AccountWord, 'atMs'>[] {
  const update = field === 'account_update' ? v.safeParse(AccountUpdateSchema, value) : undefined;
  if (!update?.success) return [];
  const { event = '', violation_info, ban_info, restriction_info, waba_info, phone_number } = update.output;
  if ((phone_number ?? undefined) !== undefined || (waba_info?.waba_id ?? wabaId) !== wabaId) return [];
  const state = ban_info?.waba_ban_state ?? '';
  const violation = violation_info?.violation_type ?? '';
  const told =
    event === 'DISABLED_UPDATE' ? meant(bans, state) : (meant(recoveries, violation) ?? meant(losses, event));
  if (told !== undefined) return [told];
  if (event !== 'ACCOUNT_RESTRICTION') return [];
  return restriction_info.flatMap((restriction) => {
    if (restriction === null) return [];
    const { restriction_type: word, expiration: untilMs, remediation } = restriction;
    const meaning = restrictions.get(word) ?? { matter: 'other' };
    const text = remediation?.slice(0, mostRemediation).toWellFormed();
    return [{ kind: 'restricted', ...meaning, word, ...present({ untilMs, remediation: text }) }];
  });
}

function meant(meanings: ReadonlyMap<string, Meaning>, word: string): Omit<AccountWord, 'atMs'> | undefined {
  const meaning = meanings.get(word);
  return meaning === undefined ? undefined : { ...meaning, word };
}

import * as v from 'valibot';
import { type PlatformUpdate, timeOf } from './envelope.ts';

/**
 * An account update of the platform has a matter. A restoring update lifts earlier restrictions of the same matter;
 * `other` is never restored. `access` says whether this service reaches the account.
 */
const matters = ['sending', 'utility', 'utility_templates', 'access', 'other'] as const;
export type AccountMatter = (typeof matters)[number];

/** A matter's scope is the whole WABA, or its UTILITY part. */
export const matterScopes: Readonly<Record<AccountMatter, 'waba' | 'utility'>> = {
  sending: 'waba',
  utility: 'utility',
  utility_templates: 'utility',
  access: 'waba',
  other: 'waba',
};

/** An update of a whole WABA is a restriction, or its end (platform reference, 10.4). */
export const AccountUpdateSchema = v.object({
  kind: v.picklist(['restricted', 'restored']),
  matter: v.picklist(matters),
  /** The word names a type of restriction or violation, a ban state, or an event. */
  word: v.string(),
  /** Restricted messages get this error code. It is absent when templates may be sent, or no source names it. */
  code: v.optional(v.string()),
  /** The time is the platform's in whole seconds, or that of arrival if that is unreadable or in the future. */
  atMs: v.number(),
  /** The platform named no time, or a future one. */
  untimed: v.optional(v.literal(true)),
  untilMs: v.optional(v.number()),
  remediation: v.optional(v.string()),
});
export type AccountUpdate = v.InferOutput<typeof AccountUpdateSchema>;
type Meaning = Pick<AccountUpdate, 'kind' | 'matter' | 'code'>;

/** Other types only have a text for people; templates may be sent. */
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

/** A planned disabling stops nothing yet, so it has no code. */
const bans: ReadonlyMap<string, Meaning> = new Map([
  ['DISABLE', { kind: 'restricted', matter: 'sending', code: '131031' }],
  ['SCHEDULE_FOR_DISABLE', { kind: 'restricted', matter: 'sending' }],
  ['REINSTATE', { kind: 'restored', matter: 'sending', code: '131031' }],
]);

const losses: ReadonlyMap<string, Meaning> = new Map([
  ['ACCOUNT_DELETED', { kind: 'restricted', matter: 'access' }],
  ['ACCOUNT_OFFBOARDED', { kind: 'restricted', matter: 'access' }],
  ['PARTNER_REMOVED', { kind: 'restricted', matter: 'access' }],
  ['PARTNER_APP_UNINSTALLED', { kind: 'restricted', matter: 'access' }],
  ['ACCOUNT_RECONNECTED', { kind: 'restored', matter: 'access' }],
]);

/** A word has the platform's spelling, perhaps a new one. */
const WordSchema = v.pipe(v.string(), v.regex(/^[A-Z][A-Z0-9_]{1,63}$/));
const mostRemediation = 1_000;
/** Clock skew is allowed. A later time does not count, or its update would stay the latest for years. */
const clocksApartMs = 60_000;
/** All types of restrictions and events together are fewer, so nothing that the platform says together is cut. */
const mostWords = 50;

/** The number is bounded: a body of 3 MB could have a million, and take seconds. */
const mostRestrictions = 1_000;

/** Seconds are a number or text; anything else is undefined. */
const TimeSchema = v.pipe(v.unknown(), v.transform(timeOf));
const RestrictionSchema = v.object({
  restriction_type: WordSchema,
  expiration: v.optional(TimeSchema),
  remediation: v.fallback(v.optional(v.pipe(v.string(), v.nonEmpty())), undefined),
});

/** An unreadable part does not spoil the others. */
const AccountUpdateValueSchema = v.object({
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
 * Returns the platform's updates of one whole WABA, once each, by time. Never throws. It ignores other WABAs, single
 * numbers, warnings, reviews (`account_review_update`) and unknown content.
 */
export function accountUpdatesOf(updates: readonly PlatformUpdate[], arrivedAtMs: number): AccountUpdate[] {
  const words = new Map<string, AccountUpdate>();
  for (const update of updates) {
    for (const word of wordsIn(update)) {
      const { atMs } = update;
      const isKnown = atMs !== undefined && atMs <= arrivedAtMs + clocksApartMs;
      const timed = isKnown ? { atMs } : { atMs: arrivedAtMs, untimed: true as const };
      words.set(`${word.word} ${timed.atMs}`, { ...word, ...timed });
    }
  }
  return [...words.values()].toSorted(byTime).slice(-mostWords);
}

/**
 * Orders updates by time. Within a second a restoring update comes last: a wrong hold only waits, a wrong send is
 * refused.
 */
export function byTime(one: AccountUpdate, other: AccountUpdate): number {
  return one.atMs - other.atMs || Number(one.kind === 'restored') - Number(other.kind === 'restored');
}

function wordsIn({ wabaId, field, value }: PlatformUpdate): Omit<AccountUpdate, 'atMs'>[] {
  const update = field === 'account_update' ? v.safeParse(AccountUpdateValueSchema, value) : undefined;
  if (!update?.success) return [];
  const { event = '', violation_info, ban_info, restriction_info, waba_info, phone_number } = update.output;
  if ((phone_number ?? undefined) !== undefined || (waba_info?.waba_id ?? wabaId) !== wabaId) return [];
  const state = ban_info?.waba_ban_state ?? '';
  const violation = violation_info?.violation_type ?? '';
  const meaning =
    event === 'DISABLED_UPDATE' ? meant(bans, state) : (meant(recoveries, violation) ?? meant(losses, event));
  if (meaning !== undefined) return [meaning];
  if (event !== 'ACCOUNT_RESTRICTION') return [];
  return restriction_info.flatMap((restriction) => {
    if (restriction === null) return [];
    const { restriction_type: word, expiration: untilMs, remediation } = restriction;
    const meaning = restrictions.get(word) ?? { matter: 'other' };
    const text = remediation?.slice(0, mostRemediation).toWellFormed();
    return [{ kind: 'restricted', ...meaning, word, untilMs, remediation: text }];
  });
}

function meant(meanings: ReadonlyMap<string, Meaning>, word: string): Omit<AccountUpdate, 'atMs'> | undefined {
  const meaning = meanings.get(word);
  return meaning === undefined ? undefined : { ...meaning, word };
}

import type { FaultAction } from './faults.ts';
import type { CourseChanges } from './webhooks/receipt-rules.ts';

/** A magic recipient's messages meet a special fate once they pass every check. */
export interface MagicRecipient {
  readonly to: string;
  readonly what: string;
  readonly action?: FaultAction;
  readonly course?: CourseChanges;
  /** The person stops marketing after the first has arrived. */
  readonly stops?: true;
  /** Only so many meet it; later messages are accepted. */
  readonly firstOnly?: number;
  /** Other messages are accepted. */
  readonly only?: Partial<MagicFacts>;
}

export interface MagicFacts {
  readonly category: string | undefined;
  readonly hasIdentityHash: boolean;
}

const assessmentMs = 600_000;

/** The console shows the table. Most numbers end in the code that they bring. */
export const magicRecipients: readonly MagicRecipient[] = [
  { to: '15550131026', what: 'accepted, then failed by webhook, 131026: undeliverable', course: { fail: 131026 } },
  { to: '15550231026', what: 'refused at once, 131026: undeliverable', action: { code: 131026 } },
  {
    to: '15550131042',
    what: 'accepted, then failed by webhook, 131042: the WABA could not be charged',
    course: { fail: 131042 },
  },
  {
    to: '15550131049',
    what: 'accepted, then failed by webhook, 131049: not delivered, for a healthy ecosystem',
    course: { fail: 131049 },
  },
  {
    to: '15550231049',
    what: 'MARKETING accepted, then failed by webhook, 131049, as to any number of the United States; the rest arrives',
    course: { fail: 131049 },
    only: { category: 'MARKETING' },
  },
  {
    to: '15550131050',
    what: 'accepted, then failed by webhook, 131050: has stopped marketing messages',
    course: { fail: 131050 },
  },
  {
    to: '15550231050',
    what: 'stops marketing messages, told by user_preferences, once the first has arrived; the later ones fail, 131050',
    stops: true,
  },
  {
    to: '15550131053',
    what: 'accepted, then failed by webhook, 131053: the media could not be fetched',
    course: { fail: 131053 },
  },
  {
    to: '15550131064',
    what: 'UTILITY refused, 131064: limited because of categories; the rest arrives',
    action: { code: 131064 },
    only: { category: 'UTILITY' },
  },
  { to: '15550130403', what: 'refused, 130403: blocked by the business itself', action: { code: 130403 } },
  {
    to: '15550137000',
    what: 'refused with recipient_identity_key_hash, 137000: the key has changed; accepted without',
    action: { code: 137000 },
    only: { hasIdentityHash: true },
  },
  { to: '15550131056', what: 'refused, 131056: pair limit, always', action: { code: 131056 } },
  { to: '15550130429', what: '130429 (throttled) twice, then accepted', action: { code: 130429 }, firstOnly: 2 },
  { to: '15550230429', what: '130429 (throttled), always', action: { code: 130429 } },
  { to: '15550000190', what: 'refused, 190: the token is not valid any more', action: { code: 190 } },
  { to: '15550000500', what: 'HTTP 500 with code 131000; not accepted', action: { status: 500, code: 131000 } },
  { to: '15550000502', what: 'HTTP 502 with an HTML page; not accepted', action: { html: true } },
  {
    to: '15550000504',
    what: 'no answer until the client gives up (10 minutes at most); not accepted',
    action: { delay_ms: 600_000, drop: 'before' },
  },
  { to: '15550000100', what: 'connection closed without an answer; not accepted', action: { drop: 'before' } },
  { to: '15550000200', what: 'accepted and recorded, but the answer is lost', action: { drop: 'after' } },
  {
    to: '15550000201',
    what: 'accepted with message_status held_for_quality_assessment, released after 10 minutes',
    action: { message_status: 'held_for_quality_assessment' },
    course: { held_ms: assessmentMs },
  },
  {
    to: '15550132015',
    what: 'accepted with message_status held_for_quality_assessment, after 10 minutes failed by webhook, 132015',
    action: { message_status: 'held_for_quality_assessment' },
    course: { held_ms: assessmentMs, fail: 132015 },
  },
  {
    to: '15550135000',
    what: 'accepted with message_status held_for_quality_assessment, after 10 minutes failed by webhook, 135000',
    action: { message_status: 'held_for_quality_assessment' },
    course: { held_ms: assessmentMs, fail: 135000 },
  },
  {
    to: '15550000202',
    what: 'accepted with message_status paused; nothing more is heard of it',
    action: { message_status: 'paused' },
    course: { lost: true },
  },
];

const byRecipient = new Map(magicRecipients.map((recipient) => [recipient.to, recipient]));

/** Counts messages to magic recipients and returns the fate of the next one. */
export class MagicFates {
  readonly #met = new Map<string, number>();

  next(to: string, facts: MagicFacts): Pick<MagicRecipient, 'action' | 'course' | 'stops'> {
    const recipient = byRecipient.get(to);
    if (recipient === undefined || !isLike(facts, recipient.only)) return {};
    const met = (this.#met.get(to) ?? 0) + 1;
    this.#met.set(to, met);
    return met > (recipient.firstOnly ?? Number.POSITIVE_INFINITY) ? {} : recipient;
  }
}

function isLike(facts: MagicFacts, { category, hasIdentityHash }: Partial<MagicFacts> = {}): boolean {
  return (
    (category === undefined || category === facts.category) &&
    (hasIdentityHash === undefined || hasIdentityHash === facts.hasIdentityHash)
  );
}

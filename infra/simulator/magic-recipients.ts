import type { FaultAction } from './faults.ts';

/** A recipient to whom a message that passes every check meets a fate of its own. */
export interface MagicRecipient {
  readonly to: string;
  readonly what: string;
  readonly action: FaultAction;
  /** The fate befalls only the first so many messages; the later ones are accepted. */
  readonly firstOnly?: number;
}

/** The whole table; the page at `/` shows it. The numbers end in what they bring. */
export const magicRecipients: readonly MagicRecipient[] = [
  { to: '15550131026', what: 'refused, 131026: undeliverable', action: { code: 131026 } },
  { to: '15550131049', what: 'refused, 131049: not delivered, for a healthy ecosystem', action: { code: 131049 } },
  { to: '15550131050', what: 'refused, 131050: has stopped marketing messages', action: { code: 131050 } },
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
    what: 'accepted with message_status held_for_quality_assessment',
    action: { message_status: 'held_for_quality_assessment' },
  },
  { to: '15550000202', what: 'accepted with message_status paused', action: { message_status: 'paused' } },
];

const byRecipient = new Map(magicRecipients.map((recipient) => [recipient.to, recipient]));

/** Counts the messages to magic recipients and says what befalls the next one. */
export class MagicFates {
  readonly #met = new Map<string, number>();

  next(to: string): FaultAction | undefined {
    const recipient = byRecipient.get(to);
    if (recipient === undefined) return undefined;
    const met = (this.#met.get(to) ?? 0) + 1;
    this.#met.set(to, met);
    return met > (recipient.firstOnly ?? Number.POSITIVE_INFINITY) ? undefined : recipient.action;
  }
}

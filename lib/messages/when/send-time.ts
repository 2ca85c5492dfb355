import * as v from 'valibot';
import { zoneNamed } from '../../access/time-zone.ts';
import { didYouMean } from '../../http/closest-name.ts';
import { documentedAs } from '../../http/documented.ts';
import { butReceived, jsonExcerpt } from '../../http/json-excerpt.ts';
import { isMoment } from '../../http/query.ts';
import { invalid } from '../../http/refusal.ts';
import { omitUndefined } from '../../keys/omit-undefined.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import type { LocalTimes } from './openings.ts';

export interface SendTime extends LocalTimes {
  readonly asked: NonNullable<DispatchHead['when']>['asked'];
  readonly sendAtMs?: number;
  /** All recipients have it, in place of their own. */
  readonly zone?: string;
}

const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const windowForm = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)$/;

const momentWords = 'Send-At must be a time with its offset such as 2026-11-27T09:00:00+01:00 (RFC 3339)';
const windowWords = 'Send-Window must be two different times of day such as 09:00-20:00, 00:00 to 23:59';
const daysWords = 'Send-Days must be days of the week, or ranges of them, such as mon-fri or sat,sun';

/**
 * Each header of a scheduled send has its exact form. http/request-headers.ts refuses others that begin with `Send-`.
 */
export const SendTimeHeaders = v.object({
  'Send-At': v.optional(
    v.pipe(
      v.string(),
      v.check(isMoment, butReceived(momentWords)),
      documentedAs(() => v.pipe(v.string(), v.isoTimestamp())),
    ),
  ),
  'Send-Window': v.optional(
    v.pipe(
      v.string(),
      v.check((text) => windowIn(text) !== undefined, butReceived(windowWords)),
      documentedAs(() => v.pipe(v.string(), v.regex(windowForm))),
    ),
  ),
  'Send-Days': v.optional(
    v.pipe(
      v.string(),
      v.check((text) => daysIn(text) !== undefined, butReceived(daysWords)),
      documentedAs(() => v.string()),
    ),
  ),
  'Send-Zone': v.optional(
    v.pipe(
      v.string(),
      v.check(
        (text) => zoneNamed(text) !== undefined,
        ({ input }) => unknownZone(String(input)),
      ),
      documentedAs(() => v.string()),
    ),
  ),
});

function unknownZone(text: string): string {
  const hint = didYouMean(text, Intl.supportedValuesOf('timeZone'));
  return `Send-Zone must be an IANA time zone (Area/Place such as Europe/Madrid, or UTC), received ${jsonExcerpt(text)}${hint}`;
}

function windowIn(text: string): LocalTimes['window'] {
  const [, fromHour, fromMinute, untilHour, untilMinute] = (windowForm.exec(text) ?? []).map(Number);
  if (fromHour === undefined || fromMinute === undefined) return undefined;
  if (untilHour === undefined || untilMinute === undefined) return undefined;
  const window = { fromMinute: fromHour * 60 + fromMinute, untilMinute: untilHour * 60 + untilMinute };
  return window.fromMinute === window.untilMinute ? undefined : window;
}

/** Reads days and ranges, in any letter case, with blanks around commas; a range may cross the week's end. */
function daysIn(text: string): ReadonlySet<number> | undefined {
  const days = new Set<number>();
  for (const part of text.toLowerCase().split(',')) {
    const ends = part.trim().split('-');
    const [first = -1, last = first] = ends.map((word) => weekdays.indexOf(word));
    if (ends.length > 2 || first < 0 || last < 0) return undefined;
    for (let day = first; ; day = (day + 1) % 7) {
      days.add(day);
      if (day === last) break;
    }
  }
  return days;
}

/**
 * Refuses with 400 a zone without window and days. `timetableOf` checks `Send-At`, because only a request that counts
 * is compared with now.
 */
export function sendTimeOf(headers: v.InferOutput<typeof SendTimeHeaders>): SendTime | undefined {
  const { 'Send-At': at, 'Send-Window': window, 'Send-Days': days, 'Send-Zone': zone } = headers;
  const asked = omitUndefined({ send_at: at, window, days, zone });
  if (Object.keys(asked).length === 0) return undefined;
  if (zone !== undefined && window === undefined && days === undefined) {
    throw invalid(
      'Send-Zone',
      `Send-Zone must come with Send-Window or Send-Days, received ${jsonExcerpt(zone)} alone: it would change nothing`,
    );
  }
  return {
    asked,
    ...omitUndefined({
      sendAtMs: at === undefined ? undefined : Date.parse(at),
      window: window === undefined ? undefined : windowIn(window),
      days: days === undefined ? undefined : daysIn(days),
      zone: zone === undefined ? undefined : zoneNamed(zone),
    }),
  };
}

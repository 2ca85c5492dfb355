import { beforeAll, describe, expect, test } from 'vitest';
import type { Opening } from '../../../../lib/messages/dispatch/lots.ts';
import { inAll, type LocalTimes, openingsIn, within } from '../../../../lib/messages/when/openings.ts';

/** A time is open when local clocks show the given hours and days (D56, R54). */

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const minuteMs = 60_000;
const at = (text: string) => Date.parse(text);
const clock = (from: string, until: string): LocalTimes['window'] => {
  const minuteOf = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
  return { fromMinute: minuteOf(from), untilMinute: minuteOf(until) };
};
const days = (...some: number[]) => new Set(some);
const told = (openings: readonly Opening[]) =>
  openings.map((opening) => opening.map((ms) => new Date(ms).toISOString().slice(0, 16)).join(' '));
const madrid = (from: string, until: string, span: readonly [string, string], some?: ReadonlySet<number>) =>
  told(openingsIn('Europe/Madrid', { window: clock(from, until), days: some }, [at(span[0]), at(span[1])]));

describe('a window', () => {
  test('opens each day by the clocks of the zone, from the moment that is asked about on', () => {
    expect(madrid('09:00', '20:00', ['2026-11-26T12:30:00Z', '2026-11-28T10:00:00Z'])).toEqual([
      '2026-11-26T12:30 2026-11-26T19:00',
      '2026-11-27T08:00 2026-11-27T19:00',
      '2026-11-28T08:00 2026-11-28T10:00',
    ]);
  });

  test('that crosses midnight counts for the day on which it opens', () => {
    const onFriday = (...span: [string, string]) => madrid('22:00', '02:00', span, days(5));
    expect(onFriday('2026-11-26T00:00:00Z', '2026-11-30T00:00:00Z')).toEqual(['2026-11-27T21:00 2026-11-28T01:00']);
    // After midnight the window of the day before is still open.
    expect(onFriday('2026-11-27T23:30:00Z', '2026-11-29T00:00:00Z')).toEqual(['2026-11-27T23:30 2026-11-28T01:00']);
  });
});

test('what is open in all, and what of it lies between two moments', () => {
  const [one, other]: Opening[][] = [
    [
      [0, 10],
      [20, 30],
    ],
    [
      [5, 22],
      [29, 40],
    ],
  ];
  expect(inAll([one ?? [], other ?? []])).toEqual([
    [5, 10],
    [20, 22],
    [29, 30],
  ]);
  expect(inAll([one ?? [], []])).toEqual([]);
  expect(within(other ?? [], [10, 29])).toEqual([[10, 22]]);
});

describe('over all zones and the changes of clock of two years (R54)', () => {
  const fromMs = at('2026-10-01T00:00:00Z');
  const untilMs = at('2028-10-15T00:00:00Z');
  const zones = Intl.supportedValuesOf('timeZone');
  const wanted: readonly LocalTimes[] = [
    { window: { fromMinute: 20 * 60, untilMinute: 0 } },
    // Most clocks that change skip or repeat the hour from two o'clock on.
    { window: { fromMinute: 130, untilMinute: 160 }, days: days(0, 1) },
    { window: { fromMinute: 22 * 60 + 30, untilMinute: 2 * 60 + 30 }, days: days(6) },
    { window: { fromMinute: 23 * 60, untilMinute: 22 * 60 }, days: days(1, 2, 3, 4, 5) },
    { days: days(0, 6) },
  ];
  const spelled = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

  /** Computes the local time in the zone independently of the tested code. */
  function wall(clockOf: Intl.DateTimeFormat, ms: number) {
    const text = clockOf.format(ms);
    return {
      weekday: spelled.indexOf(text.slice(0, 3)),
      minute: Number(text.slice(-5, -3)) * 60 + Number(text.slice(-2)),
    };
  }

  function isWanted({ window, days: some }: LocalTimes, { weekday, minute }: ReturnType<typeof wall>): boolean {
    const allowed = (day: number) => some?.has((day + 7) % 7) ?? true;
    if (window === undefined) return allowed(weekday);
    const { fromMinute, untilMinute } = window;
    if (fromMinute < untilMinute) return allowed(weekday) && minute >= fromMinute && minute < untilMinute;
    return (allowed(weekday) && minute >= fromMinute) || (allowed(weekday - 1) && minute < untilMinute);
  }

  const clocks = new Map(
    zones.map((zone) => [
      zone,
      new Intl.DateTimeFormat('en-US', {
        timeZone: zone,
        weekday: 'short',
        hour: '2-digit',
        minute: '2-digit',
        hourCycle: 'h23',
      }),
    ]),
  );
  const changes: { readonly zone: string; readonly atMs: number }[] = [];

  beforeAll(() => {
    for (const [zone, clockOf] of clocks) {
      const behind = (ms: number) => (((wall(clockOf, ms).minute - ms / minuteMs) % 1_440) + 1_440) % 1_440;
      for (let ms = fromMs; ms < untilMs; ms += 5 * dayMs) {
        if (behind(ms) === behind(ms + 5 * dayMs)) continue;
        let [before, after] = [ms, ms + 5 * dayMs];
        while (after - before > minuteMs) {
          const middle = before + Math.floor((after - before) / (2 * minuteMs)) * minuteMs;
          if (behind(middle) === behind(before)) before = middle;
          else after = middle;
        }
        changes.push({ zone, atMs: after });
      }
    }
  });

  test('each minute about a change is open if, and only if, the clocks show such a time', () => {
    expect(changes.length).toBeGreaterThan(400);
    const wrong: string[] = [];
    for (const { zone, atMs } of changes) {
      const span: Opening = [atMs - 30 * hourMs, atMs + 30 * hourMs];
      const openings = wanted.map((times) => openingsIn(zone, times, span));
      // Steps of 23 minutes reach every hour and half hour; near the opening every minute is looked at.
      for (let ms = span[0]; ms < span[1]; ms += Math.abs(ms - atMs) < 130 * minuteMs ? minuteMs : 23 * minuteMs) {
        const shows = wall(clocks.get(zone) as Intl.DateTimeFormat, ms);
        for (const [index, times] of wanted.entries()) {
          const open = openings[index]?.some(([opensMs, closesMs]) => opensMs <= ms && ms < closesMs) ?? false;
          if (open !== isWanted(times, shows)) wrong.push(`${zone} ${new Date(ms).toISOString()} ${index}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  test('and through a whole life of a dispatch, in every zone', () => {
    const wrong: string[] = [];
    for (const [at, [zone, clockOf]] of [...clocks].entries()) {
      const beginsMs = fromMs + ((at * 997) % 700) * dayMs;
      const span: Opening = [beginsMs, beginsMs + 59 * dayMs];
      const openings = wanted.map((times) => openingsIn(zone, times, span));
      for (let ms = span[0]; ms < span[1]; ms += 397 * minuteMs) {
        const shows = wall(clockOf, ms);
        for (const [index, times] of wanted.entries()) {
          const open = openings[index]?.some(([opensMs, closesMs]) => opensMs <= ms && ms < closesMs) ?? false;
          if (open !== isWanted(times, shows)) wrong.push(`${zone} ${new Date(ms).toISOString()} ${index}`);
        }
      }
      for (const [index, list] of openings.entries()) {
        const ordered = list.every(
          ([opensMs, closesMs], place) => opensMs < closesMs && (list[place - 1]?.[1] ?? 0) < opensMs,
        );
        if (!ordered) wrong.push(`${zone} ${index} is not in order`);
      }
    }
    expect(wrong).toEqual([]);
  });
});

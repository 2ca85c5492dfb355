import { describe, expect, test } from 'vitest';
import { Refusal } from '../../../../lib/http/refusal.ts';
import { parseHeaders } from '../../../../lib/http/request-headers.ts';
import { SendTimeHeaders, sendTimeOf } from '../../../../lib/messages/when/send-time.ts';
import {
  needsClientZone,
  type Timetable,
  type ToBeTimed,
  timetableOf,
} from '../../../../lib/messages/when/timetable.ts';

/** A timetable says when each recipient of a send may be called, and in which order (D56, R54). */

/** This is a Thursday. */
const nowMs = Date.parse('2026-11-26T12:00:00Z');
const dayMs = 86_400_000;
const [spain, argentina, newYork, losAngeles] = ['34911110001', '5491155550001', '12125550001', '12135550001'];
const unknown = '99912345678';
const iso = (ms: number) => new Date(ms).toISOString().slice(0, 16);

const timeOf = (headers: Readonly<Record<string, string>>) => {
  const time = sendTimeOf(parseHeaders(SendTimeHeaders, { headers }));
  if (time === undefined) throw new Error('no time of its own');
  return time;
};
function tableOf(to: readonly string[], headers: Readonly<Record<string, string>>, more: Partial<ToBeTimed> = {}) {
  const recipients = to.map((each) => ({ to: each }));
  return timetableOf({ recipients, places: to.map((_, at) => at), nowMs, ...more }, timeOf(headers));
}
const firstOf = ({ lots }: Timetable) => lots.map(({ until, open }) => [until, open[0]?.map(iso).join(' ')]);
const business = { 'send-window': '09:00-20:00' };

function refusalOf(run: () => unknown) {
  try {
    run();
  } catch (error) {
    if (error instanceof Refusal) return { code: error.code, errors: error.details.errors ?? [] };
    throw error;
  }
  return undefined;
}

describe('a moment', () => {
  test('is one lot, open from then on for as long as messages may be called', () => {
    const atMs = Date.parse('2026-11-30T08:00:00Z');
    const headers = { 'send-at': '2026-11-30T09:00:00+01:00' };
    expect(tableOf([spain, unknown], headers)).toMatchObject({
      fromMs: atMs,
      lastCallMs: atMs + 28 * dayMs,
      lots: [{ until: 2, open: [[atMs, atMs + 28 * dayMs]] }],
      order: [0, 1],
    });
    expect(tableOf([spain], headers, { ttlSeconds: 60 })).toMatchObject({
      lastCallMs: atMs + 60_000,
      lots: [{ until: 1, open: [[atMs, atMs + 60_000]] }],
    });
  });

  test('that has just passed is now: clocks are apart', () => {
    expect(tableOf([spain], { 'send-at': iso(nowMs - 4 * 60_000).concat(':00Z') }).fromMs).toBe(nowMs);
  });

  test.each([
    ['2026-11-26T11:54:00Z', 'which has passed'],
    ['2026-12-26T12:00:01Z', 'which is later'],
  ])('%s is refused: %s', (text, why) => {
    expect(refusalOf(() => tableOf([spain], { 'send-at': text }))).toEqual({
      code: 'invalid_request',
      errors: [
        {
          path: 'Send-At',
          message: `Send-At must be from now (2026-11-26T12:00:00.000Z) to 30 days ahead, received "${text}", ${why}`,
        },
      ],
    });
  });
});

describe('hours', () => {
  test('are those of each recipient, and lots are ordered by their first opening', () => {
    const table = tableOf([losAngeles, newYork, spain, losAngeles, argentina], business);
    expect(firstOf(table)).toEqual([
      // Now it is 13 in Madrid and 9 in Buenos Aires; in other zones the day begins between 14 and 17 UTC.
      [1, '2026-11-26T12:00 2026-11-26T19:00'],
      [2, '2026-11-26T12:00 2026-11-26T23:00'],
      [3, '2026-11-26T14:00 2026-11-27T01:00'],
      [5, '2026-11-26T17:00 2026-11-27T04:00'],
    ]);
    expect(table.order).toEqual([2, 4, 1, 0, 3]);
    expect(table.fromMs).toBe(nowMs);
    for (const { open } of table.lots) {
      expect(open.length).toBeGreaterThan(27);
      expect(Math.max(...open.flat())).toBeLessThanOrEqual(table.lastCallMs);
    }
  });

  test('that come together make one lot, whatever the zones', () => {
    const table = tableOf([spain, '4915155550001', argentina, '33155550001'], business);
    expect(table.lots.map(({ until }) => until)).toEqual([3, 4]);
    expect(table.order).toEqual([0, 1, 3, 2]);
    expect(table.zones.map(({ zones, members }) => [zones.join(), members])).toEqual([
      ['Europe/Madrid', [0]],
      ['Europe/Berlin', [1]],
      ['America/Buenos_Aires', [2]],
      ['Europe/Paris', [3]],
    ]);
  });

  test('come after a moment that is given with them, on days that are', () => {
    const asked = { ...business, 'send-days': 'mon', 'send-at': '2026-11-30T12:00:00Z', 'send-zone': 'Europe/Madrid' };
    expect(firstOf(tableOf([losAngeles, spain], asked))).toEqual([[2, '2026-11-30T12:00 2026-11-30T19:00']]);
    const later = { ...asked, 'send-at': '2026-11-30T19:00:00Z' };
    expect(iso(tableOf([spain], later).fromMs)).toBe('2026-12-07T08:00');
  });

  test('days alone are whole days of the zone', () => {
    expect(firstOf(tableOf([newYork], { 'send-days': 'sat,sun' }))).toEqual([[1, '2026-11-28T05:00 2026-11-30T05:00']]);
  });

  test('hold in all zones that a number may be in', () => {
    // Madrid is an hour ahead of the Canary Islands, and Spanish mobile numbers may be in either.
    expect(firstOf(tableOf(['34600111222'], { 'send-window': '14:00-16:00' }))).toEqual([
      [1, '2026-11-26T14:00 2026-11-26T15:00'],
    ]);
    const never = { 'send-window': '14:00-14:30' };
    expect(refusalOf(() => tableOf([spain, '34600111222'], never, { places: [0, 4] }))).toEqual({
      code: 'invalid_recipients',
      errors: [
        {
          path: 'recipients[4].to',
          message:
            'recipients[4].to: expected other hours (Send-Window, Send-Days) or Send-Zone: 14:00-14:30 never comes in Atlantic/Canary and 1 more zone of the recipient at once',
        },
      ],
    });
    expect(tableOf([spain, '34600111222'], { ...never, 'send-zone': 'Europe/Madrid' }).lots).toHaveLength(1);
  });

  test('of which only the last seconds are left have passed', () => {
    const lateMs = Date.parse('2026-11-26T18:59:56Z');
    expect(iso(tableOf([spain], business, { nowMs: lateMs }).fromMs)).toBe('2026-11-27T08:00');
    expect(iso(tableOf([spain], business, { nowMs: lateMs - 2_000 }).fromMs)).toBe('2026-11-26T18:59');
  });

  test('that clocks skip this week come in the next', () => {
    const sundays = { 'send-window': '02:10-02:40', 'send-days': 'sun' };
    const table = tableOf([spain], sundays, { nowMs: Date.parse('2026-03-28T12:00:00Z') });
    expect(iso(table.fromMs)).toBe('2026-04-05T00:10');
  });
});

describe('a number whose zone is not known', () => {
  test('has the client’s, if that is known', () => {
    const time = timeOf(business);
    expect(needsClientZone([{ to: spain }, { to: unknown }], time)).toBe(true);
    expect(needsClientZone([{ to: spain }], time)).toBe(false);
    expect(needsClientZone([{ to: unknown }], timeOf({ 'send-at': '2026-11-27T09:00:00Z' }))).toBe(false);
    expect(needsClientZone([{ to: unknown }], timeOf({ ...business, 'send-zone': 'Asia/Tokyo' }))).toBe(false);
    const { zones } = tableOf([unknown], business, { clientZone: 'Asia/Tokyo' });
    expect(zones.map((each) => each.zones)).toEqual([['Asia/Tokyo']]);
  });

  test('is refused by its place without', () => {
    expect(refusalOf(() => tableOf([spain, unknown], business, { places: [0, 7] }))).toEqual({
      code: 'invalid_recipients',
      errors: [
        {
          path: 'recipients[7].to',
          message:
            'recipients[7].to: expected a recipient whose time zone is known, or Send-Zone, received "99912345678"',
        },
      ],
    });
  });
});

test('a recipient who may be called only after the time to live has an empty lot, the last one', () => {
  const table = tableOf([losAngeles, spain], business, { ttlSeconds: 3_600 });
  expect(table.lots).toEqual([
    { until: 1, open: [[nowMs, nowMs + 3_600_000]] },
    { until: 2, open: [] },
  ]);
  expect([table.order, table.lastCallMs - table.fromMs]).toEqual([[1, 0], 3_600_000]);
  expect(table.zones.map(({ firstMs }) => iso(firstMs))).toEqual(['2026-11-26T17:00', '2026-11-26T12:00']);
});

import { describe, expect, test } from 'vitest';
import { Refusal } from '../../../../lib/http/refusal.ts';
import { parseHeaders, refuseUnreadTimes } from '../../../../lib/http/request-headers.ts';
import { SendTimeHeaders, sendTimeOf } from '../../../../lib/messages/when/send-time.ts';

/** Headers schedule a send (D56). */

const timeOf = (headers: Readonly<Record<string, string | undefined>>) =>
  sendTimeOf(parseHeaders(SendTimeHeaders, { headers }));

function faultsOf(run: () => unknown): unknown[] {
  try {
    run();
  } catch (error) {
    if (error instanceof Refusal && error.status === 400) return [...(error.details.errors ?? [])];
    throw error;
  }
  return [];
}

describe('what is asked for', () => {
  test('is nothing without a header', () => {
    expect(timeOf({ 'idempotency-key': 'a' })).toBeUndefined();
  });

  test('is told to the letter, and understood', () => {
    const headers = {
      'send-at': '2026-11-27T09:00:00+01:00',
      'send-window': '22:00-02:30',
      'send-days': 'Fri-mon, wed',
      'send-zone': 'europe/madrid',
    };
    expect(timeOf(headers)).toEqual({
      asked: {
        send_at: '2026-11-27T09:00:00+01:00',
        window: '22:00-02:30',
        days: 'Fri-mon, wed',
        zone: 'europe/madrid',
      },
      sendAtMs: Date.UTC(2026, 10, 27, 8),
      window: { fromMinute: 1_320, untilMinute: 150 },
      days: new Set([5, 6, 0, 1, 3]),
      zone: 'Europe/Madrid',
    });
  });

  test.each([
    ['mon-fri', [1, 2, 3, 4, 5]],
    ['sat', [6]],
    ['sat,sun', [6, 0]],
    ['sun-sat', [0, 1, 2, 3, 4, 5, 6]],
    ['wed-wed', [3]],
  ])('days %s', (text, days) => {
    expect([...(timeOf({ 'send-days': text })?.days ?? [])]).toEqual(days);
  });
});

describe('is refused by the name of its header', () => {
  test.each<string[]>([
    ['Send-At', '', 'a time with its offset'],
    ['Send-At', 'tomorrow', 'a time with its offset'],
    ['Send-At', '2026-11-27', 'a time with its offset'],
    ['Send-At', '2026-11-27T09:00:00', 'a time with its offset'],
    ['Send-At', '2026-02-30T09:00:00Z', 'a time with its offset'],
    ['Send-At', '1795000000', 'a time with its offset'],
    ['Send-Window', '9:00-20:00', 'two different times of day'],
    ['Send-Window', '09:00-24:00', 'two different times of day'],
    ['Send-Window', '09:00-09:00', 'two different times of day'],
    ['Send-Window', '09:00-20:00,10:00-11:00', 'two different times of day'],
    ['Send-Window', '09:60-20:00', 'two different times of day'],
    ['Send-Days', '', 'days of the week'],
    ['Send-Days', 'monday', 'days of the week'],
    ['Send-Days', 'mon-', 'days of the week'],
    ['Send-Days', 'mon-wed-fri', 'days of the week'],
    ['Send-Days', 'mon,,tue', 'days of the week'],
    ['Send-Zone', '+01:00', 'an IANA time zone'],
    ['Send-Zone', 'CEST', 'an IANA time zone'],
    ['Send-Zone', 'Europe/Madird', 'did you mean Europe/Madrid?'],
    // The runtime knows these as Cairo, Dhaka, Panama, and five hours behind UTC.
    ...['ART', 'BST', 'EST', 'EST5EDT', 'GMT', 'Japan', 'Etc/GMT+5', 'SystemV/EST5'].map((zone) => [
      'Send-Zone',
      zone,
      'Area/Place such as Europe/Madrid, or UTC',
    ]),
  ])('%s: %s', (name = '', text = '', words = '') => {
    expect(faultsOf(() => timeOf({ [name.toLowerCase()]: text }))).toEqual([
      {
        path: name,
        message: expect.stringMatching(
          new RegExp(`^${name} must be .*received ${JSON.stringify(text).replaceAll(/[+]/g, '.')}`),
        ),
      },
    ]);
    expect(faultsOf(() => timeOf({ [name.toLowerCase()]: text }))).toMatchObject([
      { message: expect.stringContaining(words) },
    ]);
  });

  test.each([{}, { 'send-at': '2026-11-27T09:00:00Z' }])('a zone for nothing, beside %o', (others) => {
    expect(faultsOf(() => timeOf({ ...others, 'send-zone': 'Europe/Madrid' }))).toEqual([
      {
        path: 'Send-Zone',
        message:
          'Send-Zone must come with Send-Window or Send-Days, received "Europe/Madrid" alone: it would change nothing',
      },
    ]);
  });
});

describe('any other header that begins with Send-', () => {
  const refused = (name: string, headers?: typeof SendTimeHeaders) =>
    faultsOf(() => refuseUnreadTimes({ headers: { [name]: 'x', 'idempotency-key': 'a' } }, { headers }));

  test.each([
    ['send-windows', '; did you mean Send-Window?'],
    ['send_days', '; did you mean Send-Days?'],
    ['send-until', ''],
    ['Send-Timezone', ''],
  ])('%s is refused on a send', (name, hint) => {
    expect(refused(name, SendTimeHeaders)).toEqual([{ path: name, message: `unrecognized field: ${name}${hint}` }]);
  });

  test('one that is read passes, and each is refused where none is: it would happen at once', () => {
    for (const name of ['send-at', 'Send-Window', 'send-zone']) {
      expect(refused(name, SendTimeHeaders)).toEqual([]);
      expect(refused(name)).toEqual([
        { path: name, message: `${name}: this route has no time of its own, only a send has; nothing was done` },
      ]);
    }
    expect(faultsOf(() => refuseUnreadTimes({ headers: { sender: 'x' } }, {}))).toEqual([]);
  });
});

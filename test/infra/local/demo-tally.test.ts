import { describe, expect, test } from 'vitest';
import { audience, expectedComponents } from '../../../infra/local/demo/audience.ts';
import { discrepancies, tableOf, tallyOf } from '../../../infra/local/demo/tally.ts';
import type { OutcomeCounts } from '../../../lib/messages/outcomes/outcome.ts';

const recipients = audience(4, 7);
const received = recipients.map((recipient) => ({ to: recipient.to, components: expectedComponents(recipient) }));
const [first, second, third, fourth] = received;

function counts(changes: Partial<OutcomeCounts> = {}): OutcomeCounts {
  return { sent: 4, delivered: 0, read: 0, held: 0, failed: 0, expired: 0, unknown: 0, pending: 0, ...changes };
}

describe('the audience', () => {
  test('has distinct numbers of 15 digits and parameters of its own', () => {
    const everyone = [...audience(10_000, 0), ...audience(10_000, 99_999_999)];
    expect(new Set(everyone.map(({ to }) => to)).size).toBe(20_000);
    expect(new Set(everyone.map(({ params }) => JSON.stringify(params))).size).toBe(20_000);
    expect(everyone.filter(({ to }) => !/^\d{15}$/.test(to))).toEqual([]);
  });
});

describe('what adds up and what does not', () => {
  const stranger = { to: '5491100000000', components: [] };
  const other = audience(4, 8)[0];

  test.each([
    ['all sent', counts(), received, []],
    ['messages to others are not ours', counts(), [stranger, ...received], []],
    ['an answer was lost', counts({ sent: 3, unknown: 1 }), received, []],
    [
      'a refusal',
      counts({ sent: 3, failed: 1 }),
      [first, second, third],
      ['1 recipients got nothing: 1 failed, 0 unknown.'],
    ],
    ['one held by the platform', counts({ sent: 3, held: 1 }), received, []],
    ['one lost', counts(), [first, second, third], ['1 recipients got nothing: 0 failed, 0 unknown.']],
    ['one twice', counts(), [...received, first], ['1 messages were sent more than once.']],
    ['one pending', counts({ sent: 3, pending: 1 }), received, ['1 of 4 messages have no outcome yet.']],
    ['one never accepted', counts({ sent: 3 }), received, ['3 recipients were accepted, not 4.']],
    [
      'the parameters of another recipient',
      counts(),
      [first, second, third, { to: fourth?.to, components: first?.components }],
      ["1 messages carry other parameters than their recipient's."],
    ],
    [
      'the parameters of another run',
      counts(),
      [first, second, third, { to: fourth?.to, components: other === undefined ? [] : expectedComponents(other) }],
      ["1 messages carry other parameters than their recipient's."],
    ],
  ])('%s', (_, outcomes, messages, sentences) => {
    const tally = tallyOf(recipients, outcomes, messages as typeof received);
    expect(discrepancies(tally, 4)).toEqual(sentences);
  });
});

test('the table has one column for each figure', () => {
  const tally = tallyOf(recipients, counts({ sent: 2, held: 1, unknown: 1 }), received);
  expect(
    tableOf(tally, 12.345)
      .split('\n')
      .map((line) => line.trim().split(/\s+/)),
  ).toEqual([
    ['accepted', 'sent', 'held', 'failed', 'unknown', 'duplicates', 'seconds'],
    ['4', '2', '1', '0', '1', '0', '12.3'],
  ]);
});

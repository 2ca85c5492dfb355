import { describe, expect, test } from 'vitest';
import { audience } from '../../../infra/local/demo/audience.ts';
import type { Report, ReportRow } from '../../../infra/local/demo/client.ts';
import { follow, lostOneWatched } from '../../../infra/local/demo/follow-report.ts';
import { discrepancies, onTheWay, tableOf } from '../../../infra/local/demo/result-table.ts';
import { specialRecipients } from '../../../infra/local/demo/special-recipients.ts';
import { countStates } from '../../../lib/messages/report/outcome.ts';

const special = specialRecipients.map(({ to }) => to);
const recipients = audience(special.length + 3, 7, special);
const rows: readonly ReportRow[] = recipients.map(({ to }) => {
  const { ending, code } = specialRecipients.find((fate) => fate.to === to) ?? { ending: 'read' };
  return { to, state: ending, ...(code === undefined ? {} : { code, reason: `reason of ${code}` }) };
});
const [refused, late] = rows;
const usual = rows.at(-1);

function reportOf(data: readonly (ReportRow | undefined)[], changes: Partial<Report> = {}): Report {
  const known = data.filter((row) => row !== undefined);
  return { total: data.length, counts: countStates(known.map(({ state }) => state)), data: known, ...changes };
}

/** Replaces or removes the row at one index. */
const withRow = (at: number, row: ReportRow | undefined) => reportOf(rows.with(at, row ?? { state: 'read' }));

describe('the audience', () => {
  test('has distinct numbers of 15 digits and parameters of its own', () => {
    const everyone = [...audience(10_000, 0), ...audience(10_000, 99_999_999)];
    expect(new Set(everyone.map(({ to }) => to)).size).toBe(20_000);
    expect(new Set(everyone.map(({ params }) => JSON.stringify(params))).size).toBe(20_000);
    expect(everyone.filter(({ to }) => !/^\d{15}$/.test(to))).toEqual([]);
  });

  test('begins with the recipients that have a special course', () => {
    expect(recipients.slice(0, special.length).map(({ to }) => to)).toEqual(special);
  });
});

describe('what adds up and what does not', () => {
  const { to = '' } = usual ?? {};

  test.each<[string, Report, readonly string[]]>([
    ['everybody as meant', reportOf(rows), []],
    [
      'a refusal that was not meant',
      withRow(-1, { to, state: 'failed', code: '131026' }),
      ['1 messages ended otherwise than they should:', `${to} is failed (131026), not read`],
    ],
    [
      'a failure that never came',
      withRow(1, { to: late?.to ?? '', state: 'read' }),
      ['1 messages ended otherwise than they should:', `${late?.to} is read, not failed (131026)`],
    ],
    [
      'a failure for another reason',
      withRow(1, { to: late?.to ?? '', state: 'failed', code: '131049' }),
      ['1 messages ended otherwise than they should:', `${late?.to} is failed (131049), not failed (131026)`],
    ],
    [
      'one twice and one missing',
      withRow(-1, refused),
      [
        '1 recipients are in the report twice.',
        '1 messages ended otherwise than they should:',
        `${to} is not in the report`,
      ],
    ],
    ['one too many', reportOf([...rows, { to: '549', state: 'read' }]), [`The report has 13 recipients, not 12.`]],
    [
      'no recipient',
      reportOf([]),
      [
        'The report has 0 recipients, not 12.',
        '12 messages ended otherwise than they should:',
        ...recipients.slice(0, 10).map(({ to }) => `${to} is not in the report`),
        'and 2 more',
      ],
    ],
    [
      'states that do not add up',
      reportOf(rows, { counts: countStates([]) }),
      [`The states add up to 0, not to ${rows.length}.`],
    ],
  ])('%s', (_, report, sentences) => {
    expect(discrepancies(report, recipients)).toEqual(sentences);
  });
});

test('no message is pending when the send has ended', () => {
  expect(onTheWay(reportOf(rows))).toBe(0);
  for (const state of ['pending', 'unknown', 'sent', 'delivered'] as const) {
    expect(onTheWay(withRow(-1, { to: '549', state }))).toBe(1);
  }
});

describe('a send is followed', () => {
  const followed = (reports: readonly Report[], quietLimitMs: number) => {
    const left = [...reports];
    const client = { report: async () => (left.length > 1 ? left.shift() : left[0]) ?? reportOf([]) };
    const options = { did: '1', dispatchId: '2', everyMs: 1, quietLimitMs, signal: new AbortController().signal };
    return follow({ client, ...options, isOver: (report) => onTheWay(report) === 0 });
  };
  const pending = (count: number) => reportOf(Array.from({ length: count }, () => ({ state: 'pending' as const })));

  test('for as long as it moves, to its end', async () => {
    const moving = Array.from({ length: 20 }, (_, at) => pending(20 - at));
    expect(await followed([...moving, reportOf(rows)], 0)).toEqual(reportOf(rows));
  });

  test('until nothing has moved for the limit', async () => {
    expect(await followed([pending(2), pending(1)], 5)).toEqual(pending(1));
  });
});

test('of the one whose answer was lost, every state is remembered once', () => {
  const { look, told } = lostOneWatched();
  const at = special.indexOf('15550000200');
  for (const state of ['pending', 'unknown', 'unknown', 'read'] as const) {
    look(withRow(at, { to: '15550000200', state }));
  }
  expect(told.map(({ state }) => state)).toEqual(['pending', 'unknown', 'read']);
});

test('the table has one column for each state, and one line for each special recipient', () => {
  const [names, values, , ...lines] = tableOf(reportOf(rows), 12.345).split('\n');
  expect(names?.trim().split(/\s+/)).toEqual([
    'total',
    'pending',
    'held',
    'sent',
    'delivered',
    'read',
    'failed',
    'expired',
    'unknown',
    'seconds',
  ]);
  expect(values?.trim().split(/\s+/)).toEqual(['12', '0', '1', '0', '0', '5', '6', '0', '0', '12.3']);
  expect(lines).toHaveLength(special.length);
  expect(lines[0]).toBe('15550231026      refused at once       failed     131026  reason of 131026');
});

test('the table shows ten recipients with an unexpected end, and none that is still pending', () => {
  const failed = Array.from({ length: 12 }, (_, at) => ({ to: `5490${at}`, state: 'failed' as const, code: '131026' }));
  const open = [
    { to: '549111', state: 'pending' as const },
    { to: '549112', state: 'sent' as const },
  ];
  const [, , , ...lines] = tableOf(reportOf([...rows, ...failed, ...open]), 1).split('\n');
  expect(lines.slice(special.length)).toEqual([
    ...failed.slice(0, 10).map(({ to }) => `${to.padEnd(15)}  nothing special       failed     131026`),
    'and 2 more',
  ]);
});

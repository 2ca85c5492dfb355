import type { Sending } from '../../proof/trial/record.ts';
import type { Verdict } from '../../proof/trial/trial.ts';
import type { Deeds } from './mischief.ts';

export interface Ending {
  readonly deeds: Deeds;
  /** Counts the requests to the tables that met a fault. */
  readonly troubled: ReadonlyMap<string, number>;
  /** Each id counts once. */
  readonly events: number;
  readonly sending: Sending;
  readonly verdict: Verdict;
  readonly codes: number;
  readonly deadLetters: ReadonlyMap<string, number>;
  readonly seconds: number;
}

/** Returns a table of the faults, the use of the numbers, and the outcomes of all recipients. */
export function tableOfRun({
  deeds,
  troubled,
  sending,
  verdict: { states, audit },
  codes,
  deadLetters,
  events,
  seconds,
}: Ending): string {
  const numbers = sending.data.map((number) => [
    number.phone_number_id,
    number.calls,
    number.accepted,
    number.throttled,
    number.most_calls_in_a_second,
    number.most_accepted_in_a_second,
  ]);
  const facts: readonly (readonly [string, number])[] = [
    ['recipients', audit.recipients],
    ['of one-time codes', codes],
    ['reached', audit.reached],
    ['duplicates', audit.duplicates],
    ['lost', audit.lost.length],
    ['unknown, and never taken', audit.unknownNeverTaken.length],
    ['unknown, but taken', audit.unknownTaken.length],
    ['told as not sent, but taken', audit.denied.length],
    ['events', events],
    ...[...deadLetters].map(([queue, count]): [string, number] => [`dead letters of ${queue}, redriven`, count]),
    ['seconds', Math.round(seconds)],
  ];
  return [
    'What was done:',
    ...aligned([...deeds].sort()),
    ...aligned([...troubled].map(([kind, count]): [string, number] => [`requests to tables: ${kind}`, count])),
    '',
    'By the simulator:',
    ...aligned([['number', 'calls', 'accepted', 'throttled', 'calls/s at most', 'accepted/s at most'], ...numbers]),
    '',
    'By the reports:',
    ...aligned(Object.entries(states ?? {}).filter(([, count]) => count > 0)),
    '',
    'Together:',
    ...aligned(facts),
  ].join('\n');
}

function aligned(rows: readonly (readonly (string | number)[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => String(row[column]).length)));
  return rows.map(
    (row) =>
      `  ${row.map((cell, column) => (column === 0 ? String(cell).padEnd(widths[0] ?? 0) : String(cell).padStart(widths[column] ?? 0))).join('  ')}`,
  );
}

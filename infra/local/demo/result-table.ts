import { type ReportedState, reportedStates } from '../../../lib/messages/receipts/reported-state.ts';
import type { Recipient } from './audience.ts';
import type { Report, ReportRow } from './client.ts';
import { type SpecialRecipient, specialRecipients } from './special-recipients.ts';

const underWay: readonly ReportedState[] = ['pending', 'unknown', 'sent', 'delivered'];

export function onTheWay({ counts }: Pick<Report, 'counts'>): number {
  return underWay.reduce((sum, state) => sum + counts[state], 0);
}

const usual: Omit<SpecialRecipient, 'to'> = { what: 'nothing special', ending: 'read' };
const fateOf = new Map<string | undefined, Omit<SpecialRecipient, 'to'>>(
  specialRecipients.map((fate) => [fate.to, fate]),
);

/**
 * Returns the demo's last table: the report's counts, then the special recipients, then recipients with an unexpected
 * ending. Messages on the way are only in the counts.
 */
export function tableOf({ total, counts, data }: Report, seconds: number): string {
  const columns = [['total', total], ...reportedStates.map((state) => [state, counts[state]] as const)] as const;
  const cells = [...columns, ['seconds', seconds.toFixed(1)] as const];
  const row = (at: 0 | 1) => cells.map((cell) => String(cell[at]).padStart(Math.max(7, cell[0].length))).join('  ');
  const special = data.filter(({ to }) => fateOf.has(to));
  const strays = data.filter(({ to, state }) => !fateOf.has(to) && ![...underWay, usual.ending].includes(state));
  return [row(0), row(1), '', ...special.map(lineOf), ...first(strays.map(lineOf))].join('\n');
}

function lineOf({ to = '', state, code, reason }: ReportRow): string {
  const { what } = fateOf.get(to) ?? usual;
  return [to.padEnd(15), what.padEnd(20), state.padEnd(9), code, reason].filter(Boolean).join('  ').trimEnd();
}

export function discrepancies({ total, counts, data }: Report, recipients: readonly Recipient[]): string[] {
  const sum = Object.values(counts).reduce((all, count) => all + count, 0);
  const rows = new Map(data.map((row) => [row.to, row]));
  const strays = recipients.flatMap(({ to }) => strayOf(to, rows.get(to)) ?? []);
  return [
    ...(total === recipients.length ? [] : [`The report has ${total} recipients, not ${recipients.length}.`]),
    ...(sum === total ? [] : [`The states add up to ${sum}, not to ${total}.`]),
    ...(rows.size === data.length ? [] : [`${data.length - rows.size} recipients are in the report twice.`]),
    ...(strays.length === 0 ? [] : [`${strays.length} messages ended otherwise than they should:`, ...first(strays)]),
  ];
}

function strayOf(to: string, row: Pick<ReportRow, 'state' | 'code'> | undefined): string | undefined {
  const { ending, code } = fateOf.get(to) ?? usual;
  if (row === undefined) return `${to} is not in the report`;
  if (row.state === ending && row.code === code) return undefined;
  return `${to} is ${stateOf(row.state, row.code)}, not ${stateOf(ending, code)}`;
}

function stateOf(state: ReportedState, code: string | undefined): string {
  return code === undefined ? state : `${state} (${code})`;
}

function first(sentences: readonly string[]): readonly string[] {
  const shown = sentences.slice(0, 10);
  return sentences.length === shown.length ? shown : [...shown, `and ${sentences.length - shown.length} more`];
}

import { isMoment } from '../../lib/http/query.ts';
import { addresseeForm, addresseeOf } from '../../lib/messages/request/addressee.ts';
import type { Recipient } from '../../lib/opt-outs/person-name.ts';

/*
 * The file of an import of opt-outs (D55): CSV as RFC 4180 has it, in UTF-8, with a column `recipient` and, if wanted, a column `at`. No
 * value of either has a line break, so a line is a row, and what is wrong with one hides nothing of the next: a quote that does not end
 * is a fault of its line.
 */

/** When each has stopped, in milliseconds; undefined where the file does not say: at the moment of the import. */
export type OptOutRows = ReadonlyMap<Recipient, number | undefined>;

export interface OptOutFile {
  readonly rows: OptOutRows;
  /** Rows that name somebody again: the later time counts. */
  readonly duplicates: number;
  /** The first ones, each with its line. With any, nothing of the file is to be written. */
  readonly faults: readonly string[];
  readonly moreFaults: number;
}

/** What is kept in memory has a bound, whatever is in the file: some 200 bytes for each person. */
export const mostPeople = 2_000_000;
const mostFaults = 100;
/** Longer than a row can be whose values are in order. */
const longestLine = 1_000;

/** Reads and judges a file to its end. No person can have stopped after `nowMs`. */
export async function readOptOutFile(
  chunks: AsyncIterable<Uint8Array>,
  nowMs: number,
  most = mostPeople,
): Promise<OptOutFile> {
  const rows = new Map<Recipient, number | undefined>();
  const faults: string[] = [];
  let [line, duplicates, moreFaults] = [0, 0, 0];
  const refuse = (reasons: readonly string[]) => {
    for (const reason of reasons) {
      if (faults.length < mostFaults) faults.push(`line ${line}: ${reason}`);
      else moreFaults += 1;
    }
  };
  let columns: readonly string[] | undefined;
  for await (const text of linesOf(chunks)) {
    line += 1;
    if (columns === undefined) {
      columns = fieldsOf(text) ?? [];
      refuse(headerFaults(text, columns));
      if (!columns.includes('recipient')) break;
    } else if (text !== '') {
      const row = rowOf(text, columns, nowMs);
      refuse(row.faults);
      if (row.recipient === undefined) continue;
      if (rows.has(row.recipient)) duplicates += 1;
      rows.set(row.recipient, laterOf(rows, row));
      if (rows.size > most) break;
    }
  }
  if (rows.size > most) refuse([`there are more than ${most} people: part the file`]);
  line ||= 1;
  if (columns === undefined) refuse([`the file is empty; ${columnsWanted}`]);
  return { rows, duplicates, faults, moreFaults };
}

/** The lines of a file without their ends, `\r\n`, `\n` or `\r`; one that is too long is cut so that it still is. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  // A byte order mark is left out, and what is no UTF-8 becomes U+FFFD, which no value may have.
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    // A carriage return at the end may be the half of a line's end.
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    if (rest.length > longestLine && !rest.endsWith('\r')) rest = rest.slice(0, longestLine + 1);
    yield* lines;
  }
  rest = (rest + decoder.decode()).replace(/\r$/, '');
  if (rest !== '') yield rest;
}

const columnsWanted = 'the first line names the columns: recipient, and at where it is known';

function headerFaults(text: string, columns: readonly string[]): string[] {
  if (text.includes('\uFFFD')) return ['the file is not UTF-8'];
  const others = columns.filter((column) => column !== 'recipient' && column !== 'at');
  return [
    ...(columns.includes('recipient') ? [] : [`there is no column recipient; ${columnsWanted}`]),
    ...others.map((column) => `a column ${shown(column)} is not known; ${columnsWanted}`),
    ...(new Set(columns).size < columns.length ? ['a column is there twice'] : []),
  ];
}

interface Row {
  readonly recipient?: Recipient;
  readonly atMs?: number | undefined;
  readonly faults: readonly string[];
}

function rowOf(text: string, columns: readonly string[], nowMs: number): Row {
  if (text.length > longestLine) return { faults: [`is longer than ${longestLine} characters`] };
  if (text.includes('\uFFFD')) return { faults: ['is not UTF-8'] };
  const fields = fieldsOf(text);
  if (fields === undefined) return { faults: [`the quotes do not fit, received ${shown(text)}`] };
  if (fields.length !== columns.length) {
    return { faults: [`has too ${fields.length < columns.length ? 'few' : 'many'} values, received ${shown(text)}`] };
  }
  const value = (column: string) => fields[columns.indexOf(column)] ?? '';
  const [recipient, at] = [value('recipient'), value('at')];
  const atMs = isMoment(at) ? Date.parse(at) : undefined;
  const faults = [
    ...(addresseeForm.test(recipient) ? [] : [`recipient ${recipientWanted}, received ${shown(recipient)}`]),
    ...(at === '' || atMs !== undefined ? [] : [`at must be ${timeWanted}, received ${shown(at)}`]),
    ...(atMs !== undefined && atMs > nowMs ? [`at is in the future, received ${shown(at)}`] : []),
  ];
  if (faults.length > 0) return { faults };
  return { recipient: addresseeOf(recipient), atMs, faults };
}

const recipientWanted = 'must be 8 to 15 digits with an optional +, or a business-scoped user id';
const timeWanted = 'a time such as 2026-11-22T10:00:00Z (RFC 3339), or empty';

const field = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;

/** The values of a line; undefined where a quote does not end, or stands where none may. */
function fieldsOf(line: string): string[] | undefined {
  const fields: string[] = [];
  field.lastIndex = 0;
  for (;;) {
    const [, quoted, plain = '', end] = field.exec(line) ?? [];
    if (end === undefined) return undefined;
    fields.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '') return fields;
  }
}

/** Without a time it is the moment of the import, which is the latest that there is. */
function laterOf(rows: OptOutRows, { recipient = '', atMs }: Row): number | undefined {
  if (!rows.has(recipient)) return atMs;
  const before = rows.get(recipient);
  return before === undefined || atMs === undefined ? undefined : Math.max(before, atMs);
}

/** So that it can be found, and does nothing to a terminal. */
function shown(text: string): string {
  return JSON.stringify(text.length <= 40 ? text : `${text.slice(0, 37)}...`);
}

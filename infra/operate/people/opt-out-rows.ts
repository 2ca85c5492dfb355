import { isMoment } from '../../../lib/http/query.ts';
import {
  addressForm,
  addressFormText,
  addressHint,
  canonicalAddress,
} from '../../../lib/messages/request/recipient-address.ts';
import type { Recipient } from '../../../lib/opt-outs/person-name.ts';

/**
 * The CSV file of an import (D55) is UTF-8 by RFC 4180, or with semicolons or tabs, as spreadsheets write it. No value
 * has a line break, so each line is a row: an unclosed quote is one line's fault.
 */

/** An opt-out has its time in milliseconds; undefined means the moment of the import. */
export type OptOutRows = ReadonlyMap<Recipient, number | undefined>;

export interface OptOutFile {
  readonly rows: OptOutRows;
  /** These rows repeat a person; the later time counts. */
  readonly duplicates: number;
  /** A file with faults must not be written. The first ones are here, each with its line. */
  readonly faults: readonly string[];
  readonly moreFaults: number;
}

/** A person takes some 200 bytes of memory. */
export const mostPeople = 2_000_000;
const mostFaults = 100;
/** No valid row is longer. */
const longestLine = 1_000;

/** Reads and checks a whole file. No opt-out may be later than `nowMs`. */
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
  let fieldsOf = fieldsBetween(',');
  for await (const text of linesOf(chunks)) {
    line += 1;
    if (columns === undefined) {
      fieldsOf = fieldsBetween(separatorIn(text));
      columns = (fieldsOf(text) ?? []).map((name) => name.trim().toLowerCase());
      refuse(headerFaults(text, columns));
      if (!columns.includes('recipient')) break;
    } else if (text !== '') {
      const row = rowOf(text, { columns, fieldsOf, nowMs });
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

/** Yields the lines of a file without `\r\n`, `\n` or `\r`. An overlong line is cut, but stays too long. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  // The decoder drops a byte order mark and turns invalid UTF-8 into U+FFFD, which no value may contain.
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    // A carriage return at the end of a chunk may be half of a line end.
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

interface Reading {
  readonly columns: readonly string[];
  readonly fieldsOf: (line: string) => string[] | undefined;
  readonly nowMs: number;
}

function rowOf(text: string, { columns, fieldsOf, nowMs }: Reading): Row {
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
    ...recipientFaults(recipient),
    ...(at === '' || atMs !== undefined ? [] : [`at must be ${timeWanted}, received ${shown(at)}`]),
    ...(atMs !== undefined && atMs > nowMs ? [`at is in the future, received ${shown(at)}`] : []),
  ];
  if (faults.length > 0) return { faults };
  return { recipient: canonicalAddress(recipient), atMs, faults };
}

const timeWanted = 'a time such as 2026-11-22T10:00:00Z (RFC 3339), or empty';

/** A spreadsheet writes a long number so: its last digits are lost, and nothing can bring them back. */
const rounded = /^\+?\d+(?:[.,]\d+)?E\+?\d+$/i;

function recipientFaults(recipient: string): string[] {
  if (addressForm.test(recipient)) return [];
  if (rounded.test(recipient)) {
    return [
      `the spreadsheet has rounded this number: make the column a text, and write the file again, received ${shown(recipient)}`,
    ];
  }
  return [`recipient ${addressFormText}, received ${shown(recipient)}${addressHint(recipient)}`];
}

const separators = [',', ';', '\t'] as const;
type Separator = (typeof separators)[number];

/** The names of columns have none of them, so the first one parts the values; a comma in a file of one column. */
function separatorIn(header: string): Separator {
  const places = separators.map((each) => ({ each, at: header.indexOf(each) })).filter(({ at }) => at !== -1);
  return places.sort((one, other) => one.at - other.at)[0]?.each ?? ',';
}

const fieldPatterns: Readonly<Record<Separator, RegExp>> = {
  ',': /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y,
  ';': /(?:"((?:[^"]|"")*)"|([^";]*))(;|$)/y,
  '\t': /(?:"((?:[^"]|"")*)"|([^"\t]*))(\t|$)/y,
};

/** The function returns the values of a line; undefined for an unclosed or misplaced quote. */
function fieldsBetween(separator: Separator): (line: string) => string[] | undefined {
  const field = fieldPatterns[separator];
  return (line) => {
    const fields: string[] = [];
    field.lastIndex = 0;
    for (;;) {
      const [, quoted, plain = '', end] = field.exec(line) ?? [];
      if (end === undefined) return undefined;
      fields.push(quoted?.replaceAll('""', '"') ?? plain);
      if (end === '') return fields;
    }
  };
}

/** A row without a time means the moment of the import, which is the latest. */
function laterOf(rows: OptOutRows, { recipient = '', atMs }: Row): number | undefined {
  if (!rows.has(recipient)) return atMs;
  const before = rows.get(recipient);
  return before === undefined || atMs === undefined ? undefined : Math.max(before, atMs);
}

/** Shortens a value, and makes it safe for a terminal. */
function shown(text: string): string {
  return JSON.stringify(text.length <= 40 ? text : `${text.slice(0, 37)}...`);
}

import { utcDay } from '../../pricing/rates-of-day.ts';
import { monthOf } from '../budget/budgets.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import { type DispatchRecord, type Line, type RecordKind, recordKinds, type Statement } from './statement.ts';

/*
 * A step from statement to truth is one transaction: it writes statements and adds their differences to the sums.
 * Limits of DynamoDB may require several.
 */

/** Sums are grouped by these values of a dispatch's line, empty for none. */
export const spendGroups = ['campaign', 'template', 'did', 'market'] as const;
export type SpendGroup = (typeof spendGroups)[number];

const groupValues: Readonly<Record<SpendGroup, (head: DispatchHead, line: Line) => string>> = {
  campaign: ({ campaignId }) => String(campaignId ?? ''),
  template: ({ templateName, templateLanguage }) => `${templateName}/${templateLanguage}`,
  did: ({ did }) => did,
  market: (_head, { market }) => market,
};

export const sumKinds = ['messages', 'billed', 'units'] as const;
export type SumKind = (typeof sumKinds)[number];

/** Returns a sum's attribute in a day's item. The value stands last because it may contain any character. */
export function sumAttribute(group: SpendGroup, kind: SumKind, value: string): string {
  return `${group}#${kind}#${value}`;
}

/** Returns the attribute of a day's item for one kind of the record, of dispatches accepted on that day. */
export function recordAttribute(kind: RecordKind): string {
  return `record#${kind}#`;
}

/** A step is one transaction; all its dispatches belong to one client. */
export interface CountStep {
  readonly clientId: number;
  readonly stated: readonly {
    readonly head: DispatchHead;
    /** The statement has this version so far. */
    readonly before: number | undefined;
    readonly statement: Statement;
  }[];
  /** Additions are by day and attribute. */
  readonly days: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** These are added to committed money, by month (`YYYY-MM`). */
  readonly months: ReadonlyMap<string, number>;
}

/**
 * An update expression has at most 300 operators. One line takes nine for its dispatch and three for its market; the
 * record takes four.
 */
const mostSumsOfDay = 270;
const mostLines = 80;
/** Days, statements and months stay below a transaction's hundred actions. */
const mostActions = 95;

/** The future statement has no version yet. */
export type Truth = Omit<Statement, 'version'>;

/**
 * Returns the next step from statement to truth, or undefined for no change. A partial step states some lines as they
 * were, so that sums and statement agree after each.
 */
export function nextStep(
  head: DispatchHead,
  stated: Statement | undefined,
  truth: Truth,
): { readonly step: CountStep; readonly isLast: boolean } | undefined {
  const [old, wanted] = [linesByKey(stated?.lines ?? []), linesByKey(truth.lines)];
  const keys = [...new Set([...old.keys(), ...wanted.keys()])].filter((key) => !isSame(old.get(key), wanted.get(key)));
  if (keys.length === 0 && stated !== undefined && restOf(stated) === restOf(truth)) return undefined;
  const taken = keys.slice(0, mostLines);
  const after = new Map(old);
  const days = new Map<string, Map<string, number>>();
  for (const key of taken) {
    const [was, is] = [old.get(key), wanted.get(key)];
    const line = is ?? was;
    if (line === undefined) continue;
    if (is === undefined) after.delete(key);
    else after.set(key, is);
    for (const kind of sumKinds) addTo(days, { head, line, kind, by: (is?.[kind] ?? 0) - (was?.[kind] ?? 0) });
  }
  addRecord(days, head, { was: stated?.record, is: truth.record });
  const lines = [...after].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, line]) => line);
  const statement = { ...truth, version: (stated?.version ?? 0) + 1, lines };
  const adjusted = (truth.adjustedUnits ?? 0) - (stated?.adjustedUnits ?? 0);
  const months = new Map(adjusted === 0 ? [] : [[monthOf(head.acceptedAtMs), adjusted]]);
  const step = {
    clientId: head.clientId,
    stated: [{ head, before: stated?.version, statement }],
    days,
    months,
  };
  return { step, isLast: taken.length === keys.length };
}

function addTo(
  days: Map<string, Map<string, number>>,
  {
    head,
    line,
    kind,
    by,
  }: { readonly head: DispatchHead; readonly line: Line; readonly kind: SumKind; readonly by: number },
): void {
  if (by === 0) return;
  const sums = days.get(line.day) ?? new Map<string, number>();
  days.set(line.day, sums);
  for (const group of spendGroups) {
    const attribute = sumAttribute(group, kind, groupValues[group](head, line));
    sums.set(attribute, (sums.get(attribute) ?? 0) + by);
  }
}

/** Counts under the day of acceptance, which never changes. Mostly deliveries write that day's item anyway. */
function addRecord(
  days: Map<string, Map<string, number>>,
  head: DispatchHead,
  { was, is }: { readonly was: DispatchRecord | undefined; readonly is: DispatchRecord },
): void {
  const changes = recordKinds.map((kind) => [recordAttribute(kind), is[kind] - (was?.[kind] ?? 0)] as const);
  const changed = changes.filter(([, by]) => by !== 0);
  if (changed.length === 0) return;
  const day = utcDay(head.acceptedAtMs);
  days.set(day, added(days.get(day) ?? new Map<string, number>(), new Map(changed)));
}

/** Joins steps of several dispatches into as few transactions as possible. */
export function together(steps: readonly CountStep[]): CountStep[] {
  const joined: CountStep[] = [];
  for (const ofClient of Map.groupBy(steps, ({ clientId }) => clientId).values()) {
    let last: CountStep | undefined;
    for (const step of ofClient) {
      const both = last === undefined ? undefined : joinedStep(last, step);
      if (both === undefined || !fits(both)) {
        if (last !== undefined) joined.push(last);
        last = step;
      } else last = both;
    }
    if (last !== undefined) joined.push(last);
  }
  return joined;
}

function joinedStep(one: CountStep, other: CountStep): CountStep {
  const days = new Map([...one.days].map(([day, sums]) => [day, new Map(sums)]));
  for (const [day, sums] of other.days) days.set(day, added(days.get(day) ?? new Map<string, number>(), sums));
  const months = added(new Map(one.months), other.months);
  return { clientId: one.clientId, stated: [...one.stated, ...other.stated], days, months };
}

function added(sums: Map<string, number>, more: ReadonlyMap<string, number>): Map<string, number> {
  for (const [key, by] of more) sums.set(key, (sums.get(key) ?? 0) + by);
  return sums;
}

function fits({ stated, days, months }: CountStep): boolean {
  const isSmall = [...days.values()].every((sums) => sums.size <= mostSumsOfDay);
  return isSmall && stated.length + days.size + months.size <= mostActions;
}

function linesByKey(lines: readonly Line[]): Map<string, Line> {
  return new Map(lines.map((line) => [`${line.day} ${line.market}`, line]));
}

function isSame(one: Line | undefined, other: Line | undefined): boolean {
  return sumKinds.every((kind) => (one?.[kind] ?? 0) === (other?.[kind] ?? 0));
}

/** Returns the statement without lines and version. */
function restOf({ counts, record, cost, adjustedUnits }: Truth): string {
  const { units, basis, final } = cost;
  return JSON.stringify([
    counts === undefined ? null : Object.entries(counts).sort(),
    recordKinds.map((kind) => record[kind]),
    units,
    basis,
    final,
    adjustedUnits ?? null,
  ]);
}

/** The bar shows states of a recipient in this order. */
export const states = ['read', 'delivered', 'sent', 'held', 'pending', 'failed', 'expired', 'unknown'] as const;
export type MessageState = (typeof states)[number];
export type Counts = Readonly<Record<MessageState, number>>;

/** The filter shows states in this order: those that need attention come first. */
export const offered: readonly MessageState[] = [
  'failed',
  'expired',
  'unknown',
  'held',
  'pending',
  'sent',
  'delivered',
  'read',
];

export const dispatchStates = ['scheduled', 'running', 'held', 'complete', 'cancelled'] as const;
export type DispatchState = (typeof dispatchStates)[number];

export interface Names {
  readonly client: string;
  readonly campaigns: ReadonlyMap<number, string>;
  readonly channels: ReadonlyMap<string, string>;
}

export function campaignNameOf(id: number, { campaigns }: Pick<Names, 'campaigns'>): string {
  return campaigns.get(id) ?? `Campaign ${id}`;
}

/** Returns campaigns with a name, and campaigns that a dispatch has. */
export function campaignChoices(
  seen: ReadonlySet<number>,
  names: Pick<Names, 'campaigns'>,
): readonly (readonly [string, string])[] {
  const ids = new Set([...names.campaigns.keys(), ...seen]);
  return [...ids].map((id) => [String(id), campaignNameOf(id, names)]);
}

/** A cancelled dispatch counts what its owner has called off among the failed. */
export function failedWords(state: DispatchState): string {
  return state === 'cancelled' ? 'cancelled or failed' : 'failed';
}

export const stateTones: Readonly<Record<string, string>> = { complete: 'good', held: 'warn', running: 'busy' };

export interface Schedule {
  readonly send_at?: string;
  readonly window?: string;
  readonly days?: string;
  readonly zone?: string;
  readonly from: string;
}

export interface Head {
  readonly dispatch_id: string;
  readonly client_id: number;
  readonly did: string;
  readonly template: { readonly name: string; readonly language: string };
  readonly campaign_id?: number;
  readonly accepted_at: string;
  readonly schedule?: Schedule;
  readonly retry_of?: string;
  readonly retried_by?: readonly string[];
  readonly total: number;
  readonly counts: Counts;
  readonly complete: boolean;
  readonly cost: {
    readonly amount: number;
    readonly currency: string;
    readonly basis: 'platform' | 'list';
    readonly final: boolean;
  };
}

export interface Found extends Head {
  readonly state: DispatchState;
}

export interface Paged<T> {
  readonly data: readonly T[];
  readonly paging: { readonly cursors: { readonly after?: string } };
}

export interface ReportRow {
  readonly index: number;
  /** An erased person has no address. */
  readonly to?: string;
  readonly state: MessageState;
  readonly code?: string;
  readonly reason?: string;
  readonly platform_message_id?: string;
  readonly updated_at?: string;
  readonly scheduled_for?: string;
  readonly duplicate_of?: number;
}

export type Report = Head & Paged<ReportRow>;

/** Returns the key of a dispatch in an address: number and id. */
export function keyOf({ did, dispatch_id }: Pick<Head, 'did' | 'dispatch_id'>): string {
  return `${did}/${dispatch_id}`;
}

/** The service itself ends a recipient with these codes, without a call of the platform. */
const neverCalled: ReadonlySet<string> = new Set(['cancelled', 'opted_out']);

/** Tells from the report whether the platform was called, and so the inbox may show the result. */
export function wasCalled({ state, code = '' }: Pick<ReportRow, 'state' | 'code'>): boolean {
  return state !== 'pending' && !neverCalled.has(code);
}

const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** A clock may be apart by this, and a send that reads its template at the platform takes this long to be accepted. */
const [earlierMs, laterMs] = [2_000, 30_000];

/** Returns the query of the list that has this dispatch: its id (a ULID) begins with the time of its request. */
export function timeOfDispatch(id: string): { readonly from: string; readonly to: string } {
  const ms = [...id.slice(0, 10)].reduce((sum, letter) => sum * 32 + crockford.indexOf(letter), 0);
  return { from: new Date(ms - earlierMs).toISOString(), to: new Date(ms + laterMs).toISOString() };
}

/** The owner has ended these on purpose, so the console does not show them as trouble. */
export function isCalledOff({ code }: Pick<ReportRow, 'code'>): boolean {
  return code === 'cancelled';
}

/** Throws for text that is no key: an address may hold anything. */
export function reportPath(key: string): string {
  const [, did, dispatchId] = /^(\d{1,20})\/([0-9A-Za-z]{1,40})$/.exec(key) ?? [];
  if (did === undefined || dispatchId === undefined) throw new Error('No dispatch has this address.');
  return `/v1/template/messages/${did}/${dispatchId}`;
}

export interface Share {
  readonly state: MessageState;
  readonly count: number;
  readonly percent: number;
}

/** The smallest share stays visible, also one of 10,000. */
const leastPercent = 1;

/** Returns the shares of the bar in percent, 100 in all; empty without recipients. */
export function sharesOf(counts: Counts): readonly Share[] {
  const parts = states.filter((state) => counts[state] > 0).map((state) => ({ state, count: counts[state] }));
  const total = parts.reduce((sum, { count }) => sum + count, 0);
  const isSmall = (count: number) => (count / total) * 100 < leastPercent;
  const small = parts.filter(({ count }) => isSmall(count));
  const room = 100 - small.length * leastPercent;
  const large = total - small.reduce((sum, { count }) => sum + count, 0);
  return parts.map((part) => ({
    ...part,
    percent: isSmall(part.count) ? leastPercent : (part.count / large) * room,
  }));
}

/** Counts recipients with a final state. The percentage is rounded down, so that 100 means all. */
export function progressOf({ total, counts }: Pick<Head, 'total' | 'counts'>) {
  const ended = total - counts.pending;
  return { ended, percent: total === 0 ? 100 : Math.floor((ended / total) * 100) };
}

export function countsInWords(counts: Counts): string {
  return states
    .filter((state) => counts[state] > 0)
    .map((state) => `${counts[state].toLocaleString('en')} ${state}`)
    .join(', ');
}

export interface Span {
  /** No dispatch in the answer was accepted later; undefined sets no limit. */
  readonly newest?: string | undefined;
  /** The answer reaches back to the oldest dispatch. */
  readonly isAll: boolean;
}

/** Replaces a span of the list by a newer answer. Rows that the answer lacks no longer fit the filters. */
export function merged<T extends Head>(
  known: readonly T[],
  fresh: readonly T[],
  { newest, isAll }: Span,
): readonly T[] {
  const last = fresh.at(-1);
  if (last === undefined && !isAll) return known;
  const before = newest === undefined ? 0 : placeOf(known, (row) => row.accepted_at <= newest);
  if (isAll || last === undefined) return [...known.slice(0, before), ...fresh];
  // Only rows of the last row's time can be in both lists: 100,000 keys need no comparison.
  const same = placeOf(known, (row) => row.accepted_at <= last.accepted_at);
  const older = placeOf(known, (row) => row.accepted_at < last.accepted_at);
  const keys = new Set(fresh.map(keyOf));
  const others = known.slice(same, older).filter((row) => !keys.has(keyOf(row)));
  return [...known.slice(0, before), ...fresh, ...others, ...known.slice(older)];
}

function placeOf<T>(list: readonly T[], holds: (row: T) => boolean): number {
  const at = list.findIndex(holds);
  return at < 0 ? list.length : at;
}

/** Estimates the end by the pace between two looks; undefined when nothing moves. */
export function endOf(looks: readonly { readonly atMs: number; readonly pending: number }[]): number | undefined {
  const [first, last] = [looks[0], looks.at(-1)];
  if (first === undefined || last === undefined || last.pending === 0) return undefined;
  const done = first.pending - last.pending;
  return done <= 0 ? undefined : last.atMs + (last.pending * (last.atMs - first.atMs)) / done;
}

export interface WaitingFor {
  readonly code: string;
  readonly count: number;
}

/** Returns codes that pending recipients wait for, and the next time at which one may leave by its schedule. */
export function waitingOf(rows: readonly ReportRow[]): {
  readonly holds: readonly WaitingFor[];
  readonly scheduled: number;
  readonly opensAt: string | undefined;
} {
  const counted = new Map<string, number>();
  const pending = rows.filter((row) => row.state === 'pending');
  for (const { code } of pending) if (code !== undefined) counted.set(code, (counted.get(code) ?? 0) + 1);
  const scheduled = counted.get('scheduled') ?? 0;
  counted.delete('scheduled');
  return {
    holds: [...counted].map(([code, count]) => ({ code, count })),
    scheduled,
    opensAt: pending
      .flatMap((row) => row.scheduled_for ?? [])
      .sort()
      .at(0),
  };
}

/** Returns the state of a dispatch, when the list has none. */
export function stateOf(head: Head, rows: readonly ReportRow[], listed: DispatchState | undefined): DispatchState {
  if (listed === 'cancelled') return 'cancelled';
  if (head.complete) return 'complete';
  const { holds, scheduled } = waitingOf(rows);
  if (holds.length > 0) return 'held';
  return scheduled > 0 && scheduled === rows.length && head.counts.pending === head.total ? 'scheduled' : 'running';
}

/** Shows the cost, which is counted later than receipts: zero before that is no price. */
export function costInList({ amount, currency, final: isFinal }: Head['cost']): string {
  return amount === 0 && !isFinal ? 'cost not counted yet' : moneyOf(amount, currency);
}

export function moneyOf(amount: number, currency: string): string {
  return `${amountOf(amount)} ${currency}`;
}

/** Returns dollars to the cent, and what costs less to the hundredth of one. */
export function amountOf(amount: number): string {
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: amount !== 0 && Math.abs(amount) < 1 ? 4 : 2 };
  return amount.toLocaleString('en', digits);
}

import { control, sentenceOf } from './api.ts';
import { type Counters, counters } from './live.ts';
import type { DroppedRows, InboxRow } from './model.ts';
import { createStore } from './store.ts';

export interface Listed extends InboxRow {
  readonly text: string;
}

export interface Inbox {
  readonly rows: readonly Listed[];
  /** The total includes messages that are too old for the list. */
  readonly total: number;
  /** The simulator has dropped these refused sends. */
  readonly dropped: readonly DroppedRows[];
  readonly state: 'loading' | 'ready' | 'failed';
  readonly problem: string;
}

interface InboxPage {
  readonly total: number;
  readonly dropped: readonly DroppedRows[];
  readonly data: readonly InboxRow[];
}

export const inbox = createStore<Inbox>({ rows: [], total: 0, dropped: [], state: 'loading', problem: '' });

/** Rows up to this place are hidden; the simulator keeps them. */
export const clearedTo = createStore(0);

export const mostListed = 20_000;
const firstPage = 200;
const laterPage = 2_000;

let known: Counters | undefined;
let busy = false;

/** Keeps the list in step with the simulator. Changes during a read are fetched after it. */
export function followInbox(): void {
  counters.subscribe(() => void catchUp());
  void catchUp();
}

export function readInboxAgain(): void {
  inbox.set({ ...inbox.get(), state: 'loading', problem: '' });
  void catchUp();
}

async function catchUp(): Promise<void> {
  const told = counters.get();
  if (busy || told === undefined || told === known) return;
  busy = true;
  try {
    if (known?.world !== told.world) await loadAll();
    else if (known.touched !== told.touched) await loadTouched();
    else if (known.messages !== told.messages || known.refused !== told.refused) await loadNewer();
    known = told;
  } catch (error) {
    inbox.set({
      ...inbox.get(),
      state: inbox.get().rows.length === 0 ? 'failed' : 'ready',
      problem: sentenceOf(error),
    });
  } finally {
    busy = false;
  }
  if (counters.get() !== told) await catchUp();
}

function pageBefore(place: number | undefined, limit: number): Promise<InboxPage> {
  return control(`inbox?limit=${limit}${place === undefined ? '' : `&before=${place}`}`);
}

/** Shows the newest rows at once, then loads older ones. */
async function loadAll(): Promise<void> {
  if (known?.world !== counters.get()?.world) clearedTo.set(0);
  let page = await pageBefore(undefined, firstPage);
  show(page, page.data.map(listed));
  for (;;) {
    const { rows } = inbox.get();
    const oldest = rows.at(-1)?.place ?? 1;
    if (oldest <= 1 || rows.length >= mostListed) return;
    page = await pageBefore(oldest, laterPage);
    if (page.data.length === 0) return;
    inbox.set({ ...inbox.get(), rows: [...rows, ...page.data.map(listed)] });
  }
}

async function loadNewer(): Promise<void> {
  const newest = inbox.get().rows[0]?.place ?? 0;
  const fresh: InboxRow[] = [];
  let before: number | undefined;
  for (;;) {
    const page = await pageBefore(before, fresh.length === 0 ? firstPage : laterPage);
    fresh.push(...page.data.filter(({ place }) => place > newest));
    const last = page.data.at(-1)?.place ?? 0;
    if (last <= newest + 1 || fresh.length >= mostListed) {
      return show(page, [...fresh.map(listed), ...inbox.get().rows]);
    }
    before = last;
  }
}

/** Updates the newest page of rows. When more rows arrived than a page holds, reads everything. */
async function loadTouched(): Promise<void> {
  const page = await pageBefore(undefined, laterPage);
  const { data } = page;
  const fresh = new Map(data.map((row) => [row.place, row]));
  const newest = inbox.get().rows[0]?.place ?? 0;
  if (data.length === laterPage && (data.at(-1)?.place ?? 0) > newest + 1) return loadAll();
  const added = data.filter(({ place }) => place > newest).map(listed);
  const rows = inbox.get().rows.map((row) => {
    const now = fresh.get(row.place);
    return now === undefined ? row : listed(now);
  });
  show(page, [...added, ...rows]);
}

/** Lists the rows, without refused sends that the simulator has dropped. */
function show({ total, dropped }: InboxPage, rows: readonly Listed[]): void {
  const isNew = dropped.some(({ count }, at) => count !== inbox.get().dropped[at]?.count);
  const kept = isNew ? rows.filter((row) => !dropped.some((each) => isDropped(row, each))) : rows;
  inbox.set({ rows: kept.slice(0, mostListed), total, dropped, state: 'ready', problem: '' });
}

function isDropped({ refusal, place }: InboxRow, { kind, since_place: since }: DroppedRows): boolean {
  return refusal?.kind === kind && place < since;
}

function listed(row: InboxRow): Listed {
  return { ...row, text: `+${row.to} ${row.template} ${row.dispatch} ${row.preview} ${row.id}`.toLowerCase() };
}

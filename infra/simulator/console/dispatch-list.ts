import { sentenceOf } from './api.ts';
import { type Found, keyOf, merged, type Paged } from './dispatch-model.ts';
import { asUser, forClient } from './session.ts';
import { createStore } from './store.ts';

/** A dispatch with the text that a search looks through. */
export interface Listed extends Found {
  readonly text: string;
}

export interface DispatchList {
  /** Newest first; undefined while the first page is being read. */
  readonly rows: readonly Listed[] | undefined;
  /** Where the next page begins; undefined: all are read. */
  readonly after: string | undefined;
  readonly isReading: boolean;
  readonly problem: string;
  /** The templates and campaigns of all rows, noted as rows come: a hundred thousand are not looked through at each page. */
  readonly templates: ReadonlySet<string>;
  readonly campaigns: ReadonlySet<number>;
}

const unread: DispatchList = {
  rows: undefined,
  after: undefined,
  isReading: false,
  problem: '',
  templates: new Set(),
  campaigns: new Set(),
};
export const dispatchList = createStore<DispatchList>(unread);

const pageSize = 100;
/** So many pages are read at once to find one row that is as the filters ask, and to meet what is known. */
const mostPages = 5;

/** For whom and by which filters the list is, as far as it was asked for. */
let asked = { who: '', query: '' };
let generation = 0;

/** Lists what the filters (a query) leave of what the user (and the client) sees, from the newest on. */
export function listDispatches(who: string, query: string): void {
  if (who === asked.who && query === asked.query && dispatchList.get() !== unread) return;
  asked = { who, query };
  generation += 1;
  dispatchList.set({ ...unread });
  void readOn();
}

/** Reads the first page, or what follows what is known. */
export async function readOn(): Promise<void> {
  const { rows, after, isReading } = dispatchList.get();
  if (isReading || (rows !== undefined && after === undefined)) return;
  await reading(async (isStill) => {
    let cursor = after;
    for (let page = 0; page < mostPages; page += 1) {
      const { data, paging } = await pageOf(cursor === undefined ? {} : { cursor });
      if (!isStill()) return;
      cursor = paging.cursors.after;
      const known = dispatchList.get();
      const seen = new Set(known.rows?.slice(-pageSize).map(keyOf));
      const fresh = data.filter((row) => !seen.has(keyOf(row)));
      dispatchList.set({ ...noted(known, fresh), rows: [...(known.rows ?? []), ...fresh], after: cursor });
      if (fresh.length > 0 || cursor === undefined) return;
    }
  });
}

/** Reads the newest again, and what is shown further down and still moves. */
export async function readNewest(seen: readonly Listed[]): Promise<void> {
  const { rows, isReading } = dispatchList.get();
  if (isReading) return;
  if (rows === undefined) return readOn();
  await reading(async (isStill) => {
    const fresh: Listed[] = [];
    // The newest pages are read: they meet what was newest, or more has come than they hold.
    const known = new Set(rows.slice(0, mostPages * pageSize).map(keyOf));
    let cursor: string | undefined;
    let meets = rows.length === 0;
    for (let page = 0; page === 0 || (page < mostPages && !meets && cursor !== undefined); page += 1) {
      const { data, paging } = await pageOf(cursor === undefined ? {} : { cursor });
      fresh.push(...data);
      cursor = paging.cursors.after;
      meets ||= data.some((row) => known.has(keyOf(row)));
    }
    if (!isStill()) return;
    const now = noted(dispatchList.get(), fresh);
    // More has come than was read: the list begins again, so that nothing is missing in the middle.
    if (!meets) return dispatchList.set({ ...now, rows: fresh, after: cursor });
    const isAll = cursor === undefined;
    dispatchList.set({ ...now, rows: merged(now.rows ?? [], fresh, { isAll }), after: isAll ? undefined : now.after });
    await readMoving(seen.filter((row) => !row.complete && !fresh.some((each) => keyOf(each) === keyOf(row))));
  });
}

/** Those of them that are further down, by the time at which they were accepted. */
async function readMoving(moving: readonly Listed[]): Promise<void> {
  const [first] = moving;
  if (first === undefined) return;
  const mine = generation;
  const to = new Date(Date.parse(first.accepted_at) + 1).toISOString();
  const { data, paging } = await pageOf({ to, limit: '30' });
  const now = dispatchList.get();
  if (mine !== generation || now.rows === undefined) return;
  const span = { newest: first.accepted_at, isAll: paging.cursors.after === undefined };
  dispatchList.set({ ...now, rows: merged(now.rows, data, span) });
}

/** The list with what filters may name of these rows; a set changes only where one of them brings something new. */
function noted(list: DispatchList, rows: readonly Listed[]): DispatchList {
  return {
    ...list,
    templates: withMore(
      list.templates,
      rows.map((row) => row.template.name),
    ),
    campaigns: withMore(
      list.campaigns,
      rows.flatMap((row) => row.campaign_id ?? []),
    ),
  };
}

function withMore<T>(known: ReadonlySet<T>, more: readonly T[]): ReadonlySet<T> {
  return more.every((each) => known.has(each)) ? known : new Set([...known, ...more]);
}

/** Says what is being read, and why it could not be, unless something else was asked for meanwhile. */
async function reading(read: (isStill: () => boolean) => Promise<void>): Promise<void> {
  const mine = generation;
  const isStill = () => mine === generation;
  dispatchList.set({ ...dispatchList.get(), isReading: true, problem: '' });
  let problem = '';
  try {
    await read(isStill);
  } catch (error) {
    problem = sentenceOf(error);
  }
  if (isStill()) dispatchList.set({ ...dispatchList.get(), isReading: false, problem });
}

async function pageOf(given: Readonly<Record<string, string>>): Promise<Paged<Listed>> {
  const query = new URLSearchParams({
    ...Object.fromEntries(new URLSearchParams(asked.query)),
    limit: String(pageSize),
    ...given,
  });
  const { data, paging } = await asUser<Paged<Found>>('GET', forClient(`/v1/dispatches?${query}`));
  return { data: data.map(listed), paging };
}

function listed(row: Found): Listed {
  const { template, did, dispatch_id: id, state, campaign_id: campaign = '' } = row;
  return { ...row, text: `${template.name} ${template.language} +${did} ${id} ${state} ${campaign}`.toLowerCase() };
}

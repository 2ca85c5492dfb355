import { CallError, sentenceOf } from './api.ts';
import { type Found, keyOf, merged, type Paged, timeOfDispatch } from './dispatch-model.ts';
import { asUser, forClient } from './session.ts';
import { createStore } from './store.ts';

export interface Listed extends Found {
  readonly text: string;
}

export interface DispatchList {
  /** The newest row is first; undefined until the first page is read. */
  readonly rows: readonly Listed[] | undefined;
  /** The cursor leads to the next page; undefined after the last. */
  readonly after: string | undefined;
  readonly isReading: boolean;
  readonly problem: string;
  /** The set is collected as pages arrive, so that no page has to scan 100,000 rows. */
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
/** One go reads at most this many pages to find a row that fits the filters, or to meet known rows. */
const mostPages = 5;

let asked = { who: '', query: '' };
let generation = 0;

/** Starts the list of a user and client with a query of filters, newest first. */
export function listDispatches(who: string, query: string): void {
  if (who === asked.who && query === asked.query && dispatchList.get() !== unread) return;
  asked = { who, query };
  generation += 1;
  dispatchList.set({ ...unread });
  void readOn();
}

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

/** Reads the newest rows again, and the visible rows that still change. */
export async function readNewest(seen: readonly Listed[]): Promise<void> {
  const { rows, isReading } = dispatchList.get();
  if (isReading) return;
  if (rows === undefined) return readOn();
  await reading(async (isStill) => {
    const fresh: Listed[] = [];
    // Reading stops at a row among the known newest pages.
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
    // Too many rows are new: the list starts over, so that it has no gap.
    if (!meets) return dispatchList.set({ ...now, rows: fresh, after: cursor });
    const isAll = cursor === undefined;
    dispatchList.set({ ...now, rows: merged(now.rows ?? [], fresh, { isAll }), after: isAll ? undefined : now.after });
    await readMoving(seen.filter((row) => !row.complete && !fresh.some((each) => keyOf(each) === keyOf(row))));
  });
}

/** Reads rows further down again, by their time of acceptance. */
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

/** Adds the rows' templates and campaigns; a set keeps its identity unless something is new. */
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

/** Reports progress and problems, unless another list was requested meanwhile. */
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

/** The id's time leads to it; so many dispatches at once are not looked through. */
const mostPagesOfTime = 10;

/** Finds the number of a dispatch id in the client's list. Throws `CallError` when it is not there. */
export async function findDispatch(id: string): Promise<Found> {
  let cursor: string | undefined;
  for (let page = 0; page < mostPagesOfTime; page += 1) {
    const query = new URLSearchParams({
      ...timeOfDispatch(id),
      limit: '100',
      ...(cursor === undefined ? {} : { cursor }),
    });
    const { data, paging } = await asUser<Paged<Found>>('GET', forClient(`/v1/dispatches?${query}`));
    const found = data.find(({ dispatch_id: each }) => each === id);
    if (found !== undefined) return found;
    cursor = paging.cursors.after;
    if (cursor === undefined) break;
  }
  throw new CallError(`No dispatch of this client has the id ${id}. Another client may have it: choose another user.`);
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

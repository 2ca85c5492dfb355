import { createStore } from './store.ts';

/** What a list is narrowed to: `q` is what was searched for. */
export type Filter = Readonly<Record<string, string>>;

export interface Place {
  readonly page: string;
  /** What is chosen on the page. */
  readonly id: string;
  readonly filter: Filter;
}

export const place = createStore<Place>(read());

/** Where each page was left. */
const left = new Map<string, Place>();

function read(): Place {
  const hash = window.location.hash.slice(1);
  const end = hash.includes('?') ? hash.indexOf('?') : hash.length;
  const [, page = '', id = ''] = hash.slice(0, end).split('/');
  const filter = Object.fromEntries(new URLSearchParams(hash.slice(end)));
  try {
    return { page, id: decodeURIComponent(id), filter };
  } catch {
    return { page, id: '', filter };
  }
}

export function followAddress(): void {
  window.addEventListener('hashchange', () => place.set(read()));
  place.subscribe(() => left.set(place.get().page, place.get()));
}

export function addressOf(page: string, id = '', filter: Filter = {}): string {
  const narrowed = Object.entries(filter).filter(([, value]) => value !== '');
  const search = narrowed.length === 0 ? '' : `?${new URLSearchParams(narrowed)}`;
  return `#/${page}${id === '' ? '' : `/${encodeURIComponent(id)}`}${search}`;
}

/** The page as it was left; the one that is open: as it begins. */
export function addressOfPage(page: string): string {
  const known = page === place.get().page ? undefined : left.get(page);
  return addressOf(page, known?.id, known?.filter);
}

/**
 * Chooses something on a page. Choosing can be gone back from; walking through a list leaves no trail of addresses to go
 * back through.
 */
export function choose(page: string, id = ''): void {
  const { page: before, id: chosen, filter } = place.get();
  const isFirst = id !== '' && chosen === '';
  if (id === '' && wasChosenHere()) window.history.back();
  else go({ page, id, filter: page === before ? filter : {} }, isFirst ? 'pushState' : 'replaceState');
}

/** Narrows the list of the page that is open. */
export function narrow(name: string, value: string): void {
  const { page, id, filter } = place.get();
  go({ page, id, filter: { ...filter, [name]: value } }, 'replaceState');
}

/** Forgets what was chosen on these pages: it is not there any more. */
export function forgetChosen(pages: readonly string[]): void {
  for (const page of pages) left.delete(page);
  const now = place.get();
  if (pages.includes(now.page) && now.id !== '') go({ ...now, id: '' }, 'replaceState');
}

/** Whether what is chosen was chosen on this page, and not by the address that opened it. */
export function wasChosenHere(): boolean {
  return window.history.state === choosing;
}

/** Marks an address that was come to by choosing: what is before it is the list. */
const choosing = 'choosing';

function go(next: Place, how: 'pushState' | 'replaceState'): void {
  place.set(next);
  const state = how === 'pushState' ? choosing : next.id === '' ? null : window.history.state;
  try {
    window.history[how](state, '', addressOf(next.page, next.id, next.filter));
  } catch {
    // A browser that finds the changes too many keeps an older address; the page goes on.
  }
}

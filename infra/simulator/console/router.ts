import { createStore } from './store.ts';

/** `q` is the search. */
export type Filter = Readonly<Record<string, string>>;

export interface Place {
  readonly page: string;
  readonly id: string;
  readonly filter: Filter;
}

export const place = createStore<Place>(read());

const left = new Map<string, Place>();

function read(): Place {
  const hash = window.location.hash.slice(1);
  const end = hash.includes('?') ? hash.indexOf('?') : hash.length;
  const [, first = '', ...rest] = hash.slice(0, end).split('/');
  // A dispatch id alone, as a client has it from the answer to its send, is an address.
  const [page, id] = isDispatchId(first) ? ['dispatches', first] : [first, rest.join('/')];
  const filter = Object.fromEntries(new URLSearchParams(hash.slice(end)));
  try {
    return { page, id: decodeURIComponent(id), filter };
  } catch {
    return { page, id: '', filter };
  }
}

/** Tells whether a text is the id of a dispatch without its number. */
export function isDispatchId(text: string): boolean {
  return /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(text);
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

/** Returns the address of a page as the reader left it; for the open page its start. */
export function addressOfPage(page: string): string {
  const known = page === place.get().page ? undefined : left.get(page);
  return addressOf(page, known?.id, known?.filter);
}

/** Chooses an item. The first choice adds a history entry; moving through a list replaces it. */
export function choose(page: string, id = ''): void {
  const { page: before, id: chosen, filter } = place.get();
  const isFirst = id !== '' && chosen === '';
  if (id === '' && wasChosenHere()) window.history.back();
  else go({ page, id, filter: page === before ? filter : {} }, isFirst ? 'pushState' : 'replaceState');
}

export function narrow(name: string, value: string): void {
  const { page, id, filter } = place.get();
  go({ page, id, filter: { ...filter, [name]: value } }, 'replaceState');
}

/** Forgets choices on these pages, because the items are gone. */
export function forgetChosen(pages: readonly string[]): void {
  for (const page of pages) left.delete(page);
  const now = place.get();
  if (pages.includes(now.page) && now.id !== '') go({ ...now, id: '' }, 'replaceState');
}

/** Returns false when the opening address made the choice. */
export function wasChosenHere(): boolean {
  return window.history.state === choosing;
}

/** An entry of the history with this state follows the list. */
const choosing = 'choosing';

function go(next: Place, how: 'pushState' | 'replaceState'): void {
  place.set(next);
  const state = how === 'pushState' ? choosing : next.id === '' ? null : window.history.state;
  try {
    window.history[how](state, '', addressOf(next.page, next.id, next.filter));
  } catch {
    // Browsers limit the rate of changes; the page works with the older address.
  }
}

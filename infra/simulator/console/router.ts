import { createStore } from './store.ts';

export interface Place {
  readonly page: string;
  /** What is chosen on the page. */
  readonly id: string;
}

export const place = createStore<Place>(read());

function read(): Place {
  const [, page = '', id = ''] = window.location.hash.split('/');
  try {
    return { page, id: decodeURIComponent(id) };
  } catch {
    return { page, id: '' };
  }
}

export function followAddress(): void {
  window.addEventListener('hashchange', () => place.set(read()));
}

export function addressOf(page: string, id = ''): string {
  return id === '' ? `#/${page}` : `#/${page}/${encodeURIComponent(id)}`;
}

/** Chooses something on a page. Walking through a list leaves no trail of addresses to go back through. */
export function choose(page: string, id = ''): void {
  window.history.replaceState(null, '', addressOf(page, id));
  place.set({ page, id });
}

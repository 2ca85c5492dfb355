import { createStore } from './store.ts';

/** Counters of the simulator: what differs has changed. */
export interface Counters {
  readonly resets: number;
  readonly messages: number;
  readonly touched: number;
  readonly requests: number;
  readonly answered: number;
  readonly templates: number;
  readonly settings: string;
  readonly webhooks: number;
  readonly events: number;
  readonly planned: number;
  readonly due: number;
  readonly now_ms: number;
}

export const counters = createStore<Counters | undefined>(undefined);
export const connection = createStore<'connecting' | 'open' | 'lost'>('connecting');

/** The simulator's time: what the page's clock says, and what the two are apart. */
let apartMs = 0;
export const now = createStore(Date.now());

/** Watches the simulator until the page is closed; a connection that broke is made again by the browser. */
export function watchSimulator(): void {
  const source = new EventSource('/_control/live');
  source.addEventListener('open', () => connection.set('open'));
  source.addEventListener('error', () => connection.set('lost'));
  source.addEventListener('message', ({ data }) => {
    const told = JSON.parse(data) as Counters;
    apartMs = told.now_ms - Date.now();
    now.set(told.now_ms);
    connection.set('open');
    counters.set(told);
  });
  window.addEventListener('pagehide', () => source.close());
  setInterval(() => {
    if (document.visibilityState === 'visible') now.set(Date.now() + apartMs);
  }, 1_000);
}

import { createStore } from './store.ts';

export interface Counters {
  /** The world changes with every reset and every start. */
  readonly world: string;
  readonly messages: number;
  readonly refused: number;
  readonly touched: number;
  readonly requests: number;
  readonly answered: number;
  readonly templates: number;
  readonly settings: string;
  readonly webhooks: number;
  readonly events: number;
  readonly people: string;
  readonly planned: number;
  readonly due: number;
  readonly now_ms: number;
}

export const counters = createStore<Counters | undefined>(undefined);
export const connection = createStore<'connecting' | 'open' | 'lost'>('connecting');
/** Requests during an outage may be unanswered, so the recoveries are counted. */
export const reconnections = createStore(0);

/** The simulator's time differs from the browser's clock by this. */
let apartMs = 0;
export const now = createStore(Date.now());

const againAfterMs = 2_000;
let source: EventSource | undefined;
let waiting: ReturnType<typeof setTimeout> | undefined;

/**
 * Only a visible page watches: a browser allows six connections to one address, and a seventh page would wait forever.
 */
export function watchSimulator(): void {
  const follow = () => (document.visibilityState === 'visible' ? watch() : leave());
  document.addEventListener('visibilitychange', follow);
  window.addEventListener('pagehide', leave);
  window.addEventListener('pageshow', follow);
  follow();
  setInterval(() => {
    if (document.visibilityState === 'visible') now.set(Date.now() + apartMs);
  }, 1_000);
}

function leave(): void {
  clearTimeout(waiting);
  source?.close();
  source = undefined;
}

function watch(): void {
  if (source !== undefined) return;
  const mine = new EventSource('/_control/live');
  source = mine;
  mine.addEventListener('open', opened);
  mine.addEventListener('error', () => {
    connection.set('lost');
    // The browser reconnects by itself, except after a refusal.
    if (mine.readyState !== EventSource.CLOSED || source !== mine) return;
    source = undefined;
    waiting = setTimeout(watch, againAfterMs);
  });
  mine.addEventListener('message', ({ data }) => {
    const told = JSON.parse(data) as Counters;
    apartMs = told.now_ms - Date.now();
    now.set(told.now_ms);
    opened();
    counters.set(told);
  });
}

function opened(): void {
  if (connection.get() === 'lost') reconnections.set(reconnections.get() + 1);
  connection.set('open');
}

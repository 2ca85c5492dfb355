import { counters } from './live.ts';
import { requestsUnderWay } from './session.ts';
import { createStore } from './store.ts';

/* The service pushes nothing and limits requests, so the simulated platform's events trigger reads of its reports. */

/** The moment increases when reports have to be read again. */
export const moment = createStore(0);

/** The page waits this long between reads: after an event, and while something shown still changes. */
const afterSignMs = 1_500;
const whileMovingMs = 3_000;
/** The service may work on an event this long. */
const livelyMs = 6_000;
/** Spend is counted up to a minute later, so slower reads go on after an event. */
const afterwardsMs = 90_000;
const whileCountedMs = 15_000;
const looksEachMs = 500;

/** Drives `moment` while the page is visible. Returns the function that stops it. */
export function followService(isMoving: () => boolean): () => void {
  let known = signOf();
  let signMs = 0;
  let readMs = Date.now();
  const look = () => {
    // A read waits for the answers under way, so that slow answers do not pile up.
    if (document.visibilityState !== 'visible' || requestsUnderWay() > 0) return;
    const nowMs = Date.now();
    if (nowMs - readMs < everyMs(nowMs - signMs, isMoving())) return;
    readMs = nowMs;
    moment.set(moment.get() + 1);
  };
  const lively = () => {
    signMs = Date.now();
    look();
  };
  const heard = () => {
    const sign = signOf();
    if (sign === known) return;
    known = sign;
    lively();
  };
  const timer = setInterval(look, looksEachMs);
  const forget = counters.subscribe(heard);
  document.addEventListener('visibilitychange', lively);
  return () => {
    clearInterval(timer);
    forget();
    document.removeEventListener('visibilitychange', lively);
  };
}

function everyMs(sinceSignMs: number, isMoving: boolean): number {
  if (sinceSignMs < livelyMs) return afterSignMs;
  if (isMoving) return whileMovingMs;
  return sinceSignMs < afterwardsMs ? whileCountedMs : Number.POSITIVE_INFINITY;
}

/** The sign is unchanged while nothing happens that a report shows. */
function signOf(): string {
  const told = counters.get();
  return told === undefined
    ? ''
    : [told.world, told.messages, told.touched, told.answered, told.settings, told.templates, told.webhooks].join();
}

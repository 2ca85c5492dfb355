import { counters } from './live.ts';
import { requestsUnderWay } from './session.ts';
import { createStore } from './store.ts';

/*
 * When the service's reports are worth reading again. It has no line that tells, and takes so many requests a minute: what
 * the simulated platform does is the sign that they change.
 */

/** Counts up whenever they are to be read again. */
export const moment = createStore(0);

/** How far readings are apart: after a sign, and while something of what is shown still moves. */
const afterSignMs = 1_500;
const whileMovingMs = 3_000;
/** So long after a sign the service may still be at work on it. */
const livelyMs = 6_000;
/** What was spent is counted up to a minute later: so long, and so seldom, they are read after that. */
const afterwardsMs = 90_000;
const whileCountedMs = 15_000;
const looksEachMs = 500;

/** Keeps `moment` going while the page can be seen. Answers how to end it. */
export function followService(isMoving: () => boolean): () => void {
  let known = signOf();
  let signMs = 0;
  let readMs = Date.now();
  const look = () => {
    // Answers that are late must not pile up, and one that is read again too soon would never come.
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

/** The same sign: nothing has happened that a report would show. */
function signOf(): string {
  const told = counters.get();
  return told === undefined
    ? ''
    : [told.world, told.messages, told.touched, told.answered, told.settings, told.templates, told.webhooks].join();
}

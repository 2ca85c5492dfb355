import { bulkEveryMs, type KnownPace, urgentEveryMs } from '../pace/known-pace.ts';

// A small request has one sender at a time too. What it needs has these states, and these writers:

// - The counter of a second, for each share: none -> taken up to a time -> closed. Workers take places. A sender that
// has taken the lease closes the free share, and begins behind the last place.

// - The number's lease: only senders write it (aws/leased-run.ts). Workers read it before they take places: beside a
// fresh lease only those of the last tenth, for one-time codes.

// - A request with places: queued -> claimed -> ended, by its worker, as slice.ts says.

// - A request without, or given back: stored -> begun -> listed in front -> woken -> acknowledged, by its worker
// (small-request.ts). Then it is the sender's, as any dispatch.

// So the queue message finds the request until the backlog does. No withdrawal takes a dispatch that has begun, or
// whose slice was claimed, even if that claim is given back.

/** `free`: nine tenths, while no sender works. `tenth`: of the last tenth, for one-time codes beside a sender. */
export type Share = 'free' | 'tenth';

const secondMs = 1_000;

/** Places that passed unused are made up for this long: with nine tenths of the limit, no second has more than it. */
const catchUpMs = 75;

/** A place that comes later is no better than a place in front of the backlog. */
const longestWaitMs = 1_000;

export interface WantedPlaces {
  readonly count: number;
  readonly everyMs: number;
  readonly nowMs: number;
}

/** Returns the start of the second that is being counted. */
export function secondOf(atMs: number): number {
  return Math.floor(atMs / secondMs) * secondMs;
}

/** The platform counts calls when they arrive: half of the tenth is for those of a sender that come close together. */
const shareOfTenth = 0.5;

/** Returns milliseconds between two places of a share at this pace; Infinity where a second has none of the tenth. */
export function everyMsOf(share: Share, limitPerSecond: number, pace: KnownPace, nowMs: number): number {
  if (share === 'free') return bulkEveryMs(limitPerSecond, pace, nowMs);
  const everyMs = urgentEveryMs(limitPerSecond, pace, nowMs) / shareOfTenth;
  return everyMs > secondMs ? Number.POSITIVE_INFINITY : everyMs;
}

/**
 * Returns the places of a second that may still be taken, and the counter after them. Places lie at multiples of
 * `everyMs` since 1970, so that seconds that are counted apart keep the distance.
 */
export function placesIn(
  secondFromMs: number,
  counted: number | undefined,
  { count, everyMs, nowMs }: WantedPlaces,
): { readonly places: readonly number[]; readonly nextMs: number } {
  if (everyMs === Number.POSITIVE_INFINITY) return { places: [], nextMs: counted ?? 0 };
  const fromMs = Math.max(secondFromMs, nowMs - catchUpMs, counted ?? 0);
  const first = Math.ceil(fromMs / everyMs);
  const end = Math.ceil(Math.min(secondFromMs + secondMs, nowMs + longestWaitMs) / everyMs);
  const taken = Math.max(0, Math.min(count, end - first));
  const places = Array.from({ length: taken }, (_, at) => (first + at) * everyMs);
  const last = places.at(-1);
  // Half a step lies behind the last place and before the next one, however the product is rounded.
  return { places, nextMs: last === undefined ? (counted ?? 0) : last + everyMs / 2 };
}

/** Returns the counter of a closed second: it has no place any more. */
export function closedMs(secondFromMs: number): number {
  return secondFromMs + secondMs;
}

/** Returns when all places of a second are over, whatever its counter says. */
export function latestPlaceMs(nowMs: number): number {
  return secondOf(nowMs) + 2 * secondMs;
}

/** A worker takes places for its whole batch. A request is one try, so it has all of its places or none. */
export function sharedOut<Request extends { readonly size: number }>(
  requests: readonly Request[],
  places: readonly number[],
): ReadonlyMap<Request, readonly number[]> {
  const shared = new Map<Request, readonly number[]>();
  let used = 0;
  for (const request of requests) {
    if (used + request.size > places.length) break;
    shared.set(request, places.slice(used, used + request.size));
    used += request.size;
  }
  return shared;
}

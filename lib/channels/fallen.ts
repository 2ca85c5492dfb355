import type { LiveValues } from './channel.ts';
import { peopleADay } from './messaging-limit.ts';

/** The platform's words for the quality of a number (platform reference, 8), the best first. */
const qualities = ['GREEN', 'YELLOW', 'RED'];

/**
 * What of a number is worse than it was by the platform's word: fewer people a day, fewer messages a second (a lower level, or the
 * business app uses the number now, too), a worse quality.
 */
export type Fallen = 'limit' | 'throughput' | 'quality';

/** What has fallen between two readings. A word that is not known, or was not told, has neither fallen nor risen. */
export function fallenBetween(before: LiveValues, after: LiveValues): Fallen[] {
  const [was, is] = [peopleADay(before.currentLimit), peopleADay(after.currentLimit)];
  const hasLimit = is !== undefined && (was === undefined ? before.currentLimit === 'TIER_UNLIMITED' : is < was);
  const rank = (live: LiveValues) => qualities.indexOf(live.qualityRating ?? '');
  return [
    ...(hasLimit ? (['limit'] as const) : []),
    ...(isSlower(before, after) ? (['throughput'] as const) : []),
    ...(rank(before) !== -1 && rank(after) > rank(before) ? (['quality'] as const) : []),
  ];
}

function isSlower(before: LiveValues, after: LiveValues): boolean {
  const isShared = before.isOnBizApp === false && after.isOnBizApp === true;
  return isShared || (before.throughputLevel === 'HIGH' && after.throughputLevel === 'STANDARD');
}

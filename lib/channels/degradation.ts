import type { LiveValues } from './channel.ts';
import { peopleADay } from './messaging-limit.ts';

/** The platform grades a number's quality in these words (platform reference, 8), the best first. */
const qualities = ['GREEN', 'YELLOW', 'RED'];

/**
 * The platform has lowered a number: to fewer people a day, a worse quality, or fewer messages a second, by a lower
 * level or because the business app uses it now, too.
 */
export type Degradation = 'limit' | 'throughput' | 'quality';

/** An unknown or missing word counts as no change. */
export function degradationsBetween(before: LiveValues, after: LiveValues): Degradation[] {
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

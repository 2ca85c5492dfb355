import { expect, test } from 'vitest';
import { peopleADay } from '../../../lib/channels/messaging-limit.ts';

test.each([
  ['TIER_50', 50],
  ['TIER_250', 250],
  ['TIER_1K', 1_000],
  ['TIER_2K', 2_000],
  ['TIER_10K', 10_000],
  ['TIER_100K', 100_000],
  ['TIER_UNLIMITED', undefined],
  ['UNTIERED', undefined],
  ['TIER_', undefined],
  ['TIER_2KK', undefined],
  ['tier_2k', undefined],
  ['', undefined],
  [undefined, undefined],
])('the limit %s (platform reference, 4.4)', (limit, people) => {
  expect(peopleADay(limit)).toBe(people);
});

import { expect, it } from 'vitest';
import { degradationsBetween } from '../../../lib/channels/degradation.ts';

it.each([
  [{ currentLimit: 'TIER_10K' }, { currentLimit: 'TIER_2K' }, ['limit']],
  [{ currentLimit: 'TIER_UNLIMITED' }, { currentLimit: 'TIER_100K' }, ['limit']],
  [{ currentLimit: 'TIER_2K' }, { currentLimit: 'TIER_10K' }, []],
  [{ currentLimit: 'TIER_2K' }, { currentLimit: 'TIER_UNLIMITED' }, []],
  [{ currentLimit: 'TIER_2K' }, {}, []],
  [{}, { currentLimit: 'TIER_250' }, []],
  [{ qualityRating: 'GREEN' }, { qualityRating: 'YELLOW' }, ['quality']],
  [{ qualityRating: 'GREEN' }, { qualityRating: 'RED' }, ['quality']],
  [{ qualityRating: 'RED' }, { qualityRating: 'YELLOW' }, []],
  [{ qualityRating: 'UNKNOWN' }, { qualityRating: 'RED' }, []],
  [{ qualityRating: 'GREEN' }, { qualityRating: 'UNKNOWN' }, []],
  [{ throughputLevel: 'HIGH' }, { throughputLevel: 'STANDARD' }, ['throughput']],
  [{ throughputLevel: 'STANDARD' }, { throughputLevel: 'HIGH' }, []],
  [{ isOnBizApp: false }, { isOnBizApp: true }, ['throughput']],
  [{ isOnBizApp: false, throughputLevel: 'HIGH' }, { isOnBizApp: true, throughputLevel: 'STANDARD' }, ['throughput']],
  [{ isOnBizApp: true }, { isOnBizApp: false }, []],
  [{}, { isOnBizApp: true }, []],
  [
    { currentLimit: 'TIER_10K', qualityRating: 'YELLOW', throughputLevel: 'HIGH' },
    { currentLimit: 'TIER_250', qualityRating: 'RED', throughputLevel: 'STANDARD' },
    ['limit', 'throughput', 'quality'],
  ],
])('%j, then %j: fallen %j', (before, after, fallen) => {
  expect(degradationsBetween(before, after)).toEqual(fallen);
});

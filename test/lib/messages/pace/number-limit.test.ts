import { expect, test } from 'vitest';
import { limitPerSecondOf } from '../../../../lib/messages/pace/number-limit.ts';

test.each([
  [{ throughputLevel: 'HIGH' }, 80, 1_000],
  [{ throughputLevel: 'STANDARD' }, 250, 80],
  [{ throughputLevel: 'HIGH', isOnBizApp: true }, 80, 20],
  [{ throughputLevel: 'HIGH', isOnBizApp: false }, 80, 1_000],
  [{ throughputLevel: 'NOT_APPLICABLE' }, 250, 250],
  [{}, 250, 250],
  [undefined, 250, 250],
  [undefined, 0, 80],
  [undefined, undefined, 80],
])(
  'a number of which the platform says %j, provisioned with %j, may send %i a second (D43)',
  (word, provisioned, perSecond) => {
    expect(limitPerSecondOf(word, provisioned)).toBe(perSecond);
  },
);

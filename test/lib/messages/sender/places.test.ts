import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unknownPace } from '../../../../lib/messages/pace/known-pace.ts';
import { everyMsOf, placesIn, secondOf, sharedOut } from '../../../../lib/messages/sender/places.ts';

const secondMs = 1_800_000_000_000;
const everyMs = (perSecond: number) => everyMsOf('free', perSecond, unknownPace, secondMs);

test.each([
  [80, 72],
  [20, 18],
  [5, 5],
])('a second of a number with a limit of %i has %i places for small requests', (limit, most) => {
  expect(placesIn(secondMs, undefined, { count: 1_000, everyMs: everyMs(limit), nowMs: secondMs }).places).toHaveLength(
    most,
  );
});

test.each([
  [80, 4],
  [20, 1],
  [5, 0],
])('beside a sender a second of %i has %i places, half of the tenth (D44)', (limit, most) => {
  const tenth = everyMsOf('tenth', limit, unknownPace, secondMs);
  expect(placesIn(secondMs, undefined, { count: 100, everyMs: tenth, nowMs: secondMs }).places).toHaveLength(most);
});

test('a counter that is behind gives no place that has passed', () => {
  const { places } = placesIn(secondMs, secondMs, { count: 100, everyMs: 100, nowMs: secondMs + 930 });
  expect(places).toEqual([secondMs + 900]);
});

test('whatever is taken in whatever order, no second has more calls than the limit', () => {
  const takes = fc.array(
    fc.record({ afterMs: fc.integer({ min: 0, max: 700 }), count: fc.integer({ min: 1, max: 60 }) }),
    { minLength: 1, maxLength: 20 },
  );
  fc.assert(
    fc.property(takes, fc.constantFrom(1, 5, 20, 80, 250), (list, limit) => {
      const counters = new Map<number, number>();
      const calls: number[] = [];
      let nowMs = secondMs;
      for (const { afterMs, count } of list) {
        nowMs += afterMs;
        const fromMs = secondOf(nowMs);
        const { places, nextMs } = placesIn(fromMs, counters.get(fromMs), { count, everyMs: everyMs(limit), nowMs });
        counters.set(fromMs, nextMs);
        calls.push(...places.map((placeMs) => Math.max(placeMs, nowMs)));
      }
      for (const [at, atMs] of calls.entries()) {
        const inSecond = calls.slice(at).filter((otherMs) => otherMs < atMs + 1_000);
        expect(inSecond.length).toBeLessThanOrEqual(limit);
      }
    }),
  );
});

test('a request has all of its places or none, in the order of the batch', () => {
  const [three, four, one] = [{ size: 3 }, { size: 4 }, { size: 1 }];
  const shared = sharedOut([three, four, one], [1, 2, 3, 4, 5]);
  expect([...shared]).toEqual([[three, [1, 2, 3]]]);
});

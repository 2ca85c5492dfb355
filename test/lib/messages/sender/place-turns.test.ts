import { expect, test } from 'vitest';
import { longestLateMs, PlaceTurns } from '../../../../lib/messages/sender/place-turns.ts';

function turnsAt(places: readonly number[], startMs: number) {
  let nowMs = startMs;
  const turns = new PlaceTurns(places, {
    nowMs: () => nowMs,
    pause: async (ms) => {
      nowMs += ms;
    },
  });
  const take = async () => ((await turns.take()) ? nowMs : 'none');
  return { turns, take };
}

test('each call has the next place, and none has more than there are', async () => {
  const { take } = turnsAt([1_000, 1_012, 1_025], 990);
  expect([await take(), await take(), await take(), await take()]).toEqual([1_000, 1_012, 1_025, 'none']);
});

test('places behind a late one keep their distance', async () => {
  const { take } = turnsAt([1_000, 1_100], 1_300);
  expect([await take(), await take()]).toEqual([1_300, 1_400]);
});

test.each([
  [longestLateMs, 1_000 + longestLateMs],
  [longestLateMs + 1, 'none'],
])('a place is used up to a second late: %i ms', async (lateMs, expected) => {
  const { take } = turnsAt([1_000], 1_000 + lateMs);
  expect(await take()).toBe(expected);
});

test('no call begins a second after the last place; without places, now is the end', () => {
  expect(turnsAt([1_000, 1_100], 900).turns.lastMs).toBe(1_100 + longestLateMs);
  expect(turnsAt([], 900).turns.lastMs).toBe(900 + longestLateMs);
});

import { expect, test } from 'vitest';
import type { BacklogEntry } from '../../../../lib/messages/dispatch/backlog.ts';
import {
  doneMs,
  dueMsOfEntry,
  dueMsOfPart,
  isOfPart,
  isPartDone,
  partMoved,
  poisonedUntilMs,
  progressOf,
  withNews,
} from '../../../../lib/messages/sender/entry-progress.ts';

const entry: BacklogEntry = {
  ...{ phoneNumberId: 'n', dispatchId: 'J', clientId: 1, enteredAtMs: 1_000 },
  ...{ notBeforeMs: 2_000, expiresAtSeconds: 9, slices: 20 },
};

const moved = (part: number, of: number, floor: number, dueMs: number, seenNewsMs?: number) =>
  partMoved({ part: { part, of }, progress: { floor, dueMs }, seenNewsMs });

test('each slice belongs to one part', () => {
  for (const dispatchId of ['J', 'K', '01JD0000000000000000000007']) {
    for (let slice = 0; slice < 20; slice += 1) {
      expect([0, 1, 2].filter((part) => isOfPart({ part, of: 3 }, dispatchId, slice))).toHaveLength(1);
    }
  }
});

test('a floor never goes back, and no part moves another one', () => {
  const once = moved(1, 2, 7, 5_000)(entry);
  expect(once.parts).toEqual([
    { floor: 0, dueMs: 2_000 },
    { floor: 7, dueMs: 5_000 },
  ]);
  expect(progressOf(moved(1, 2, 3, 6_000)(once), { part: 1, of: 2 })).toEqual({ floor: 7, dueMs: 6_000 });
});

test('another number of parts begins again from the least floor', () => {
  const two = moved(0, 2, 9, 3_000)(moved(1, 2, 7, 5_000)(entry));
  expect(progressOf(two, { part: 3, of: 8 })).toEqual({ floor: 7, dueMs: 3_000 });
  expect(progressOf(two, { part: 0, of: 1 })).toEqual({ floor: 7, dueMs: 3_000 });
});

test('news stay due until their sender has seen them (D53)', () => {
  const later = moved(0, 1, 3, 90_000)(entry);
  const told = withNews(4_000)(later);
  expect(dueMsOfEntry(told)).toBe(4_000);
  expect(dueMsOfEntry(moved(0, 1, 3, 90_000)(told))).toBe(4_000);
  expect(dueMsOfEntry(moved(0, 1, 3, 90_000, 4_000)(told))).toBe(90_000);
});

test('a part that is done is not due, until all are: then each may end the dispatch (D41)', () => {
  const one = moved(0, 2, 9, doneMs)(entry);
  expect(isPartDone(one, { part: 0, of: 2 })).toBe(true);
  expect(dueMsOfEntry(one)).toBe(2_000);
  const both = moved(1, 2, 9, doneMs)(one);
  expect(isPartDone(both, { part: 0, of: 2 })).toBe(false);
  expect(dueMsOfPart(both, { part: 1, of: 2 })).toBe(2_000);
});

test('a poisoned dispatch is tried again after 1, 2, 4 ... 15 minutes', () => {
  expect([1, 2, 3, 4, 5, 9].map((failures) => poisonedUntilMs(failures, 0) / 60_000)).toEqual([1, 2, 4, 8, 15, 15]);
});

test('a part without slices is done from the first, and the end does not wait for it', () => {
  const small = { ...entry, slices: 1 };
  const [own, other] = [0, 1].toSorted((one) => (isOfPart({ part: one, of: 2 }, 'J', 0) ? -1 : 1));
  const at = (part = 0) => ({ part, of: 2 });
  expect(isPartDone(small, at(other))).toBe(true);
  expect(isPartDone(small, at(own))).toBe(false);
  expect(dueMsOfPart(small, at(other))).toBe(doneMs);
  const ended = partMoved({ part: at(own), progress: { floor: 1, dueMs: doneMs }, seenNewsMs: undefined })(small);
  expect(ended.parts?.map(({ floor }) => floor)).toEqual([1, 1]);
});

import { expect, test } from 'vitest';
import { newEntry } from '../../../../lib/messages/dispatch/backlog.ts';
import type { DispatchItem } from '../../../../lib/messages/dispatch/item.ts';
import { type ReadEntry, waitingOf } from '../../../../lib/messages/rehearse/waiting-dispatches.ts';
import { doneMs } from '../../../../lib/messages/sender/entry-progress.ts';
import { recipientsLeft } from '../../../../lib/messages/sender/left-in-entry.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';

const nowMs = 1_800_000_000_000;
const head = makeDispatchHead({ clientId: 7, total: 1_000, acceptedAtMs: nowMs });
const { pk: _partition, sk: _key, ...entry } = newEntry(head);
const begun: DispatchItem = { head: JSON.stringify(head) };
const read = (of: Partial<ReadEntry> = {}): ReadEntry => ({ entry, item: begun, ...of });

const part = (floor: number, dueMs = nowMs) => ({ floor, dueMs });

test.each([
  ['nothing was sent', undefined, 1_000],
  ['a floor says what is told', [part(40)], 600],
  ['two parts share the slices', [part(40), part(20)], 700],
  ['a part that is done has nothing', [part(100, doneMs), part(50)], 250],
  ['all is sent', [part(100)], 0],
])('what is left of a dispatch: %s', (_, parts, left) => {
  expect(recipientsLeft({ parts }, head)).toBe(left);
});

test('a dispatch that has begun takes turns from its time on, in front or not', () => {
  const parts = [part(40, nowMs + 5_000)];
  expect(waitingOf([read({ entry: { ...entry, parts } }), read({ entry: { ...entry, front: true } })], [])).toEqual([
    { clientId: 7, recipients: 600, dueMs: nowMs + 5_000, isFront: false },
    { clientId: 7, recipients: 1_000, dueMs: nowMs, isFront: true },
  ]);
});

test.each<[string, Partial<ReadEntry>]>([
  ['has not begun', { item: {} }],
  ['was withdrawn', { item: { withdrawnAtMs: nowMs } }],
  ['is stopped', { item: { ...begun, stop: { state: 'failed', code: 'cancelled', atMs: nowMs } } }],
  ['waits for a hold', { item: { ...begun, parked: { code: '131031', scope: 'waba', sinceMs: nowMs } } }],
  ['has been sent', { entry: { ...entry, parts: [part(100)] } }],
])('one that %s takes none', (_, of) => {
  expect(waitingOf([read(of)], [])).toEqual([]);
});

test('entries that were not read count as the mean of those that were, with those that take no turns', () => {
  const unread = { ...entry, clientId: 8 };
  const all = waitingOf([read(), read({ item: {} })], [unread]);
  expect(all.map(({ clientId, recipients }) => [clientId, recipients])).toEqual([
    [7, 1_000],
    [8, 500],
  ]);
});

import { expect, test } from 'vitest';
import { laterThanMs, newEntry } from '../../../../lib/messages/dispatch/backlog.ts';
import type { DispatchHead } from '../../../../lib/messages/dispatch/head.ts';
import { isOfPart } from '../../../../lib/messages/sender/entry-progress.ts';
import { wakeForAccepted, wakeForStopped } from '../../../../lib/messages/sender/wake-accepted.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';

/** Acceptance wakes the senders of a dispatch for its time (D25, D56). */

const nowMs = 1_800_000_000_000;

async function wakesOf(changes: Partial<DispatchHead>, limitPerSecond: number | undefined = 80) {
  const head = makeDispatchHead({ dispatchId: 'J', acceptedAtMs: nowMs, total: 11, ...changes });
  let requests = 0;
  const woken: (readonly [part: number, of: number, delaySeconds: number])[] = [];
  await wakeForAccepted(head, {
    limitOf: async () => limitPerSecond,
    wake: async (wakes) => {
      requests += 1;
      for (const { phoneNumberId, dispatchId, part, of, delaySeconds } of wakes) {
        expect([phoneNumberId, dispatchId]).toEqual([head.phoneNumberId, head.dispatchId]);
        woken.push([part, of, delaySeconds]);
      }
    },
    nowMs: () => nowMs + 300,
  });
  expect(requests).toBeLessThanOrEqual(1);
  return woken;
}
const at = (ms: number) => ({ when: { asked: {}, fromMs: nowMs + ms } });

test('the one sender of a number is woken at once', async () => {
  expect(await wakesOf({})).toEqual([[0, 1, 0]]);
});

test('of a fast number the parts with slices are woken', async () => {
  expect((await wakesOf({ total: 10_000 }, 1_000)).map(([part]) => part)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  for (const dispatchId of ['J', 'K', 'L', 'M']) {
    const own = [0, 1].map((slice) =>
      [0, 1, 2, 3, 4, 5, 6, 7].find((part) => isOfPart({ part, of: 8 }, dispatchId, slice)),
    );
    const woken = await wakesOf({ dispatchId, total: 20 }, 1_000);
    expect([dispatchId, woken.map(([part]) => part)]).toEqual([dispatchId, own.toSorted()]);
  }
});

test('a dispatch for a near time has a wake to the second, one for a later time has none, as its entry stands', async () => {
  expect(await wakesOf(at(-5_000))).toEqual([[0, 1, 0]]);
  expect(await wakesOf(at(20_000))).toEqual([[0, 1, 20]]);
  expect(await wakesOf(at(laterThanMs))).toEqual([[0, 1, 900]]);
  expect(await wakesOf(at(laterThanMs + 1))).toEqual([]);
  const places = [laterThanMs, laterThanMs + 1].map(
    (ms) => newEntry(makeDispatchHead({ acceptedAtMs: nowMs, ...at(ms) })).pk,
  );
  expect(places).toEqual([expect.stringMatching(/^BACKLOG#/), expect.stringMatching(/^LATER#/)]);
});

test('a wake that is not confirmed is told to its acceptance', async () => {
  const failing = wakeForAccepted(makeDispatchHead({ total: 11 }), {
    limitOf: async () => 80,
    wake: () => Promise.reject(new Error('no queue')),
    nowMs: () => nowMs,
  });
  await expect(failing).rejects.toThrow('no queue');
});

test('none is woken while the limit is not known: other parts would begin the dispatches of all again (D43)', async () => {
  const woken: unknown[] = [];
  const ports = { limitOf: async () => undefined, wake: async (wakes: unknown) => void woken.push(wakes) };
  const head = makeDispatchHead({ total: 11 });
  await expect(wakeForAccepted(head, { ...ports, nowMs: () => nowMs })).rejects.toThrow('not known');
  await expect(wakeForStopped(head, ports)).rejects.toThrow('not known');
  expect(woken).toEqual([]);
});

test('the first part of a stopped dispatch is woken, which wakes the others (D53)', async () => {
  const woken: unknown[] = [];
  const head = makeDispatchHead({ total: 11 });
  await wakeForStopped(head, { limitOf: async () => 1_000, wake: async (wakes) => void woken.push(...wakes) });
  expect(woken).toEqual([{ phoneNumberId: head.phoneNumberId, part: 0, of: 8, delaySeconds: 0 }]);
});

import { expect, test } from 'vitest';
import type { RoundMessage } from '../../../../lib/messages/accept/round-message.ts';
import type { BacklogEntry } from '../../../../lib/messages/dispatch/backlog.ts';
import type { DispatchItem, RoundRecord } from '../../../../lib/messages/dispatch/item.ts';
import { type BacklogLook, lookAtBacklog, standingOfEntry } from '../../../../lib/messages/fan-out/backlog-look.ts';
import { leaseMs, roundAfterLast } from '../../../../lib/messages/fan-out/dispatch-rounds.ts';
import { countedBy } from '../../../support/counted.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';

/** What is accepted waits for ever when no message of the fan-out carries it on (D25, D56, R54). */

const nowMs = 1_800_000_000_000;
const ago = (seconds: number) => nowMs - seconds * 1_000;
const entryOf = (dispatchId: string, enteredAtMs: number): BacklogEntry => {
  return { dispatchId, phoneNumberId: '3', clientId: 1001, enteredAtMs, notBeforeMs: enteredAtMs, expiresAtSeconds: 1 };
};
const begun = (dispatchId: string, enteredAtMs: number, round?: RoundRecord): DispatchItem => ({
  ...{ head: JSON.stringify(makeDispatchHead({ dispatchId, acceptedAtMs: enteredAtMs })), round },
});

const lease = (untilMs: number): RoundRecord => ({ round: 3, lease: { owner: 'run', untilMs } });

test.each<[string, DispatchItem | undefined, number, string]>([
  ['has begun just now', begun('J', ago(4)), 4, 'waiting'],
  ['was never taken', begun('J', ago(5)), 5, 'late'],
  ['was never taken, for long', begun('J', ago(480)), 480, 'stuck'],
  ['waits for its time', begun('J', ago(600), { round: 3, dueMs: nowMs + 1 }), 600, 'waiting'],
  ['comes late', begun('J', ago(600), { round: 3, dueMs: ago(5) }), 600, 'late'],
  ['is at work', begun('J', ago(600), lease(nowMs + 1)), 600, 'waiting'],
  ['died just now', begun('J', ago(600), lease(nowMs - 1)), 600, 'waiting'],
  ['died', begun('J', ago(600), lease(nowMs - leaseMs)), 600, 'late'],
  ['is released', begun('J', ago(600), { round: roundAfterLast }), 600, 'over'],
  ['was withdrawn', { withdrawnAtMs: 1 }, 1, 'over'],
  ['may still begin', undefined, 59, 'undecided'],
  ['may begin no more', undefined, 60, 'dead'],
  ['was stopped and never begun', { stop: { state: 'failed', code: 'c', atMs: 1 } }, 60, 'dead'],
])('a dispatch that %s', (_, item, ageSeconds, expected) => {
  expect(standingOfEntry(entryOf('J', ago(ageSeconds)), item, nowMs)).toBe(expected);
});

test('one that stays late is woken ever more rarely', () => {
  const minutes = Array.from({ length: 61 }, (_, minute) => minute).filter((minute) => {
    const at = nowMs + 5_000 + minute * 60_000;
    return standingOfEntry(entryOf('J', nowMs), begun('J', nowMs), at) !== 'waiting';
  });
  expect(minutes).toEqual([0, 1, 2, 4, 8, 15, 30, 45, 60]);
});

function lookAt(pages: readonly (readonly BacklogLook[])[]) {
  const woken: [RoundMessage, number][] = [];
  const removed: string[] = [];
  const withdrawn: string[] = [];
  const logged: unknown[] = [];
  const look = () =>
    lookAtBacklog({
      backlog: {
        due: async function* (atMs) {
          expect(atMs).toBe(nowMs + 60_000);
          yield* pages;
        },
        remove: async ({ dispatchId }) => void removed.push(dispatchId),
      },
      withdraw: async (dispatchId) => withdrawn.push(dispatchId),
      wake: async (...args) => void woken.push(args),
      nowMs: () => nowMs,
      log: (...line) => void logged.push(line),
    });
  return { look, woken, removed, withdrawn, logged };
}
const lookOf = (dispatchId: string, ageSeconds: number, item?: DispatchItem): BacklogLook => {
  return { entry: entryOf(dispatchId, ago(ageSeconds)), item };
};

test('what is late is woken as its message was, what is over leaves the backlog, and what is dead is withdrawn', async () => {
  const { look, woken, removed, withdrawn, logged } = lookAt([
    [lookOf('A', 600, begun('A', ago(600), { round: 3, dueMs: ago(70) })), lookOf('B', 1, { withdrawnAtMs: 1 })],
    [lookOf('C', 480, begun('C', ago(480))), lookOf('D', 61), lookOf('E', 30)],
  ]);
  expect(await countedBy(look)).toMatchObject([{ RoundsLost: 1 }]);
  expect(woken).toEqual([
    [{ dispatchId: 'A', clientId: 1001, acceptedAtMs: ago(600), correlationId: undefined, round: 3 }, 0],
    [{ dispatchId: 'C', clientId: 1001, acceptedAtMs: ago(480), correlationId: undefined, round: undefined }, 0],
  ]);
  expect([removed, withdrawn]).toEqual([['B'], ['D']]);
  expect(logged).toEqual([
    ['dispatch.round_lost', { dispatchId: 'A', clientId: 1001 }],
    ['dispatch.round_lost', { dispatchId: 'C', clientId: 1001 }],
    ['dispatch.withdrawn', { dispatchId: 'D', clientId: 1001 }],
  ]);
});

test('dispatches behind one that cannot be read are looked at; it is logged, and the run fails at its end', async () => {
  const broken: BacklogLook = { entry: entryOf('BROKEN', ago(60)), item: { head: '{}', round: 'x' } };
  const { look, woken, logged } = lookAt([[broken], [lookOf('A', 60, begun('A', ago(60)))]]);
  await expect(look()).rejects.toThrow('1 dispatches cannot be read');
  expect(woken.map(([{ dispatchId }]) => dispatchId)).toEqual(['A']);
  expect(logged[0]).toEqual(['dispatch.unreadable', { dispatchId: 'BROKEN' }]);
});

test('a queue that cannot be reached fails the look at once', async () => {
  const failing = lookAtBacklog({
    backlog: {
      due: async function* () {
        yield [lookOf('A', 60, begun('A', ago(60)))];
      },
      remove: async () => undefined,
    },
    withdraw: async () => undefined,
    wake: () => Promise.reject(new Error('no queue')),
    nowMs: () => nowMs,
    log: () => undefined,
  });
  await expect(failing).rejects.toThrow('no queue');
});

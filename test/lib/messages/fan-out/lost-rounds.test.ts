import { expect, test } from 'vitest';
import type { RoundMessage } from '../../../../lib/messages/accept/round-message.ts';
import type { RoundRecord } from '../../../../lib/messages/dispatch/item.ts';
import { leaseMs, roundAfterLast } from '../../../../lib/messages/fan-out/dispatch-rounds.ts';
import {
  findLostRounds,
  roundState,
  type ScheduledDispatch,
  type UnreadableDispatch,
} from '../../../../lib/messages/fan-out/lost-rounds.ts';
import { countedBy } from '../../../support/counted.ts';

/** A scheduled send waits for ever when its round message is lost (D56, R54). */

const nowMs = 1_800_000_000_000;
const minutes = (count: number) => nowMs - count * 60_000;
const dispatchOf = (dispatchId: string, round?: RoundRecord): ScheduledDispatch => {
  return { head: { dispatchId, clientId: 1001, acceptedAtMs: minutes(60) }, ...(round && { round }) };
};

test.each([
  ['that waits for its time', { round: 3, dueMs: nowMs + 1 }, 'waiting'],
  ['whose message is late', { round: 3, dueMs: minutes(20) + 1 }, 'waiting'],
  ['whose message is long overdue', { round: 3, dueMs: minutes(20) }, 'lost'],
  ['that a run works on', { round: 3, lease: { owner: 'run', untilMs: nowMs + 1 } }, 'waiting'],
  ['whose run has died just now', { round: 3, lease: { owner: 'run', untilMs: nowMs - leaseMs } }, 'waiting'],
  [
    'whose run died long ago, and never came again',
    { round: 3, lease: { owner: 'run', untilMs: minutes(20) } },
    'lost',
  ],
  ['that was never taken', undefined, 'lost'],
  ['after the last', { round: roundAfterLast }, 'over'],
] as const)('a round %s', (_, round, expected) => {
  expect(roundState(dispatchOf('J', round), nowMs)).toBe(expected);
});

function lookAt(pages: readonly (readonly (ScheduledDispatch | UnreadableDispatch)[])[]) {
  const sent: [RoundMessage, number][] = [];
  const left: string[] = [];
  const logged: unknown[] = [];
  const look = () =>
    findLostRounds({
      scheduled: {
        all: async function* () {
          yield* pages;
        },
        leave: async (dispatchId) => void left.push(dispatchId),
      },
      sendAgain: async (...args) => void sent.push(args),
      nowMs: () => nowMs,
      log: (...line) => void logged.push(line),
    });
  return { look, sent, left, logged };
}

test('its message is queued once more, as it was, and counted; dispatches that are all released are left', async () => {
  const lost = dispatchOf('A', { round: 3, dueMs: minutes(30) });
  const pages = [
    [{ ...lost, head: { ...lost.head, correlationId: 'C' } }, dispatchOf('B', { round: roundAfterLast })],
    [dispatchOf('D', { round: 1, dueMs: nowMs }), dispatchOf('E')],
  ];
  const { look, sent, left, logged } = lookAt(pages);
  expect(await countedBy(look)).toMatchObject([{ RoundsLost: 2 }]);
  const facts = { clientId: 1001, acceptedAtMs: minutes(60) };
  expect(sent).toEqual([
    [{ dispatchId: 'A', ...facts, correlationId: 'C', round: 3 }, 0],
    [{ dispatchId: 'E', ...facts }, 0],
  ]);
  expect(left).toEqual(['B']);
  expect(logged).toEqual(['A', 'E'].map((dispatchId) => ['dispatch.round_lost', { dispatchId, clientId: 1001 }]));
});

test('dispatches behind one that cannot be read are looked at; it is logged, and the run fails at its end', async () => {
  const { look, sent, logged } = lookAt([
    [{ dispatchId: 'BROKEN', error: new TypeError('x') }, dispatchOf('A')],
    [dispatchOf('B')],
  ]);
  await expect(look()).rejects.toThrow('1 scheduled dispatches cannot be read');
  expect(sent.map(([{ dispatchId }]) => dispatchId)).toEqual(['A', 'B']);
  expect(logged[0]).toEqual(['dispatch.unreadable', { dispatchId: 'BROKEN', error: 'TypeError' }]);
});

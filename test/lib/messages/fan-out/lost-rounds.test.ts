import { expect, test } from 'vitest';
import type { JobMessage } from '../../../../lib/messages/accept/job-message.ts';
import { leaseMs, type RoundRecord, roundAfterLast } from '../../../../lib/messages/fan-out/job-rounds.ts';
import {
  findLostRounds,
  roundState,
  type ScheduledJob,
  type UnreadableJob,
} from '../../../../lib/messages/fan-out/lost-rounds.ts';
import { countedBy } from '../../../support/counted.ts';

/** A scheduled send waits for ever when its round message is lost (D56, R54). */

const nowMs = 1_800_000_000_000;
const minutes = (count: number) => nowMs - count * 60_000;
const jobOf = (jobId: string, round?: RoundRecord): ScheduledJob => {
  return { head: { jobId, clientId: 1001, acceptedAtMs: minutes(60) }, ...(round && { round }) };
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
  expect(roundState(jobOf('J', round), nowMs)).toBe(expected);
});

function lookAt(pages: readonly (readonly (ScheduledJob | UnreadableJob)[])[]) {
  const sent: [JobMessage, number][] = [];
  const left: string[] = [];
  const logged: unknown[] = [];
  const look = () =>
    findLostRounds({
      scheduled: {
        all: async function* () {
          yield* pages;
        },
        leave: async (jobId) => void left.push(jobId),
      },
      sendAgain: async (...args) => void sent.push(args),
      nowMs: () => nowMs,
      log: (...line) => void logged.push(line),
    });
  return { look, sent, left, logged };
}

test('its message is queued once more, as it was, and counted; jobs that are all released are left', async () => {
  const lost = jobOf('A', { round: 3, dueMs: minutes(30) });
  const pages = [
    [{ ...lost, head: { ...lost.head, correlationId: 'C' } }, jobOf('B', { round: roundAfterLast })],
    [jobOf('D', { round: 1, dueMs: nowMs }), jobOf('E')],
  ];
  const { look, sent, left, logged } = lookAt(pages);
  expect(await countedBy(look)).toMatchObject([{ RoundsLost: 2 }]);
  const facts = { clientId: 1001, acceptedAtMs: minutes(60) };
  expect(sent).toEqual([
    [{ jobId: 'A', ...facts, correlationId: 'C', round: 3 }, 0],
    [{ jobId: 'E', ...facts }, 0],
  ]);
  expect(left).toEqual(['B']);
  expect(logged).toEqual(['A', 'E'].map((jobId) => ['job.round_lost', { jobId, clientId: 1001 }]));
});

test('jobs behind one that cannot be read are looked at; it is logged, and the run fails at its end', async () => {
  const { look, sent, logged } = lookAt([[{ jobId: 'BROKEN', error: new TypeError('x') }, jobOf('A')], [jobOf('B')]]);
  await expect(look()).rejects.toThrow('1 scheduled jobs cannot be read');
  expect(sent.map(([{ jobId }]) => jobId)).toEqual(['A', 'B']);
  expect(logged[0]).toEqual(['job.unreadable', { jobId: 'BROKEN', error: 'TypeError' }]);
});

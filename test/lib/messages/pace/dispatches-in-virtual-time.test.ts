import { expect, test } from 'vitest';
import { horizonMs, nextRoundSeconds } from '../../../../lib/messages/fan-out/release-horizon.ts';
import {
  emptySchedule,
  reserved,
  type Schedule,
  shareOf,
  slotMsOf,
  type Turn,
  trustedFromMs,
  trustedUntilMs,
} from '../../../../lib/messages/pace/schedule.ts';
import type { LaneName } from '../../../../lib/messages/pace/segments.ts';
import { queueDelaySeconds } from '../../../../lib/messages/send/chunk-time.ts';
import { everyMs, limitPerSecond, startMs, turn, turnMs } from './a-number.ts';

/**
 * Dispatches share one number in virtual time, on the schedule alone: each releases waves up to its horizon and comes
 * again, chunks arrive up to a second late, and messages leave once their slots are trusted.
 */

interface Dispatch extends LaneName {
  readonly total: number;
}

/** The earliest entry comes first; entries of one time keep the order of insertion. */
class Agenda {
  readonly #byMs = new Map<number, (() => void)[]>();

  at(ms: number, act: () => void): void {
    const key = Math.ceil(ms);
    const beside = this.#byMs.get(key);
    if (beside === undefined) this.#byMs.set(key, [act]);
    else beside.push(act);
  }

  play(fromMs: number): void {
    for (let nowMs = fromMs; this.#byMs.size > 0; nowMs += 1) {
      for (const act of this.#byMs.get(nowMs) ?? []) act();
      this.#byMs.delete(nowMs);
    }
  }
}

/** The sequence is pseudo-random, and the same in every run. */
function chance(): () => number {
  let state = 1;
  return () => {
    state = (state * 16_807) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** Returns all messages in the order in which they left. */
function sent(
  dispatches: readonly (Dispatch & { readonly beginsMs: number })[],
): { readonly clientId: number; readonly atMs: number; readonly lane: string }[] {
  let schedule: Schedule = emptySchedule;
  const agenda = new Agenda();
  const random = chance();
  const left: { clientId: number; atMs: number; lane: string }[] = [];

  const look = (each: Turn, nowMs: number): void => {
    const slotMs = slotMsOf(schedule, each);
    if (slotMs === undefined) throw new Error('a message has lost its slot');
    if (slotMs < nowMs) throw new Error('a message has missed its slot');
    const { clientId, lane } = each;
    if (slotMs < trustedUntilMs(nowMs)) left.push({ clientId, lane, atMs: slotMs });
    else agenda.at(trustedFromMs(slotMs), () => look(each, trustedFromMs(slotMs)));
  };
  const queue = (chunk: readonly Turn[], nowMs: number): void => {
    const [first] = chunk;
    const slotMs = first === undefined ? nowMs : (slotMsOf(schedule, first) ?? nowMs);
    const delaySeconds = queueDelaySeconds(slotMs, nowMs);
    const atMs = Math.floor(nowMs + 1_000 * (delaySeconds === 0 ? 0 : delaySeconds + random()));
    agenda.at(atMs, () => {
      for (const each of chunk) look(each, atMs);
    });
  };
  const release = (dispatch: Dispatch, released: number, nowMs: number): void => {
    const { clientId, lane } = dispatch;
    const share = shareOf(schedule, dispatch, nowMs);
    const horizon = horizonMs(everyMs, share);
    let given = released;
    for (let lastMs = 0; given < dispatch.total && lastMs < nowMs + horizon; ) {
      const count = Math.min(turn * Math.ceil((7_000 * share) / turnMs), dispatch.total - given);
      const wanted = { clientId, lane, count, inFront: true } as const;
      const change = reserved(schedule, { ...wanted, everyMs, nowMs });
      schedule = change.schedule;
      const turns = Array.from({ length: count }, (_, at) => ({ clientId, lane, position: change.firstPosition + at }));
      for (let at = 0; at < count; at += turn) queue(turns.slice(at, at + turn), nowMs);
      lastMs = slotMsOf(schedule, { clientId, lane, position: change.firstPosition + count - 1 }) ?? 0;
      given += count;
    }
    const againMs = nowMs + 1_000 * nextRoundSeconds(horizon);
    if (given < dispatch.total) agenda.at(againMs, () => release(dispatch, given, againMs));
  };

  for (const dispatch of dispatches)
    agenda.at(startMs + dispatch.beginsMs, () => release(dispatch, 0, startMs + dispatch.beginsMs));
  agenda.play(startMs);
  return left.toSorted((one, other) => one.atMs - other.atMs);
}

test.each([
  [1, 3_000],
  [2, 1_500],
  [10, 600],
  [100, 100],
])(
  '%i dispatches on one number leave together at its pace: never faster, at 0.89 of the full limit, each dispatch as much as the others, to a turn',
  (count, total) => {
    const dispatches = Array.from({ length: count }, (_, dispatch) => ({
      clientId: 1,
      lane: `J${dispatch}`,
      total,
      beginsMs: (dispatch * 137) % 3_000,
    }));
    const row = sent(dispatches);
    expect(row).toHaveLength(count * total);
    const times = row.map(({ atMs }) => atMs);
    expect(times.filter((atMs, at) => atMs - (times[at - 1] ?? 0) < Math.floor(everyMs))).toEqual([]);
    expect(times.filter((atMs, at) => atMs - (times[at - 72] ?? 0) < 999)).toEqual([]);
    // The last second counts from the moment at which only a rest is left.
    const seconds = ((times.at(-1) ?? 0) + everyMs - startMs) / 1_000;
    expect(row.length / seconds / limitPerSecond).toBeGreaterThanOrEqual(0.89);
    // Only dispatches with messages left during the whole time count.
    const whileMs = [startMs + 6_000, startMs + 400 * seconds] as const;
    const counts = dispatches.flatMap(({ lane }) => {
      const own = row.filter((message) => message.lane === lane);
      const during = own.filter(({ atMs }) => atMs >= whileMs[0] && atMs < whileMs[1]).length;
      return (own.at(-1)?.atMs ?? 0) >= whileMs[1] ? [during] : [];
    });
    expect(counts.length).toBeGreaterThanOrEqual(0.8 * count);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(turn);
  },
);

test('a client with one dispatch and a client with nine have the same while both have something to send', () => {
  const one = [{ clientId: 1, lane: 'only', total: 3_000, beginsMs: 500 }];
  const nine = Array.from({ length: 9 }, (_, dispatch) => ({
    clientId: 2,
    lane: `J${dispatch}`,
    total: 600,
    beginsMs: 0,
  }));
  const row = sent([...nine, ...one]);
  const together = row.filter(({ atMs }) => atMs >= startMs + 3_000 && atMs < startMs + 78_000);
  const ofOne = together.filter(({ clientId }) => clientId === 1).length;
  expect(together.length).toBeGreaterThan(5_300);
  expect(Math.abs(ofOne - together.length / 2)).toBeLessThanOrEqual(turn / 2);
});

test('a newcomer waits a second and a turn, however much is reserved', () => {
  const dispatches = Array.from({ length: 20 }, (_, dispatch) => ({
    clientId: 1 + (dispatch % 4),
    lane: `J${dispatch}`,
    total: 300,
    beginsMs: 0,
  }));
  const row = sent([...dispatches, { clientId: 9, lane: 'late', total: 10, beginsMs: 20_450 }]);
  const first = row.find(({ clientId }) => clientId === 9)?.atMs ?? 0;
  expect(first - startMs - 20_450).toBeLessThanOrEqual(1_000 + turnMs);
});

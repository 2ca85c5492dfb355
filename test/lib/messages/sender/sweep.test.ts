import { describe, expect, test } from 'vitest';
import { type BacklogEntry, newEntry } from '../../../../lib/messages/dispatch/backlog.ts';
import type { DispatchHead } from '../../../../lib/messages/dispatch/head.ts';
import type { DispatchItem } from '../../../../lib/messages/dispatch/item.ts';
import { unknownBreaker } from '../../../../lib/messages/holds/breaker.ts';
import { type Holds, noHolds, opened } from '../../../../lib/messages/holds/hold.ts';
import { doneMs } from '../../../../lib/messages/sender/entry-progress.ts';
import type { SenderState } from '../../../../lib/messages/sender/sender-ports.ts';
import {
  type DueEntry,
  dueMsOf,
  overdueMs,
  sweepBacklog,
  sweepReachMs,
  verdictOn,
} from '../../../../lib/messages/sender/sweep.ts';
import { countedBy } from '../../../support/counted.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';

/** A sweep wakes what nothing else wakes, and no more (D25, D46, D56). */

const nowMs = 1_800_000_000_000;
const ago = (seconds: number) => nowMs - seconds * 1_000;
const headOf = (changes: Partial<DispatchHead> = {}) => makeDispatchHead({ acceptedAtMs: ago(10), ...changes });
const entryOf = (changes: Partial<DispatchHead> = {}): BacklogEntry => newEntry(headOf(changes));
const begun = (changes: Partial<DispatchHead> = {}): DispatchItem => ({ head: JSON.stringify(headOf(changes)) });
const holding = { holds: noHolds, breaker: unknownBreaker };
const free: SenderState = { wakeAtMs: 0 };
const leased = (untilMs: number): SenderState => ({ ...free, lease: { owner: 'a', untilMs, messages: [] } });

describe('when a dispatch is due', () => {
  const held: Holds = opened('waba', { code: '368', nowMs: ago(8), untilMs: nowMs + 600_000 })(noHolds);

  test('one that has begun, from its entry on', () => {
    expect(dueMsOf(entryOf(), begun(), holding, nowMs)).toBe(ago(10));
  });

  test('an undecided one only once no acceptance of it lives', () => {
    expect(dueMsOf(entryOf(), {}, holding, nowMs)).toBe(nowMs + 50_000);
  });

  test('a withdrawn one at once: its sender removes the entry', () => {
    expect(dueMsOf(entryOf(), { withdrawnAtMs: 1 }, holding, nowMs)).toBe(ago(10));
  });

  test('a parked one when its hold may be asked, unless it is stopped', () => {
    const { wabaId, category, path, templateName, templateLanguage } = headOf();
    const parked = { wabaId, category, path, templateName, templateLanguage, untilMs: nowMs + 900_000 };
    const entry = { ...entryOf(), parked };
    expect(dueMsOf(entry, begun(), { ...holding, holds: held }, nowMs)).toBeGreaterThan(nowMs);
    expect(dueMsOf(entry, begun(), holding, nowMs)).toBe(ago(10));
    const stop = { state: 'failed', code: 'cancelled', atMs: 1 } as const;
    expect(dueMsOf(entry, { ...begun(), stop }, { ...holding, holds: held }, nowMs)).toBe(ago(10));
  });
});

describe('which senders of a number are woken', () => {
  const due = (dueMs: number, changes: Partial<BacklogEntry> = {}) => ({
    entry: { ...entryOf({ acceptedAtMs: 1 }), ...changes },
    dueMs,
  });
  const delaysOf = (dueMs: number, state = free) =>
    verdictOn({ entries: [due(dueMs)], states: [state] }, nowMs).wakes.map(({ delaySeconds }) => delaySeconds);

  test('at the time of what is due before the next sweep, to the second', () => {
    expect(delaysOf(ago(1))).toEqual([0]);
    expect(delaysOf(nowMs + 20_001)).toEqual([21]);
    expect(delaysOf(nowMs + sweepReachMs)).toEqual([65]);
    expect(delaysOf(nowMs + sweepReachMs + 1)).toEqual([]);
    expect(delaysOf(Number.POSITIVE_INFINITY)).toEqual([]);
  });

  test('not while a run holds the lease, by the slowest clock', () => {
    expect(delaysOf(ago(1), leased(nowMs + 1))).toEqual([]);
    expect(delaysOf(ago(1), leased(ago(5) + 1))).toEqual([]);
    expect(delaysOf(ago(1), leased(ago(5)))).toEqual([0]);
  });

  test('ever more rarely where it stays late: a queue that is behind does not fill', () => {
    const minutes = Array.from({ length: 61 }, (_, minute) => minute);
    const woken = minutes.filter((minute) => delaysOf(nowMs - minute * 60_000).length > 0);
    expect(woken).toEqual(minutes.filter((minute) => minute < 15 || minute % 3 === 0));
  });

  test('one is late only since the last run of its number', () => {
    const entries = [due(ago(3_600))];
    const sent = { ...free, turnsUntilMs: nowMs - overdueMs + 1 };
    expect(verdictOn({ entries, states: [sent] }, nowMs).overdue).toEqual([]);
    const silent = { ...free, turnsUntilMs: nowMs - overdueMs };
    expect(verdictOn({ entries, states: [silent] }, nowMs).overdue).toEqual([entries[0]?.entry.dispatchId]);
    expect(verdictOn({ entries, states: [leased(nowMs - overdueMs + 1)] }, nowMs).overdue).toEqual([]);
  });

  test('each part by itself: not one that has ended its slices, or has nothing due', () => {
    const parts = [
      { floor: 4, dueMs: doneMs },
      { floor: 0, dueMs: ago(1) },
      { floor: 0, dueMs: nowMs + 3_600_000 },
    ];
    const { wakes } = verdictOn({ entries: [due(ago(1), { parts })], states: [free, free, free] }, nowMs);
    expect(wakes).toEqual([{ part: 1, delaySeconds: 0 }]);
  });

  test('and any part, where all have ended and none has told it', () => {
    const done = { floor: 4, dueMs: doneMs };
    const { wakes } = verdictOn({ entries: [due(ago(1), { parts: [done, done] })], states: [free, free] }, nowMs);
    expect(wakes.map(({ part }) => part)).toEqual([0, 1]);
  });
});

interface Swept {
  readonly entries: readonly DueEntry[];
  readonly unreadable?: readonly string[];
  readonly limitPerSecond?: number | 'not known';
  readonly stateOf?: SenderState;
  readonly wakeFails?: true;
  /** The lease of this number cannot be read. */
  readonly refusedNumber?: string;
}

function sweeping({ entries, unreadable = [], limitPerSecond = 80, stateOf = free, wakeFails, refusedNumber }: Swept) {
  const [woken, logged, readHolds]: [unknown[][], unknown[], string[]] = [[], [], []];
  const sweep = () =>
    sweepBacklog({
      backlog: {
        due: async function* (atMs) {
          expect(atMs).toBe(nowMs + sweepReachMs);
          yield { entries, unreadable };
        },
      },
      holds: {
        find: async (wabaId) => {
          readHolds.push(wabaId);
          return noHolds;
        },
      },
      breakers: { find: async () => unknownBreaker },
      limitOf: async () => (limitPerSecond === 'not known' ? undefined : limitPerSecond),
      stateOf: async ({ phoneNumberId }) => {
        if (phoneNumberId === refusedNumber) throw new Error('of another form');
        return stateOf;
      },
      wake: async (wakes) => {
        if (wakeFails) throw new Error('no queue');
        for (const { phoneNumberId, part, of, delaySeconds } of wakes)
          woken.push([phoneNumberId, part, of, delaySeconds]);
      },
      nowMs: () => nowMs,
      log: (...line) => void logged.push(line),
    });
  return { sweep, woken, logged, readHolds };
}
const dueOf = (changes: Partial<DispatchHead>, item: unknown = begun(changes)) => ({ entry: entryOf(changes), item });

describe('a sweep', () => {
  test('keeps the parts that entries have while the limit is not known (D43)', async () => {
    const parts = Array.from({ length: 3 }, () => ({ floor: 0, dueMs: ago(1) }));
    const [first, second] = [dueOf({ dispatchId: 'A', total: 30 }), dueOf({ dispatchId: 'B', total: 30 })];
    const entries = [first, { ...second, entry: { ...second.entry, parts } }];
    const { sweep, woken } = sweeping({ entries, limitPerSecond: 'not known' });
    await sweep();
    expect(woken.map(([, part, of]) => [part, of])).toEqual([0, 1, 2].map((part) => [part, 3]));
    const fresh = sweeping({ entries: [first], limitPerSecond: 'not known' });
    await fresh.sweep();
    expect(fresh.woken.map(([, part, of]) => [part, of])).toEqual([[0, 1]]);
  });

  test('wakes each number once, all of its parts, and reads the holds of a WABA once', async () => {
    const entries = [
      ...[dueOf({ dispatchId: 'A', phoneNumberId: '1', total: 20 }), dueOf({ dispatchId: 'B', phoneNumberId: '1' })],
      dueOf({ dispatchId: 'C', phoneNumberId: '2', total: 20 }),
    ];
    const { sweep, woken, readHolds } = sweeping({ entries, limitPerSecond: 200 });
    expect(await countedBy(sweep)).toMatchObject([{ BacklogDue: 3, BacklogOverdue: 0 }]);
    expect(woken).toEqual([
      ...[['1', 0, 2, 0], ['1', 1, 2, 0]],
      ...[['2', 0, 2, 0], ['2', 1, 2, 0]],
    ]); // biome-ignore format: a row a number
    expect(readHolds).toHaveLength(1);
  });

  test('counts and names what is overdue', async () => {
    const acceptedAtMs = nowMs - overdueMs;
    const { sweep, logged } = sweeping({
      entries: [dueOf({ dispatchId: 'A', acceptedAtMs }), dueOf({ dispatchId: 'B' })],
    });
    expect(await countedBy(sweep)).toMatchObject([{ BacklogDue: 2, BacklogOverdue: 1 }]);
    expect(logged).toEqual([['dispatch.overdue', { dispatchId: 'A' }]]);
  });

  test('a number that cannot be swept is left out, and told at its end', async () => {
    const entries = [dueOf({ dispatchId: 'A', phoneNumberId: '1' }), dueOf({ dispatchId: 'B', phoneNumberId: '2' })];
    const { sweep, woken, logged } = sweeping({ entries, refusedNumber: '1' });
    await expect(sweep()).rejects.toThrow('1 dispatches or numbers are left out');
    expect(woken.map(([number]) => number)).toEqual(['2']);
    expect(logged).toEqual([['sweep.number_failed', { scope: 'number:1', error: 'Error' }]]);
  });

  test('passes over what cannot be read, wakes its number, and fails at its end', async () => {
    const entries = [dueOf({ dispatchId: 'A', acceptedAtMs: ago(61) }, { head: '{}' }), dueOf({ dispatchId: 'B' })];
    const { sweep, woken, logged } = sweeping({ entries, unreadable: ['1#C'] });
    await expect(sweep()).rejects.toThrow('2 dispatches or numbers are left out');
    expect(woken).toHaveLength(1);
    expect(logged).toEqual(['C', 'A'].map((dispatchId) => ['dispatch.unreadable', { dispatchId }]));
  });

  test('fails at once where the queue cannot be reached, and counts nothing: missing data rings', async () => {
    const { sweep } = sweeping({ entries: [dueOf({ dispatchId: 'A' })], wakeFails: true });
    const lines = await countedBy(async () => {
      await expect(sweep()).rejects.toThrow('left out');
    });
    expect(lines).toEqual([]);
  });
});

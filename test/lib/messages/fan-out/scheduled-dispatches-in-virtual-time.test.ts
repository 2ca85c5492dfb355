import { expect, test } from 'vitest';
import type { RoundMessage } from '../../../../lib/messages/accept/round-message.ts';
import { newEntry } from '../../../../lib/messages/dispatch/backlog.ts';
import type { QueuedChunk } from '../../../../lib/messages/dispatch/chunk.ts';
import type { DispatchHead } from '../../../../lib/messages/dispatch/head.ts';
import { cancelled } from '../../../../lib/messages/dispatch/item-state.ts';
import { type Lot, lotAt, type Opening } from '../../../../lib/messages/dispatch/lots.ts';
import { lookAtBacklog } from '../../../../lib/messages/fan-out/backlog-look.ts';
import { fanOutDispatch } from '../../../../lib/messages/fan-out/fan-out-dispatch.ts';
import { asAccepted } from '../../../../lib/messages/fan-out/revalidate-dispatch.ts';
import type { FanOutPorts } from '../../../../lib/messages/fan-out/round.ts';
import { slotMsOf } from '../../../../lib/messages/pace/schedule.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';
import { MemoryNumbers } from '../../../support/memory-numbers.ts';
import { type Caller, MemoryTable, nothingFails } from '../../../support/messages-table/memory-table.ts';
import { noCosts } from '../../../support/no-costs.ts';

/**
 * Plays scheduled dispatches (D56, R54) from acceptance to their last release, in virtual time: the real fan-out runs
 * on model tables, and round messages come when due. Each message leaves in its released slot; worker tests are
 * elsewhere.
 */

const startMs = 1_800_000_000_000;
const hours = (count: number) => startMs + count * 3_600_000;
const windowOf = (...spans: (readonly [number, number])[]) =>
  spans.map(([from, until]): Opening => [hours(from), hours(until)]);

/** The sequence is pseudo-random, and the same in every run. */
function chance(): () => number {
  let state = 1;
  return () => {
    state = (state * 16_807) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

class Killed extends Error {}

interface Released {
  readonly dispatchId: string;
  readonly index: number;
  readonly slotMs: number;
  readonly chunk: QueuedChunk;
}

class World {
  nowMs = startMs;
  readonly table = new MemoryTable();
  readonly numbers = new MemoryNumbers();
  readonly events = new MemoryEvents();
  readonly released = new Map<string, Released>();
  readonly watched = new Set<string>();
  readonly rounds: number[] = [];
  judged = 0;
  doubled = 0;
  kills = 0;
  woken = 0;
  judge: FanOutPorts['judge'] = async (dispatch) => asAccepted(dispatch);
  costStop: FanOutPorts['costStop'] = noCosts.costStop;
  readonly counted = new Set<string>();
  limitPerSecond = 10;
  /** A run dies at this share of the calls. */
  killShare = 0;
  readonly #random = chance();
  readonly #byMs = new Map<number, RoundMessage[]>();
  readonly #times: number[] = [];

  accept(head: Partial<DispatchHead>, lots?: readonly Lot[]): void {
    const when = lots === undefined ? {} : { when: { asked: {}, fromMs: startMs } };
    const full = makeDispatchHead({ acceptedAtMs: startMs, ...when, ...head });
    const { dispatchId, clientId, total } = full;
    const recipients = Array.from({ length: total }, (_, index) => ({ to: String(index) }));
    const plan = { templateName: 'order_update', languageCode: 'en_US', buttons: [], cards: [] };
    const whole = { head: full, plan, recipients, lots };
    this.table.store(whole);
    this.table.backlog.set(dispatchId, newEntry(full));
    this.table.begin(full);
    this.deliver({ dispatchId, clientId, acceptedAtMs: startMs }, 0);
  }

  deliver(message: RoundMessage, delaySeconds: number): void {
    const atMs = this.nowMs + delaySeconds * 1_000;
    const beside = this.#byMs.get(atMs);
    if (beside !== undefined) return void beside.push(message);
    this.#byMs.set(atMs, [message]);
    const place = this.#times.findIndex((timeMs) => timeMs > atMs);
    this.#times.splice(place < 0 ? this.#times.length : place, 0, atMs);
  }

  /** Delivers round messages until none is left, or until the given time. */
  async play(untilMs = Number.POSITIVE_INFINITY): Promise<void> {
    for (;;) {
      const [atMs] = this.#times;
      if (atMs === undefined || atMs > untilMs) break;
      this.#times.shift();
      this.nowMs = Math.max(this.nowMs, atMs);
      const messages = this.#byMs.get(atMs) ?? [];
      this.#byMs.delete(atMs);
      for (const message of messages) await this.#run(message);
    }
    this.nowMs = Math.max(this.nowMs, Math.min(untilMs, Number.MAX_SAFE_INTEGER));
  }

  /** Drops all queued messages. */
  loseMessages(): void {
    this.#byMs.clear();
    this.#times.length = 0;
  }

  async look(): Promise<void> {
    const { table } = this;
    await lookAtBacklog({
      backlog: table.ofLook(nothingFails),
      withdraw: table.ofAcceptance(nothingFails).withdraw,
      wake: async (message, delaySeconds) => {
        this.woken += 1;
        this.deliver(message, delaySeconds);
      },
      nowMs: () => this.nowMs,
      log: () => undefined,
    });
  }

  async #run(message: RoundMessage): Promise<void> {
    this.rounds.push(this.nowMs);
    let isDead = false;
    const run: Caller = {
      call: async (_, effect) => {
        if (isDead) throw new Killed();
        if (this.#random() < this.killShare) {
          // The run dies before or after the effect of the call.
          if (this.#random() < 0.5) await effect();
          isDead = true;
          this.kills += 1;
          throw new Killed();
        }
        return await effect();
      },
    };
    try {
      const end = await fanOutDispatch(message, `run ${this.rounds.length}`, this.#portsOf(run));
      if (end === 'again') this.deliver(message, 60);
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      this.deliver(message, 60);
    }
  }

  #portsOf(run: Caller): FanOutPorts {
    const { table, numbers } = this;
    const nowMs = () => this.nowMs;
    const pause = async () => undefined;
    return {
      dispatches: table.ofRounds(run),
      states: table.ofStates(run),
      slices: table.ofSlices(run),
      events: { send: (events) => run.call('events', () => this.events.send(events)) },
      queue: {
        pack: (entries) => [[...entries]],
        sendBatch: (entries) => run.call('sendBatch', () => this.#queued(entries.map(({ body }) => JSON.parse(body)))),
      },
      watch: { sendLater: (watch) => run.call('watch', () => void this.watched.add(watch.dispatchId)) },
      sendAgain: (next, seconds) => run.call('sendAgain', () => this.deliver(next, seconds)),
      costStop: (released) => this.costStop(released),
      countNow: (dispatchId) => run.call('countNow', () => void this.counted.add(dispatchId)),
      judge: (dispatch) => {
        this.judged += 1;
        return this.judge(dispatch);
      },
      hold: async () => undefined,
      againAfterSeconds: 30,
      compose: (_, { to }) => ({ to }),
      paces: numbers.paces({ ...run, pause }, nowMs),
      limitOf: async () => this.limitPerSecond,
      ...{ nowMs, pause, random: this.#random, remainingMs: () => 60_000, log: () => undefined },
    };
  }

  #queued(chunks: readonly QueuedChunk[]): [] {
    for (const chunk of chunks) {
      const { dispatchId, phoneNumberId, clientId, lane } = chunk;
      const { schedule } = this.numbers.paceOf(phoneNumberId);
      for (const { position = 0, recipients } of chunk.slices) {
        for (const [at, { index }] of recipients.entries()) {
          const slotMs = slotMsOf(schedule, { clientId, lane, position: position + at }) ?? this.nowMs;
          const name = `${dispatchId}-${index}`;
          if (this.released.has(name)) this.doubled += 1;
          else this.released.set(name, { dispatchId, index, slotMs, chunk });
        }
      }
    }
    return [];
  }

  /** Counts recipients by their end: released, the code of an outcome, both or neither. */
  endsOf(dispatchId: string, total: number): Record<string, number> {
    const ends: Record<string, number> = {};
    for (let index = 0; index < total; index += 1) {
      const outcome = this.table.slices.get(`${dispatchId} ${Math.floor(index / 10)}`)?.outcomes[index % 10];
      const code = outcome !== undefined && 'code' in outcome ? outcome.code : undefined;
      const isReleased = this.released.has(`${dispatchId}-${index}`);
      const end = isReleased && code !== undefined ? 'both' : isReleased ? 'released' : (code ?? 'neither');
      ends[end ?? 'neither'] = (ends[end ?? 'neither'] ?? 0) + 1;
    }
    return ends;
  }

  /**
   * Returns messages with a slot outside the openings of their slice. A slice of several lots leaves the decision to
   * its worker.
   */
  outside(dispatchId: string, lots: readonly Lot[]): (readonly [index: number, slotMs: number])[] {
    const total = lots.at(-1)?.until ?? 0;
    return [...this.released.values()].flatMap(({ dispatchId: own, index, slotMs }) => {
      if (own !== dispatchId) return [];
      const first = index - (index % 10);
      const slice = Array.from({ length: Math.min(10, total - first) }, (_, place) => lotAt(lots, first + place));
      const isInside = slice.some(({ open }) => open.some(([fromMs, untilMs]) => slotMs >= fromMs && slotMs < untilMs));
      return isInside ? [] : [[index, slotMs] as const];
    });
  }
}

/** The openings of three zones follow each other each day; the last zone opens once, too briefly for its messages. */
const threeZones: readonly Lot[] = [
  { until: 1_507, open: windowOf([1, 2], [25, 26], [49, 50]) },
  { until: 3_004, open: windowOf([1.5, 1.6], [25.5, 25.6], [49.5, 49.6]) },
  { until: 3_500, open: windowOf([30, 30.01]) },
  { until: 3_520, open: [] },
];

test('several lots over days, on a slow number beside another client: 0 outside, 0 lost, 0 twice', async () => {
  const world = new World();
  world.limitPerSecond = 0.5;
  world.accept({ dispatchId: 'LOTS', clientId: 1, total: 3_520 }, threeZones);
  world.accept({ dispatchId: 'OTHER', clientId: 2, total: 4_000 });
  await world.play();
  const { released, neither, both, expired } = world.endsOf('LOTS', 3_520);
  expect([neither, both, (released ?? 0) + (expired ?? 0)]).toEqual([undefined, undefined, 3_520]);
  // The first lot has 3 hours at 0.45 a second and shares its first opening; the second has 18 minutes; the third opens
  // for 36 s.
  expect(released).toBeGreaterThan(1_507 + 300);
  expect(world.outside('LOTS', threeZones)).toEqual([]);
  expect([world.doubled, [...world.watched].sort()]).toEqual([0, ['LOTS', 'OTHER']]);
  expect(world.endsOf('OTHER', 4_000)).toEqual({ released: 4_000 });
  // A lot that never opens again gets its event at once, and chunks carry future openings only.
  expect(world.events.sent[0]).toMatchObject({ type: 'message.expired', data: { code: 'expired' } });
  for (const { chunk } of world.released.values()) {
    const openings = chunk.lots?.flatMap(({ open }) => open) ?? [];
    expect(openings.every(([, untilMs]) => untilMs > startMs)).toBe(true);
  }
  await world.look();
  expect(world.table.backlog.size).toBe(0);
  // While every lot is closed, a round comes each quarter of an hour and reserves no slots.
  expect(world.rounds.length).toBeLessThan(1_500);
  expect(world.judged).toBeLessThan(world.rounds.length);
});

test('runs that die at any step lose no recipient, and release none outside', async () => {
  const world = new World();
  world.killShare = 0.05;
  world.limitPerSecond = 2;
  world.accept({ dispatchId: 'LOTS', clientId: 1, total: 3_520 }, threeZones);
  await world.play();
  const { released, expired, neither } = world.endsOf('LOTS', 3_520);
  expect([neither, (released ?? 0) + (expired ?? 0)]).toEqual([undefined, 3_520]);
  expect(world.kills).toBeGreaterThan(20);
  // An announced wave keeps its slots even if its opening ends before it is queued: its worker decides.
  expect(world.outside('LOTS', threeZones)).toEqual([]);
  expect(world.watched).toEqual(new Set(['LOTS']));
  // A repeated event keeps its id.
  const told = new Set(world.events.sent.map(({ id }) => id));
  expect(told.size).toBe(expired);
});

test('ten thousand dispatches of one recipient at the same minute: each is released once, not before it, and not all in one second', async () => {
  const world = new World();
  world.limitPerSecond = 1_000;
  const lots: readonly Lot[] = [{ until: 1, open: [[hours(0.75), hours(24)]] }];
  for (let dispatch = 0; dispatch < 10_000; dispatch += 1) {
    world.accept({ dispatchId: `J${String(dispatch).padStart(9, '0')}`, clientId: 1, total: 1 }, lots);
  }
  await world.play();
  const slots = [...world.released.values()].map(({ slotMs }) => slotMs);
  expect([slots.length, world.doubled, world.watched.size]).toEqual([10_000, 0, 10_000]);
  await world.look();
  expect(world.table.backlog.size).toBe(0);
  expect(Math.min(...slots)).toBeGreaterThanOrEqual(hours(0.75));
  // The number takes 900 a second.
  expect(Math.max(...slots)).toBeLessThan(hours(0.75) + 20_000);
  const bySecond = Map.groupBy(
    world.rounds.filter((atMs) => atMs > startMs),
    (atMs) => Math.floor(atMs / 1_000),
  );
  expect(Math.max(...[...bySecond.values()].map(({ length }) => length))).toBeLessThan(2_500);
});

test.each(['template_deleted', 'template_switched_off', 'channel_removed', 'template_changed'])(
  'a dispatch that may not leave any more at its time ends as %s',
  async (code) => {
    const world = new World();
    world.judge = async () => ({ kind: 'refused', stop: { state: 'failed', code } });
    world.accept({ dispatchId: 'J', total: 37 }, [{ until: 37, open: windowOf([2, 3]) }]);
    await world.play(hours(2) - 1);
    // Before its time the dispatch makes no reads.
    expect([world.judged, world.events.sent]).toEqual([0, []]);
    await world.play();
    expect([world.judged, world.endsOf('J', 37)]).toEqual([1, { [code]: 37 }]);
    expect(world.events.sent.map(({ type }) => type)).toEqual(Array(37).fill('message.failed'));
    expect(world.table.states.get('J')?.stop).toMatchObject({ state: 'failed', code });
  },
);

test('what has become too expensive by a later opening ends before a call, and what has left is told as released (D56)', async () => {
  const world = new World();
  const reason = 'the send would cost 1 USD';
  world.costStop = async ({ rests: [rest] }) =>
    rest?.from === 0 ? undefined : { state: 'failed', code: 'over_max_cost', reason };
  world.accept({ dispatchId: 'J', total: 30 }, [
    { until: 20, open: windowOf([2, 3]) },
    { until: 30, open: windowOf([4, 5]) },
  ]);
  await world.play();
  expect(world.endsOf('J', 30)).toEqual({ released: 20, over_max_cost: 10 });
  expect(world.table.states.get('J')?.stop).toMatchObject({ code: 'over_max_cost', reason });
  // The reservation of what has ended is free at once.
  expect([...world.counted]).toEqual(['J']);
});

test('of a template that was edited, who does not fit any more is said so to the worker, and the others go', async () => {
  const world = new World();
  world.judge = async ({ head, plan }) => {
    return { kind: 'sendable', head: { ...head, category: 'UTILITY' }, plan, fits: ({ to }) => to !== '3' };
  };
  world.accept({ dispatchId: 'J', total: 12 }, [{ until: 12, open: windowOf([2, 3]) }]);
  await world.play();
  const carried = [...world.released.values()].flatMap(({ chunk }) =>
    chunk.slices.flatMap(({ recipients }) => recipients),
  );
  const unfit = carried.filter(({ request }) => request === undefined);
  expect(new Set(unfit.map(({ index, unfit: is }) => `${index} ${is}`))).toEqual(new Set(['3 true']));
  expect([...world.released.values()].every(({ chunk }) => chunk.category === 'UTILITY')).toBe(true);
});

test('a table that cannot be asked about the template: the round comes again, and nothing is judged by a guess', async () => {
  const world = new World();
  let asked = 0;
  world.judge = async (dispatch) => {
    asked += 1;
    if (asked < 3) throw new Killed();
    return asAccepted(dispatch);
  };
  world.accept({ dispatchId: 'J', total: 12 }, [{ until: 12, open: windowOf([2, 3]) }]);
  await world.play();
  expect([asked, world.endsOf('J', 12)]).toEqual([3, { released: 12 }]);
});

test('cancelled while it waits, its recipients end by its next round', async () => {
  const world = new World();
  world.accept({ dispatchId: 'J', total: 37 }, [{ until: 37, open: windowOf([20, 30]) }]);
  await world.play(hours(1));
  const { stop } = world.table.ofStates({ call: async (_, effect) => await effect() });
  await stop(makeDispatchHead({ dispatchId: 'J' }), cancelled(world.nowMs));
  await world.play(hours(1.26));
  expect(world.endsOf('J', 37)).toEqual({ cancelled: 37 });
});

test('a round whose message is lost is woken within a minute of its time, and one that is only late is not sent twice', async () => {
  const world = new World();
  world.accept({ dispatchId: 'J', total: 37 }, [{ until: 37, open: windowOf([2, 3]) }]);
  await world.play(hours(1));
  await world.look();
  expect(world.woken).toBe(0);
  world.loseMessages();
  const dueMs = world.table.dispatches.get('J')?.round?.dueMs ?? 0;
  for (; world.woken === 0; world.nowMs += 60_000) await world.look();
  expect(world.nowMs - dueMs).toBeLessThanOrEqual(125_000);
  // The message is on its way: looks come again, ever more rarely, and do no harm.
  for (let looks = 0; looks < 30; looks += 1) {
    world.nowMs += 60_000;
    await world.look();
  }
  expect(world.woken).toBeLessThan(12);
  await world.play();
  expect([world.endsOf('J', 37), world.doubled]).toEqual([{ released: 37 }, 0]);
});

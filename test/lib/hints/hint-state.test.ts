import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  callsAnHour,
  gatherMs,
  type HintState,
  hintsArrived,
  idle,
  type Step,
  type Turn,
  turnEnded,
  turnLeaseMs,
  wakeSent,
} from '../../../lib/hints/hint-state.ts';
import { noTask, type RefreshTask } from '../../../lib/hints/refresh-task.ts';
import { type Step as ExplorationStep, explore } from '../../support/exploration.ts';
import { thorough } from '../../support/thorough.ts';

const hintOf = (...templateIds: string[]): RefreshTask => ({ ...noTask, templateIds });
const everything: RefreshTask = { ...noTask, everything: true };
const startMs = 1_800_000_000_000;
const hourMs = 3_600_000;

function tell(state: HintState, task: RefreshTask, nowMs: number, ...wakesAtMs: number[]) {
  return hintsArrived(state, { task, wakesAtMs }, nowMs);
}

function turnOf(step: Step): Turn {
  if (step.kind !== 'read') throw new Error(`nothing is read: ${step.kind}`);
  return step.turn;
}

const endOf = ({ turn, calls }: Turn, left: RefreshTask = noTask) => ({
  turn,
  left,
  callsMade: calls,
  failed: left !== noTask,
});

test('the first hint is acted on at once, further ones are gathered for one turn', () => {
  let { state, step } = tell(idle, hintOf('1'), startMs);
  const first = turnOf(step);
  expect(first.task).toEqual(hintOf('1'));
  ({ state, step } = tell(state, hintOf('2'), startMs + 1));
  expect(step).toEqual({ kind: 'wake', atMs: startMs + turnLeaseMs });
  state = wakeSent(state, startMs + turnLeaseMs, startMs + 1);
  ({ state, step } = tell(state, hintOf('3'), startMs + 2));
  expect(step).toEqual({ kind: 'done' });
  ({ state, step } = turnEnded(state, endOf(first), startMs + 1_000));
  const readyAtMs = startMs + 1_000 + gatherMs;
  expect(step).toEqual({ kind: 'wake', atMs: readyAtMs });
  ({ state, step } = tell(wakeSent(state, readyAtMs, startMs + 1_000), noTask, readyAtMs, readyAtMs));
  expect(turnOf(step).task).toEqual(hintOf('2', '3'));
});

test('six single templates are read as the whole list', () => {
  expect(turnOf(tell(idle, hintOf('1', '2', '3', '4', '5'), startMs).step).task.templateIds).toHaveLength(5);
  expect(turnOf(tell(idle, hintOf('1', '2', '3', '4', '5', '6'), startMs).step).task).toEqual(everything);
});

test('with too few calls for the list, single templates are read first; the list waits, also one that was begun (D42)', () => {
  const spent = [{ turn: 0, beganAtMs: startMs, calls: 45 }];
  const nine = hintOf(...'123456789');
  const { state, step } = tell({ ...idle, spent }, nine, startMs + 1);
  expect(turnOf(step)).toMatchObject({ task: hintOf(...'1234567'), calls: 14 });
  expect(state.gathered).toEqual(hintOf('8', '9'));

  const listing = { after: 'c' };
  const begun = tell({ ...idle, spent, listing, reading: everything }, hintOf('7'), startMs + 1);
  expect(turnOf(begun.step)).toEqual({ turn: 1, task: hintOf('7'), calls: 2 });
  const over = turnEnded(begun.state, { turn: 1, left: noTask, callsMade: 1, failed: false }, startMs + 2);
  expect([over.state.listing, over.state.reading, over.state.gathered]).toEqual([listing, everything, noTask]);
  const atMs = startMs + hourMs + turnLeaseMs;
  expect(turnOf(tell(over.state, noTask, atMs).step)).toMatchObject({ task: everything, listing });
});

test('what a list has used up of the hour delays the next list, and no single template (D42)', () => {
  const first = tell(idle, everything, startMs);
  const list = { turn: 1, left: noTask, callsMade: 16, failed: false };
  let { state } = turnEnded(first.state, list, startMs);
  ({ state } = turnEnded(tell(state, everything, startMs + gatherMs).state, { ...list, turn: 2 }, startMs + gatherMs));
  const soonMs = startMs + 2 * gatherMs;
  expect(tell(state, everything, soonMs).step).toEqual({ kind: 'wake', atMs: soonMs + 900_000 });
  expect(turnOf(tell(state, hintOf('7'), soonMs).step).task).toEqual(hintOf('7'));
});

test('what could not be read comes again, later each time', () => {
  let state = idle;
  let nowMs = startMs;
  const pauses = [];
  for (let attempt = 0; attempt < 9; attempt += 1) {
    const begun = tell(state, hintOf('1'), nowMs);
    const { step, state: after } = turnEnded(begun.state, endOf(turnOf(begun.step), hintOf('1')), nowMs);
    pauses.push((after.readyAtMs - nowMs) / 60_000);
    expect(step).toMatchObject({ kind: 'wake', atMs: Math.min(after.readyAtMs, nowMs + 900_000) });
    state = after;
    nowMs = after.readyAtMs;
  }
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
});

test('a list that is too long for one turn is gone on with before what was gathered meanwhile', () => {
  const first = tell(idle, everything, startMs);
  const gathered = tell(first.state, hintOf('9'), startMs + 1);
  const ending = {
    ...endOf(turnOf(first.step)),
    left: { ...everything, numbers: true },
    listing: { after: 'x' },
    failed: false,
  };
  const { state } = turnEnded(gathered.state, ending, startMs + 2);
  const second = tell(state, noTask, startMs + hourMs);
  expect(turnOf(second.step)).toMatchObject({ task: everything, listing: { after: 'x' } });
  const done = turnEnded(second.state, endOf(turnOf(second.step)), startMs + hourMs + 1);
  const third = tell(done.state, noTask, startMs + 2 * hourMs);
  expect(turnOf(third.step)).toMatchObject({ task: { ...hintOf('9'), numbers: true } });
  expect(turnOf(third.step).listing).toBeUndefined();
});

test('never more than 60 calls in an hour, whatever comes and whichever worker dies (R49)', () => {
  const task = fc.oneof(
    fc.uniqueArray(fc.integer({ min: 1, max: 9 }).map(String), { maxLength: 7 }).map((ids) => hintOf(...ids)),
    fc.constant(everything),
    fc.constant({ ...noTask, numbers: true }),
  );
  const move = fc.record({
    task,
    waitMs: fc.integer({ min: 0, max: 400_000 }),
    dies: fc.boolean(),
    late: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(move, { minLength: 20, maxLength: 150 }), (moves) => {
      const calls: number[] = [];
      let state = idle;
      let nowMs = startMs;
      for (const { task: told, waitMs, dies, late } of moves) {
        nowMs += waitMs;
        const { state: after, step } = tell(state, told, nowMs);
        state = after;
        if (step.kind !== 'read') continue;
        // A worker may still run until its lease ends.
        const madeAtMs = late ? nowMs + turnLeaseMs : nowMs;
        calls.push(...Array.from({ length: step.turn.calls }, () => madeAtMs));
        if (!dies) ({ state } = turnEnded(state, endOf(step.turn), nowMs));
      }
      for (const from of calls) {
        expect(calls.filter((atMs) => atMs >= from && atMs < from + hourMs).length).toBeLessThanOrEqual(callsAnHour);
      }
    }),
    { numRuns: thorough ? 300 : 60 },
  );
});

/**
 * Explores every history of a few hints: two workers, crashes between steps, messages that come twice or too early,
 * failed reads. `truth` counts each template's changes upstream; `read` holds the count at the last read.
 */
type Phase =
  | { readonly at: 'arriving' }
  | { readonly at: 'reading'; readonly turn: Turn }
  | { readonly at: 'ending'; readonly turn: Turn; readonly left: RefreshTask }
  | { readonly at: 'sending' | 'noting'; readonly atMs: number }
  | { readonly at: 'acknowledging' };
interface Message {
  readonly id: number;
  readonly task: RefreshTask;
  readonly wakesAtMs: readonly number[];
  readonly visibleAtMs: number;
  readonly held: boolean;
}
interface Worker {
  readonly message: Message;
  readonly phase: Phase;
}
interface World {
  readonly nowMs: number;
  readonly hints: HintState;
  readonly queue: readonly Message[];
  readonly workers: readonly (Worker | null)[];
  readonly truth: Readonly<Record<string, number>>;
  readonly read: Readonly<Record<string, number>>;
  readonly untold: readonly string[];
  readonly faultsLeft: number;
  readonly nextId: number;
}

const phaseAfter = (step: Step): Phase => {
  if (step.kind === 'read') return { at: 'reading', turn: step.turn };
  return step.kind === 'wake' ? { at: 'sending', atMs: step.atMs } : { at: 'acknowledging' };
};
const withWorker = (world: World, index: number, worker: Worker | null): World => ({
  ...world,
  workers: world.workers.with(index, worker),
});
const enqueued = (world: World, message: Omit<Message, 'id' | 'held'>): World => ({
  ...world,
  queue: [...world.queue, { ...message, id: world.nextId, held: false }],
  nextId: world.nextId + 1,
});

function stepped(world: World, index: number, { message, phase }: Worker, fails: boolean): World {
  const { nowMs, hints } = world;
  const go = (next: Phase, after: Partial<World> = {}) =>
    withWorker({ ...world, ...after }, index, { message, phase: next });
  switch (phase.at) {
    case 'arriving': {
      const { state, step } = hintsArrived(hints, message, nowMs);
      return go(phaseAfter(step), { hints: state });
    }
    case 'reading': {
      const { task } = phase.turn;
      if (fails) return go({ at: 'ending', turn: phase.turn, left: task }, { faultsLeft: world.faultsLeft - 1 });
      const seen = Object.fromEntries(task.templateIds.map((id) => [id, world.truth[id] ?? 0]));
      return go({ at: 'ending', turn: phase.turn, left: noTask }, { read: { ...world.read, ...seen } });
    }
    case 'ending': {
      const { state, step } = turnEnded(hints, endOf(phase.turn, phase.left), nowMs);
      return go(phaseAfter(step), { hints: state });
    }
    case 'sending': {
      const wake = { task: noTask, wakesAtMs: [phase.atMs], visibleAtMs: phase.atMs };
      return withWorker(enqueued(world, wake), index, { message, phase: { at: 'noting', atMs: phase.atMs } });
    }
    case 'noting':
      return go({ at: 'acknowledging' }, { hints: wakeSent(hints, phase.atMs, nowMs) });
    case 'acknowledging':
      return withWorker({ ...world, queue: world.queue.filter(({ id }) => id !== message.id) }, index, null);
  }
}

function successors(world: World): ExplorationStep<World>[] {
  const found: ExplorationStep<World>[] = [];
  const may = (does: string, state: World) => void found.push({ does, state });
  const { nowMs, queue, workers, faultsLeft, untold } = world;
  const idleAt = workers.indexOf(null);
  const released = (id: number, held: boolean) => queue.map((each) => (each.id === id ? { ...each, held } : each));
  const [template, ...others] = untold;
  if (template !== undefined) {
    const truth = { ...world.truth, [template]: (world.truth[template] ?? 0) + 1 };
    const told = { task: hintOf(template), wakesAtMs: [], visibleAtMs: nowMs };
    may(`${template} changes`, enqueued({ ...world, truth, untold: others }, told));
  }
  for (const message of queue) {
    const early = message.visibleAtMs > nowMs;
    if (!message.held && idleAt !== -1 && (!early || faultsLeft > 0)) {
      const taken = { ...world, queue: released(message.id, true), faultsLeft: faultsLeft - (early ? 1 : 0) };
      may('a worker takes a message', withWorker(taken, idleAt, { message, phase: { at: 'arriving' } }));
    }
    if (message.held && faultsLeft > 0)
      may('a message comes twice', { ...world, queue: released(message.id, false), faultsLeft: faultsLeft - 1 });
  }
  for (const [index, worker] of workers.entries()) {
    if (worker === null) continue;
    may(`worker ${index}: ${worker.phase.at}`, stepped(world, index, worker, false));
    if (faultsLeft === 0) continue;
    if (worker.phase.at === 'reading') may('a reading fails', stepped(world, index, worker, true));
    const crashed = { ...world, queue: released(worker.message.id, false), faultsLeft: faultsLeft - 1 };
    may(`worker ${index} dies`, withWorker(crashed, index, null));
  }
  // Time moves to the next event; during a worker's run this is a stall.
  const stalls = workers.some((worker) => worker !== null);
  const leaseEndMs = world.hints.lease?.untilMs ?? 0;
  const times = [leaseEndMs, world.hints.readyAtMs, ...queue.map(({ visibleAtMs }) => visibleAtMs)];
  const later = times.filter((atMs) => atMs > nowMs).sort((a, b) => a - b)[0];
  if (later === undefined || (stalls && faultsLeft === 0)) return found;
  may('time passes', { ...world, nowMs: later, faultsLeft: faultsLeft - (stalls ? 1 : 0) });
  return found;
}

/** Equal worlds differ only in the clock, the numbers of messages and turns, and the names of workers. */
function keyOf({ nowMs, hints, queue, workers, ...world }: World): string {
  const { lease, readyAtMs, wakeAtMs, turn: latest, spent: _, ...gathered } = hints;
  const since = (atMs: number) => atMs - nowMs;
  const ids = new Map(queue.map(({ id }, place) => [id, place]));
  const messageText = ({ id, task, wakesAtMs, visibleAtMs, held }: Message) => [
    ids.get(id) ?? -1,
    task.templateIds,
    wakesAtMs.map((atMs) => [Math.max(-1, since(atMs)), atMs === wakeAtMs]),
    Math.max(0, since(visibleAtMs)),
    held,
  ];
  const phaseText = (phase: Phase) => {
    if (phase.at === 'sending' || phase.at === 'noting') return [phase.at, since(phase.atMs)];
    return 'turn' in phase
      ? [phase.at, phase.turn.turn - latest, phase.turn.task, 'left' in phase && phase.left]
      : [phase.at];
  };
  const { untold, faultsLeft, truth, read } = world;
  const behind = Object.entries(truth).map(([id, changes]) => [id, changes - (read[id] ?? 0)]);
  return JSON.stringify([
    [
      Math.max(0, since(lease?.untilMs ?? 0)),
      Math.max(0, since(readyAtMs)),
      wakeAtMs === 0 ? null : Math.max(-1, since(wakeAtMs)),
      gathered,
    ],
    queue.map(messageText),
    workers.map((worker) => JSON.stringify(worker && [messageText(worker.message), phaseText(worker.phase)])).sort(),
    [untold, faultsLeft, behind],
  ]);
}

const isOver = ({ queue, untold, workers }: World) =>
  queue.length === 0 && untold.length === 0 && workers.every((worker) => worker === null);

test.each([
  ['one template that changes twice', ['A', 'A'], thorough ? 2 : 1],
  thorough ? ['two templates, one of them twice', ['A', 'B', 'A'], 1] : ['two templates', ['A', 'B'], 1],
])('every history of %s ends with the latest change read (R49)', async (_, untold, faultsLeft) => {
  const first: World = {
    nowMs: 1_000,
    hints: idle,
    queue: [],
    workers: [null, null],
    truth: {},
    read: {},
    untold,
    faultsLeft,
    nextId: 0,
  };
  let ends = 0;
  const worlds = await explore(first, {
    successorsOf: async (world) => (isOver(world) ? [] : successors(world)),
    keyOf,
    check: (world) => {
      if (!isOver(world)) return;
      ends += 1;
      expect(world.read).toEqual(world.truth);
    },
  });
  expect(ends).toBeGreaterThan(5);
  expect(worlds).toBeGreaterThan(500);
});

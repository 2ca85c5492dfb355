import type { DispatchItem, DispatchItemState } from '../../../../lib/messages/dispatch/item.ts';
import { cancelled } from '../../../../lib/messages/dispatch/item-state.ts';
import { dispatchWrites } from '../../../../lib/messages/dispatch/item-writes.ts';
import type { Taken } from '../../../../lib/messages/fan-out/dispatch-rounds.ts';
import { leaseMs, roundAfterLast } from '../../../../lib/messages/fan-out/dispatch-rounds.ts';
import type { Step } from '../../../support/exploration.ts';
import { written } from '../../../support/messages-table/dispatch-item.ts';
import type { Written } from '../../../support/messages-table/written.ts';
import { scenarioHead, startMs } from '../../../support/scenario-dispatch.ts';
import {
  effectOf,
  firstWorld,
  isAllReleased,
  type Op,
  type Run,
  type RunStanding,
  type Scenario,
  standingOf,
  type World,
} from './rounds-model.ts';

/** Time stands still, or passes by the length of a lease. */
export interface State {
  readonly world: World;
  readonly nowMs: number;
  readonly runs: readonly Run[];
  /** Writes that their runs have given up land at a later moment, always before a lease has passed. */
  readonly late: readonly Op[];
  readonly started: number;
  readonly deliveriesLeft: number;
  readonly faultsLeft: number;
  readonly waitsLeft: number;
  /**
   * The faults allow this many surplus copies of chunks: a whole one for a fault that hides a queued chunk from the
   * next run.
   */
  readonly excuses: number;
}

export function firstState(bounds: Pick<State, 'deliveriesLeft' | 'faultsLeft'>): State {
  const nothing = { runs: [], late: [], started: 0, excuses: 0 };
  return { world: firstWorld(), nowMs: startMs, waitsLeft: 1, ...nothing, ...bounds };
}

const standings = new Map<string, Promise<RunStanding>>();

function knownStanding(run: Run, scenario: Scenario): Promise<RunStanding> {
  const { message: _delivery, ...facts } = run;
  const key = JSON.stringify([facts, scenario.total, scenario.limitPerSecond, scenario.lots]);
  const known = standings.get(key) ?? standingOf(run, scenario);
  standings.set(key, known);
  return known;
}

/** Returns the possible next steps; `met` collects the answers of runs. */
export async function successorsOf(state: State, scenario: Scenario, met: Set<string>): Promise<Step<State>[]> {
  const { world, nowMs, late, runs } = state;
  const next = [...turnsOfDispatch(state, scenario), ...deliveries(state, scenario)];
  for (const [at, op] of late.entries()) {
    const after = { ...state, world: effectOf(world, op, nowMs).world, late: late.toSpliced(at, 1) };
    next.push({ does: `${op.name} lands late`, state: after });
  }
  let isSending = false;
  for (const run of runs) {
    const standing = await knownStanding(run, scenario);
    isSending ||= standing.open.some(({ name }) => name === 'sendBatch');
    next.push(...stepsOf(state, run, standing, { scenario, met }));
  }
  if (!isSending && late.length === 0 && state.waitsLeft > 0 && runs.length > 0) {
    const isHeld = runs.some(({ owner }) => owner === world.dispatch.round?.lease?.owner);
    const excuses = state.excuses + (isHeld ? 1 : 0);
    const after = { ...state, nowMs: nowMs + leaseMs, waitsLeft: state.waitsLeft - 1, excuses };
    next.push({ does: 'a lease passes', state: after });
  }
  return next;
}

/** Returns the steps of clients, workers and watchers. */
function turnsOfDispatch(state: State, { mayStop, mayPark }: Scenario): Step<State>[] {
  const { world } = state;
  const next: Step<State>[] = [];
  const { dispatchId } = scenarioHead;
  const turn = (does: string, { item: dispatch = {} }: Pick<Written<DispatchItem, unknown>, 'item'>) =>
    void next.push({ does: `the dispatch ${does}`, state: { ...state, world: { ...world, dispatch } } });
  const { stop, parked, pausedFromMs } = world.dispatch;
  const parking = { code: 'template_paused', scope: 'template', sinceMs: startMs } as const;
  if (mayStop && stop === undefined) {
    turn('is cancelled', written(world.dispatch, dispatchWrites.stop(scenarioHead, cancelled(startMs))));
  }
  if (mayPark && pausedFromMs === undefined)
    turn('is parked', written(world.dispatch, dispatchWrites.park(dispatchId, parking)));
  if (parked !== undefined) turn('resumes', written(world.dispatch, dispatchWrites.resume(dispatchId, parked)));
  return next;
}

function deliveries(state: State, { losesMessages }: Scenario): Step<State>[] {
  const { world, nowMs, started, runs } = state;
  const next: Step<State>[] = [];
  for (const { id, body, visible } of world.messages) {
    if (!visible) {
      if (state.faultsLeft > 0) {
        const faulty = { ...state, faultsLeft: state.faultsLeft - 1 };
        next.push({ does: `message ${id} comes again while its run is at work`, state: shown(faulty, id) });
      }
    } else if (state.deliveriesLeft > 0 && runs.length < 2) {
      if (losesMessages && state.faultsLeft > 0) {
        const left = { ...world, lost: true, messages: world.messages.filter((each) => each.id !== id) };
        next.push({
          does: `message ${id} is lost`,
          state: { ...state, faultsLeft: state.faultsLeft - 1, world: left },
        });
      }
      const messages = world.messages.map((each) => (each.id === id ? { ...each, visible: false } : each));
      const run = { owner: `run-${started}`, message: id, body, startedAtMs: nowMs, replies: [] };
      const counted = { started: started + 1, deliveriesLeft: state.deliveriesLeft - 1 };
      const after = { ...state, ...counted, world: { ...world, messages }, runs: [...runs, run] };
      next.push({ does: `${run.owner} takes message ${id}`, state: after });
    }
  }
  const isOver = world.dispatch.round?.round === roundAfterLast;
  const mayWake = losesMessages && !isOver && (world.messages.length === 0 ? world.lost : state.faultsLeft > 0);
  if (mayWake) {
    const isNeeded = world.messages.length === 0;
    const faultsLeft = state.faultsLeft - (isNeeded ? 0 : 1);
    next.push({ does: 'a look wakes the dispatch', state: { ...state, faultsLeft, world: woken(world) } });
  }
  return next;
}

/** A look at the backlog queues the message of the present round. */
function woken(world: World): World {
  const { dispatchId, clientId, acceptedAtMs } = scenarioHead;
  const body = { dispatchId, clientId, acceptedAtMs, round: world.dispatch.round?.round };
  const messages = [...world.messages, { id: world.nextId, body, visible: true }];
  return { ...world, messages, nextId: world.nextId + 1, lost: false };
}

function stepsOf(
  state: State,
  run: Run,
  { open, end }: RunStanding,
  { scenario, met }: { readonly scenario: Scenario; readonly met: Set<string> },
): Step<State>[] {
  const { world, nowMs, late } = state;
  const { owner, message } = run;
  const next: Step<State>[] = [];
  const add = (does: string, after: State) => void next.push({ does, state: after });
  const mayFail = state.faultsLeft > 0;
  const others = state.runs.filter((other) => other !== run);
  const harmed = (excuse: number): State => {
    return { ...state, faultsLeft: state.faultsLeft - 1, excuses: state.excuses + excuse };
  };
  if (mayFail) add(`${owner} dies`, shown({ ...harmed(1), runs: others }, message));
  if (end !== undefined) {
    const messages = world.messages.filter(({ id }) => id !== message);
    const acknowledged = { ...state, runs: others, world: { ...world, messages } };
    add(`${owner} ends: ${end}`, end === 'done' ? acknowledged : shown({ ...state, runs: others }, message));
    if (end === 'done' && mayFail) {
      add(`${owner} ends, unheard`, shown({ ...harmed(0), runs: others }, message));
    }
    return next;
  }
  for (const op of open) {
    const goOn = (base: State, reply: { readonly value?: unknown; readonly fails?: true }): State => {
      const replies = [...run.replies, { ...reply, call: op.number, atMs: nowMs }];
      return { ...base, runs: state.runs.map((each) => (each === run ? { ...run, replies } : each)) };
    };
    const what = `${op.name} of ${owner}`;
    const once = effectOf(world, op, nowMs);
    met.add(`${op.name} ${JSON.stringify(once.value)}`.slice(0, 22));
    add(what, goOn({ ...state, world: once.world }, { value: once.value }));
    if (!mayFail || op.name === 'pause') continue;
    // One failed store call hides nothing: at its end the run writes its queued chunks again.
    const faulty = harmed(op.name === 'sendBatch' ? 1 : 0.5);
    add(`${what} fails`, goOn(faulty, { fails: true }));
    add(`${what}, its reply lost`, goOn({ ...faulty, world: once.world }, { fails: true }));
    const twice = effectOf(once.world, op, nowMs);
    add(`${what}, repeated by the SDK`, goOn({ ...faulty, world: twice.world }, { value: twice.value }));
    const later = { name: op.name, args: op.args };
    if (!scenario.late?.some((name) => name === op.name)) continue;
    add(`${what}, given up, will land late`, goOn({ ...faulty, late: [...late, later] }, { fails: true }));
    const again = { ...faulty, world: once.world, late: [...late, later] };
    add(`${what}, will land once more`, goOn(again, { value: once.value }));
  }
  return next;
}

function shown(state: State, id: number): State {
  const messages = state.world.messages.map((each) => (each.id === id ? { ...each, visible: true } : each));
  return { ...state, world: { ...state.world, messages } };
}

/** Throws when a promise is broken. */
export async function check({ world, runs, late, excuses }: State, scenario: Scenario): Promise<void> {
  const standing = await Promise.all(runs.map((run) => knownStanding(run, scenario)));
  const sending = runs.filter((_, at) => standing[at]?.open.some(({ name }) => name === 'sendBatch'));
  if (sending.length > 1) throw new Error('R14: two runs queue side by side');
  if (sending.some(knowsOfHold))
    throw new Error('D53: a run queues although it was told that the dispatch is stopped or parked');
  for (const [at, { open, end }] of standing.entries()) {
    if (end !== undefined && open.length > 0) throw new Error('R14: a run ends while it is at work');
    if (runs[at] !== undefined && isOver(runs[at]) && open.length > 0)
      throw new Error('a run of a round that is over goes on');
  }
  if (world.wrong !== null) throw new Error(`R14: a chunk was queued ${world.wrong}`);
  if (Object.values(world.queued).some((times) => times > 1 + Math.floor(excuses))) {
    throw new Error('a chunk was queued once more, and nothing excuses it');
  }
  const isTold = Object.keys(world.ended).length > 0 || world.endedFrom !== null;
  const isQueuedOrTold = Object.keys(world.queued).length > 0 || isTold;
  checkLots(world, scenario);
  if (isQueuedOrTold && !world.listed)
    throw new Error('D40: something was queued or told before its dispatch is listed');
  if (world.dispatch.round?.round === roundAfterLast) checkReleased(world, scenario);
  if (runs.length > 0 || late.length > 0 || world.messages.length > 0 || world.lost) return;
  checkReleased(world, scenario);
}

/** Only lots that never open again end by themselves, and all of those do; a cancel may have ended the rest. */
function checkLots({ queued, ended, dispatch }: World, { lots = [] }: Scenario): void {
  for (const [at, { until, open }] of lots.entries()) {
    const first = lots[at - 1]?.until ?? 0;
    const some = { queued: queued[first] !== undefined, ended: ended[first] !== undefined };
    if (until - first !== 10) throw new Error('lots of this world are slices');
    if (some.queued && open.length === 0) throw new Error('D56: what opens no more was queued');
    if (some.ended && open.length > 0 && dispatch.stop === undefined)
      throw new Error('D56: what still opens has ended');
  }
}

function checkReleased(world: World, scenario: Scenario): void {
  if (!isAllReleased(world, scenario)) {
    throw new Error('R14: recipients are neither queued, nor ended, nor in a message');
  }
  if (!world.watched) throw new Error('D41: no watcher waits for the end of the dispatch');
}

/** Returns whether the run knows of a stop or pause, by its last answer on the dispatch's state. */
function knowsOfHold({ replies }: Run): boolean {
  const answers = replies.flatMap(({ value }): DispatchItemState[] => {
    const answered = (value ?? {}) as DispatchItemState & { readonly state?: DispatchItemState };
    if (answered.state !== undefined) return [answered.state];
    return typeof value === 'object' && !Array.isArray(value) ? [answered] : [];
  });
  const last = answers.at(-1);
  return last?.stop !== undefined || last?.parked !== undefined;
}

function isOver({ replies }: Run): boolean {
  return replies.some(({ value }) => (value as Taken | undefined)?.kind === 'over');
}

/** When faults end, the remaining messages bring the dispatch to its end. */
export async function checkFinished(state: State, scenario: Scenario): Promise<void> {
  const { parked: _waiting, ...resumed } = state.world.dispatch;
  let world: World = { ...state.world, dispatch: resumed };
  if (world.lost && world.dispatch.round?.round !== roundAfterLast) world = woken(world);
  world = { ...world, lost: false };
  let { nowMs } = state;
  for (let turn = 0; world.messages.length > 0; turn += 1) {
    if (turn > 30) throw new Error('R14: the dispatch circulates for ever');
    nowMs += leaseMs;
    const [message, ...others] = world.messages;
    if (message === undefined) return;
    world = { ...world, messages: others };
    const { id, body } = message;
    let run: Run = { owner: `last-${turn}`, message: id, body, startedAtMs: nowMs, replies: [] };
    for (;;) {
      const { open, end } = await standingOf(run, scenario);
      const [op] = open;
      if (op === undefined) {
        if (end !== 'done') throw new Error(`without a fault a run ends ${end}`);
        break;
      }
      const effect = effectOf(world, op, nowMs);
      world = effect.world;
      run = { ...run, replies: [...run.replies, { value: effect.value, call: op.number, atMs: nowMs }] };
    }
  }
  await check({ ...state, world, runs: [], late: [], excuses: state.excuses + 1 }, scenario);
}

/** States with the same future have the same key: attributes of an item have no order, and its head never changes. */
export function keyOf({ world, ...state }: State): string {
  const { head, ...attributes } = world.dispatch;
  const item = Object.entries(attributes).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify({ ...state, world: { ...world, dispatch: [head !== undefined, item] } });
}

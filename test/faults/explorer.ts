import { createHash } from 'node:crypto';
import { claimLifeMs } from '../../lib/messages/dispatch/claim.ts';
import { type DispatchMessage, dispatchIdOf } from '../../lib/messages/job.ts';
import { type Effect, effectsOf, isGood, platformEffects } from './effects.ts';
import { applyOp, emptyStore, type StoreState } from './model-store.ts';
import { type Answered, type Op, type Reply, type Start, SteppedRun } from './stepped-run.ts';

interface Queued {
  readonly id: number;
  readonly body: string;
  /** In flight while a worker holds the latest delivery of it. */
  readonly visible: boolean;
  readonly deliveries: number;
}

interface Worker extends Start {
  readonly holds: readonly { readonly id: number; readonly delivery: number }[];
  readonly answered: readonly Answered[];
  /** Calls that wait for a reply now, and how the run ended once none does. */
  readonly open: readonly Op[];
  readonly ended: readonly number[] | undefined;
}

/** A way to a state, newest action first. */
interface Way {
  readonly action: Action;
  readonly before: Way | undefined;
}

/** A whole state of the world as plain data; two equal ones have the same future. */
export interface State {
  readonly nowMs: number;
  readonly store: StoreState;
  readonly queue: readonly Queued[];
  readonly nextId: number;
  readonly workers: readonly (Worker | null)[];
  readonly runs: number;
  readonly deliveriesLeft: number;
  readonly faultsLeft: number;
}

export type Action =
  | { readonly do: 'deliver'; readonly worker: number; readonly ids: readonly number[] }
  | { readonly do: 'step'; readonly worker: number; readonly op: number; readonly effect: Effect }
  | { readonly do: 'acknowledge'; readonly worker: number }
  | { readonly do: 'crash'; readonly worker: number }
  /** A delivery becomes visible although its worker still runs. */
  | { readonly do: 'reappear'; readonly id: number }
  | { readonly do: 'wait' };

export interface Exploration {
  readonly states: number;
  readonly transitions: number;
  /** One state per distinct quiet end, with the way there. */
  readonly ends: readonly { readonly state: State; readonly path: readonly Action[] }[];
}

export interface Scenario {
  readonly messages: readonly DispatchMessage[];
  readonly startMs: number;
  /** Crashes, failed calls, refusals and early reappearances on one path, at most. */
  readonly faults: number;
  /** Deliveries on one path, at most, copies included. */
  readonly deliveries: number;
  /** Most messages handed to one worker at once. */
  readonly batchSize: number;
}

export function initialState({ messages, startMs, faults, deliveries }: Scenario): State {
  return {
    nowMs: startMs,
    store: emptyStore,
    queue: messages.map((message, id) => ({ id, body: JSON.stringify(message), visible: true, deliveries: 0 })),
    deliveriesLeft: deliveries,
    nextId: messages.length,
    workers: [null, null],
    runs: 0,
    faultsLeft: faults,
  };
}

/** Visits every reachable state, breadth first, and lets `check` throw in each. */
export async function explore(scenario: Scenario, check: (state: State) => void): Promise<Exploration> {
  const first = initialState(scenario);
  const seen = new Set([keyOf(first)]);
  const ends: { state: State; path: Action[] }[] = [];
  let transitions = 0;
  let frontier: { state: State; way: Way | undefined }[] = [{ state: first, way: undefined }];
  while (frontier.length > 0) {
    const next: typeof frontier = [];
    for (const { state, way } of frontier) {
      const actions = actionsOf(state, scenario);
      if (actions.length === 0) ends.push({ state, path: pathOf(way) });
      for (const action of actions) {
        const successor = await apply(state, action);
        transitions += 1;
        const key = keyOf(successor);
        if (seen.has(key)) continue;
        seen.add(key);
        const longer = { action, before: way };
        try {
          check(successor);
        } catch (error) {
          throw new Error(`${String(error)} after ${JSON.stringify(pathOf(longer))}`, { cause: error });
        }
        next.push({ state: successor, way: longer });
      }
    }
    frontier = next;
  }
  return { states: seen.size, transitions, ends };
}

function keyOf(state: State): string {
  return createHash('sha1').update(JSON.stringify(state)).digest('base64');
}

function pathOf(way: Way | undefined): Action[] {
  const path: Action[] = [];
  for (let at = way; at !== undefined; at = at.before) path.unshift(at.action);
  return path;
}

function actionsOf(state: State, { batchSize }: Scenario): Action[] {
  const actions: Action[] = [];
  const deliverable = state.queue.filter(({ visible }) => visible && state.deliveriesLeft > 0);
  for (const [worker, running] of state.workers.entries()) {
    if (running === null) {
      // Idle workers are alike: only the first takes work.
      if (state.workers.indexOf(null) !== worker) continue;
      for (const { id } of deliverable) actions.push({ do: 'deliver', worker, ids: [id] });
      if (batchSize > 1 && deliverable.length > 1 && state.deliveriesLeft > 1) {
        actions.push({ do: 'deliver', worker, ids: deliverable.slice(0, batchSize).map(({ id }) => id) });
      }
      continue;
    }
    if (running.ended !== undefined) actions.push({ do: 'acknowledge', worker });
    for (const op of running.open) {
      for (const effect of effectsOf[op.name]) {
        if (state.faultsLeft > 0 || isGood(effect)) actions.push({ do: 'step', worker, op: op.id, effect });
      }
    }
    if (state.faultsLeft > 0) actions.push({ do: 'crash', worker });
  }
  for (const { id, visible } of state.queue) {
    if (!visible && state.deliveriesLeft > 0 && state.faultsLeft > 0) actions.push({ do: 'reappear', id });
  }
  // Time passing changes nothing unless somebody will look at a claim again.
  if (state.deliveriesLeft > 0 && state.queue.length > 0 && state.nowMs === firstMs(state))
    actions.push({ do: 'wait' });
  return actions;
}

/** The clock has two readings: claims taken at the first one are too old at the second. */
function firstMs(state: State): number {
  return state.nowMs - (state.nowMs % 1_000_000);
}

export async function apply(state: State, action: Action): Promise<State> {
  switch (action.do) {
    case 'deliver': {
      const taken = state.queue.filter(({ id }) => action.ids.includes(id));
      const worker = await restored({
        invocation: `run-${state.runs}`,
        bodies: taken.map(({ body }) => body),
        nowMs: state.nowMs,
        holds: taken.map(({ id, deliveries }) => ({ id, delivery: deliveries + 1 })),
        answered: [],
      });
      const queue = state.queue.map((queued) =>
        action.ids.includes(queued.id) ? { ...queued, visible: false, deliveries: queued.deliveries + 1 } : queued,
      );
      const deliveriesLeft = state.deliveriesLeft - taken.length;
      return { ...withWorker(state, action.worker, worker), queue, deliveriesLeft, runs: state.runs + 1 };
    }
    case 'step':
      return await step(state, action);
    case 'acknowledge': {
      const worker = workerAt(state, action.worker);
      const queue = state.queue.flatMap((queued) => {
        const position = worker.holds.findIndex((held) => held.id === queued.id && held.delivery === queued.deliveries);
        if (position === -1) return [queued];
        return worker.ended?.includes(position) ? [{ ...queued, visible: true }] : [];
      });
      return { ...withWorker(state, action.worker, null), queue };
    }
    case 'crash': {
      const { holds } = workerAt(state, action.worker);
      const queue = state.queue.map((queued) =>
        holds.some((held) => held.id === queued.id && held.delivery === queued.deliveries)
          ? { ...queued, visible: true }
          : queued,
      );
      return { ...withWorker(state, action.worker, null), queue, faultsLeft: state.faultsLeft - 1 };
    }
    case 'reappear': {
      const queue = state.queue.map((queued) => (queued.id === action.id ? { ...queued, visible: true } : queued));
      return { ...state, queue, faultsLeft: state.faultsLeft - 1 };
    }
    case 'wait':
      return { ...state, nowMs: state.nowMs + claimLifeMs };
  }
}

async function step(state: State, action: Extract<Action, { do: 'step' }>): Promise<State> {
  const worker = workerAt(state, action.worker);
  const op = worker.open.find(({ id }) => id === action.op);
  if (op === undefined) throw new Error('no such call is open');
  const { state: after, reply } = outcomeOfStep(state, op, action.effect);
  const answered = [...worker.answered, { op: op.id, reply, nowMs: state.nowMs }];
  const faultsLeft = state.faultsLeft - (isGood(action.effect) ? 0 : 1);
  return { ...withWorker(after, action.worker, await restored({ ...worker, answered })), faultsLeft };
}

async function restored(worker: Omit<Worker, 'open' | 'ended'>): Promise<Worker> {
  const run = await SteppedRun.replay(worker, worker.answered);
  return { ...worker, open: [...run.pending.values()], ended: run.ended };
}

function outcomeOfStep(state: State, op: Op, effect: Effect): { readonly state: State; readonly reply: Reply } {
  if (op.name === 'send') {
    const { accepts, reply } = platformEffects[effect as keyof typeof platformEffects];
    const call = { dispatchId: dispatchIdOf(op.args[0] as DispatchMessage), effect, accepts };
    return { state: { ...state, store: { ...state.store, calls: [...state.store.calls, call] } }, reply };
  }
  const unavailable: Reply = { error: 'unavailable' };
  if (effect === 'fails') return { state, reply: unavailable };
  const times = effect === 'repeated' ? 2 : 1;
  let reached = state;
  let value: unknown;
  for (let time = 0; time < times; time += 1) ({ state: reached, value } = effectOf(reached, op));
  return { state: reached, reply: effect === 'reply_lost' ? unavailable : { value } };
}

function effectOf(state: State, op: Op): { readonly state: State; readonly value: unknown } {
  if (op.name === 'postpone') return { state, value: undefined };
  if (op.name === 'sendLater') {
    // Delays are left out: a copy may come at once, which is harsher than SQS.
    const copy = { id: state.nextId, body: JSON.stringify(op.args[0]), visible: true, deliveries: 0 };
    return { state: { ...state, queue: [...state.queue, copy], nextId: state.nextId + 1 }, value: undefined };
  }
  const { store, value } = applyOp(state.store, op);
  return { state: { ...state, store }, value };
}

function withWorker(state: State, index: number, worker: Worker | null): State {
  return { ...state, workers: state.workers.with(index, worker) };
}

function workerAt(state: State, index: number): Worker {
  const worker = state.workers[index];
  if (!worker) throw new Error(`worker ${index} is idle`);
  return worker;
}

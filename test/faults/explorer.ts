import { claimLifeMs } from '../../lib/messages/dispatch/claim.ts';
import { type DispatchMessage, dispatchIdOf } from '../../lib/messages/job.ts';
import type { ReceiptMessage } from '../../lib/messages/receipts/receipt.ts';
import { documentedEffects, type Effect, effectsOf, isGood, type PlatformEffect, platformEffects } from './effects.ts';
import { applyOp, emptyStore, type StoreState } from './model-store.ts';
import { receiptBody } from './scenario-job.ts';
import { type Answered, type Op, type Reply, type Role, type Start, SteppedRun } from './stepped-run.ts';

interface Queued {
  readonly id: number;
  /** The queue that it is in, by whose runs work it off. */
  readonly role: Role;
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
  readonly deliveriesLeft: Readonly<Record<Role, number>>;
  readonly faultsLeft: number;
  /** Messages for which a run of receipts has ended well. */
  readonly proven: readonly string[];
  /** Messages of which a post to the platform began after that. */
  readonly sentThoughProven: readonly string[];
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
  /** Reserving a slot may fail, and takes time. */
  readonly paces?: true;
  /** What the platform may do to a post; by default what it documents. */
  readonly platform?: readonly PlatformEffect[];
  /** The platform tells of each message that it took, in these words, one receipt each. */
  readonly receipts?: {
    readonly statuses: readonly string[];
    /** Deliveries of receipts on one path, at most. */
    readonly deliveries: number;
    /** Runs that work off receipts at the same time, at most, and those that dispatch. */
    readonly runs: number;
    readonly dispatchRuns: number;
  };
}

export function initialState({ messages, startMs, faults, deliveries, receipts }: Scenario): State {
  return {
    nowMs: startMs,
    store: emptyStore,
    queue: messages.map((message, id) => queuedAs('dispatch', id, JSON.stringify(message))),
    deliveriesLeft: { dispatch: deliveries, receipts: receipts?.deliveries ?? 0 },
    nextId: messages.length,
    workers: rolesOf(receipts).map(() => null),
    runs: 0,
    faultsLeft: faults,
    proven: [],
    sentThoughProven: [],
  };
}

/** Which worker works off which queue. */
function rolesOf(receipts: Scenario['receipts']): Role[] {
  const dispatch = Array<Role>(receipts?.dispatchRuns ?? 2).fill('dispatch');
  return [...dispatch, ...Array<Role>(receipts?.runs ?? 0).fill('receipts')];
}

function queuedAs(role: Role, id: number, body: string): Queued {
  return { id, role, body, visible: true, deliveries: 0 };
}

/** Visits every reachable state, breadth first, and lets `check` throw in each. */
export async function explore(scenario: Scenario, check: (state: State, before: State) => void): Promise<Exploration> {
  const first = initialState(scenario);
  const standings: Standings = new Map();
  const keyOf = stateKeys();
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
        const successor = await apply(state, action, scenario, standings);
        transitions += 1;
        const key = keyOf(successor);
        if (seen.has(key)) continue;
        seen.add(key);
        const longer = { action, before: way };
        try {
          check(successor, state);
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

/**
 * Names states so that those with the same future have the same name. Workers of a kind are alike, whatever their place;
 * what most states share with others is written out and hashed once.
 */
function stateKeys(): (state: State) => string {
  const numbers = new Map<string, number>();
  const known = new WeakMap<object, number>();
  const numberOf = (part: object, future = part) => {
    let number = known.get(part);
    if (number === undefined) {
      const written = JSON.stringify(future);
      number = numbers.get(written) ?? numbers.size;
      numbers.set(written, number);
      known.set(part, number);
    }
    return number;
  };
  return ({ store, queue, workers, ...rest }) => {
    const busy = workers
      .map((worker) => (worker === null ? -1 : numberOf(worker, futureOf(worker))))
      .toSorted((one, other) => one - other);
    return JSON.stringify([numberOf(store), queue.map((queued) => numberOf(queued)), busy, rest]);
  };
}

/** How a run has come to its end changes nothing any more. */
function futureOf(worker: Worker): object {
  const { role, holds, ended } = worker;
  return ended === undefined ? worker : { role, holds, ended };
}

function pathOf(way: Way | undefined): Action[] {
  const path: Action[] = [];
  for (let at = way; at !== undefined; at = at.before) path.unshift(at.action);
  return path;
}

function actionsOf(state: State, scenario: Scenario): Action[] {
  const { batchSize, platform = documentedEffects, receipts } = scenario;
  const actions: Action[] = [];
  const roles = rolesOf(receipts);
  for (const [worker, running] of state.workers.entries()) {
    if (running === null) {
      const role = roles[worker] ?? 'dispatch';
      // Idle workers of a kind are alike: only the first takes work.
      if (roles.some((other, at) => at < worker && other === role && state.workers[at] === null)) continue;
      const left = state.deliveriesLeft[role];
      const deliverable = state.queue.filter((queued) => queued.role === role && queued.visible && left > 0);
      for (const { id } of deliverable) actions.push({ do: 'deliver', worker, ids: [id] });
      if (batchSize > 1 && deliverable.length > 1 && left > 1) {
        actions.push({ do: 'deliver', worker, ids: deliverable.slice(0, batchSize).map(({ id }) => id) });
      }
      continue;
    }
    if (running.ended !== undefined) actions.push({ do: 'acknowledge', worker });
    for (const op of running.open) {
      for (const effect of op.name === 'send' ? platform : effectsOf[op.name]) {
        if (state.faultsLeft > 0 || isGood(effect)) actions.push({ do: 'step', worker, op: op.id, effect });
      }
    }
    if (state.faultsLeft > 0) actions.push({ do: 'crash', worker });
  }
  for (const { id, role, visible } of state.queue) {
    if (!visible && state.deliveriesLeft[role] > 0 && state.faultsLeft > 0) actions.push({ do: 'reappear', id });
  }
  // Time passing changes nothing unless somebody will look at a claim again.
  const lookedAt = state.deliveriesLeft.dispatch > 0 && state.queue.some(({ role }) => role === 'dispatch');
  if (lookedAt && state.nowMs === firstMs(state)) actions.push({ do: 'wait' });
  return actions;
}

/** The clock has two readings: claims taken at the first one are too old at the second. */
function firstMs(state: State): number {
  return state.nowMs - (state.nowMs % 1_000_000);
}

export async function apply(
  state: State,
  action: Action,
  scenario: Scenario,
  standings: Standings = new Map(),
): Promise<State> {
  switch (action.do) {
    case 'deliver': {
      const taken = state.queue.filter(({ id }) => action.ids.includes(id));
      const role = rolesOf(scenario.receipts)[action.worker] ?? 'dispatch';
      const start = {
        role,
        receipts: scenario.receipts !== undefined,
        paces: scenario.paces ?? false,
        invocation: `run-${state.runs}`,
        bodies: taken.map(({ body }) => body),
        nowMs: state.nowMs,
        holds: taken.map(({ id, deliveries }) => ({ id, delivery: deliveries + 1 })),
        answered: [],
      };
      const worker = await restored(start, standings);
      const queue = state.queue.map((queued) =>
        action.ids.includes(queued.id) ? { ...queued, visible: false, deliveries: queued.deliveries + 1 } : queued,
      );
      const deliveriesLeft = { ...state.deliveriesLeft, [role]: state.deliveriesLeft[role] - taken.length };
      return { ...withWorker(state, action.worker, worker), queue, deliveriesLeft, runs: state.runs + 1 };
    }
    case 'step':
      return await step(state, action, scenario, standings);
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

async function step(
  state: State,
  action: Extract<Action, { do: 'step' }>,
  { receipts }: Scenario,
  standings: Standings,
): Promise<State> {
  const worker = workerAt(state, action.worker);
  const op = worker.open.find(({ id }) => id === action.op);
  if (op === undefined) throw new Error('no such call is open');
  const { state: after, reply } = outcomeOfStep(state, { op, effect: action.effect, receipts });
  const answered = [...worker.answered, { op: op.id, reply, nowMs: state.nowMs }];
  const faultsLeft = state.faultsLeft - (isGood(action.effect) ? 0 : 1);
  const next = await restored({ ...worker, answered }, standings);
  return { ...withWorker(withProofs(after, worker, next), action.worker, next), faultsLeft };
}

/** Notes what a run of receipts has come to, and which posts begin although there is proof. */
function withProofs(state: State, before: Worker, worker: Worker): State {
  if (worker.role === 'receipts') {
    if (worker.ended === undefined || worker.ended.length > 0) return state;
    const ids = Object.keys(state.store.receipts).filter((id) =>
      worker.bodies.some((body) => idsIn(body).includes(id)),
    );
    return { ...state, proven: [...new Set([...state.proven, ...ids])].toSorted() };
  }
  const begun = worker.open.filter(({ id, name }) => name === 'send' && !before.open.some((open) => open.id === id));
  const ids = begun.map(({ args }) => dispatchIdOf(args[0] as DispatchMessage));
  const late = ids.filter((id) => state.proven.includes(id));
  return late.length === 0 ? state : { ...state, sentThoughProven: [...state.sentThoughProven, ...late] };
}

/** The messages that a body of the receipt queue has receipts of. */
export function idsIn(body: string): string[] {
  const { numbers } = JSON.parse(body) as ReceiptMessage;
  return numbers.flatMap(({ receipts }) => receipts.map(dispatchIdOf));
}

type Standing = Pick<Worker, 'open' | 'ended'>;

/** Where runs stand after their replies: they depend on nothing else, whatever happens beside them. */
type Standings = Map<string, Standing>;

async function restored(worker: Omit<Worker, keyof Standing>, standings: Standings): Promise<Worker> {
  const { role, receipts, paces, invocation, bodies, nowMs, holds, answered } = worker;
  const start = { role, receipts, paces, invocation, bodies, nowMs };
  const key = JSON.stringify([start, answered]);
  let standing = standings.get(key);
  if (standing === undefined) {
    const run = await SteppedRun.replay(start, answered);
    standing = { open: [...run.pending.values()], ended: run.ended };
    standings.set(key, standing);
  }
  return { ...start, holds, answered, ...standing };
}

interface Step {
  readonly receipts: Scenario['receipts'];
  readonly op: Op;
  readonly effect: Effect;
}

function outcomeOfStep(state: State, { op, effect, receipts }: Step): { readonly state: State; readonly reply: Reply } {
  if (op.name === 'send') {
    const { accepts, reply } = platformEffects[effect as PlatformEffect];
    const key = op.args[0] as DispatchMessage;
    const call = { dispatchId: dispatchIdOf(key), effect, accepts };
    const told = accepts ? (receipts?.statuses ?? []) : [];
    const queue = told.map((status, at) => queuedAs('receipts', state.nextId + at, receiptBody(key.index, status)));
    const after = { ...state, queue: [...state.queue, ...queue], nextId: state.nextId + queue.length };
    return { state: { ...after, store: { ...state.store, calls: [...state.store.calls, call] } }, reply };
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
  if (op.name === 'postpone' || op.name === 'reserve') return { state, value: undefined };
  if (op.name === 'sendLater') {
    // Delays are left out: a copy may come at once, which is harsher than SQS.
    const copy = queuedAs('dispatch', state.nextId, JSON.stringify(op.args[0]));
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

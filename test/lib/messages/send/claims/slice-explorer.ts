import type { TriedRecipient } from '../../../../../lib/messages/dispatch/call-facts.ts';
import type { Slice } from '../../../../../lib/messages/dispatch/slice.ts';
import { explore, partNumbers, written } from '../../../../support/exploration.ts';
import type { Call, Reply, Standing } from '../../../../support/replayed-run.ts';
import {
  applied,
  type Body,
  claimLifeMs,
  dispatchId,
  type Effect,
  emptyStore,
  type PlatformEffect,
  platformEffects,
  type RunEnd,
  type Start,
  type Store,
  standingOf,
  startMs,
  withWithdrawal,
} from './slice-world.ts';
import type { ChunkSlice } from './tried-slices.ts';

export interface Scenario {
  readonly name: string;
  /** The one initial chunk has slices of these sizes. */
  readonly slices: readonly number[];
  /** One path has at most this many crashes, failed calls, refusals and surplus deliveries. */
  readonly faults: number;
  /** One path delivers tries and receipts at most this often. */
  readonly deliveries: number;
  readonly receipts?: number;
  /** Waiting receipts are delivered together. */
  readonly batched?: true;
  readonly workers?: number;
  /** This many runs of receipts are concurrent. */
  readonly receiptRuns?: number;
  /** The platform may answer a call in these ways; the first is no fault. */
  readonly platform?: readonly PlatformEffect[];
  /** The dispatch may be stopped at any moment. */
  readonly stop?: true;
  /** Acceptance may take the dispatch back at any moment. */
  readonly withdraw?: true;
  /** An operator tries this often to settle the first message by hand. */
  readonly operator?: number;
  /** The life of a claim passes this often; every run is killed then, or stalls, is taken for dead, and goes on. */
  readonly waits?: number;
  readonly stalls?: true;
  /** Calls may also have these effects. */
  readonly effects?: readonly Exclude<Effect, 'ok'>[];
}

interface Queued {
  readonly id: number;
  readonly body: Body;
  readonly visible: boolean;
  readonly deliveries: number;
}

interface Worker extends Start, Standing<RunEnd> {
  readonly holds: { readonly id: number; readonly delivery: number };
  readonly replies: readonly Reply[];
}

/** A state is plain data; equal states have the same future. */
export interface State {
  readonly nowMs: number;
  readonly store: Store;
  readonly queue: readonly Queued[];
  readonly workers: readonly (Worker | null)[];
  readonly inFlight: readonly Call[];
  readonly nextId: number;
  readonly runs: number;
  readonly faultsLeft: number;
  readonly deliveriesLeft: Readonly<Record<Body['kind'], number>>;
  readonly waitsLeft: number;
  /** A run may have been taken for dead while it lives. */
  readonly stalled: boolean;
  /** A run was killed, or a write took effect and its author does not know. */
  readonly harmed: boolean;
}

type Action =
  | { readonly do: 'deliver'; readonly worker: number; readonly id: number }
  | {
      readonly do: 'step';
      readonly worker: number;
      readonly call: number;
      readonly name: string;
      readonly effect: Effect | PlatformEffect;
    }
  | { readonly do: 'acknowledge'; readonly worker: number; readonly survives: boolean }
  | { readonly do: 'crash'; readonly worker: number }
  | { readonly do: 'reappear'; readonly id: number }
  | { readonly do: 'land'; readonly at: number; readonly name: string }
  | { readonly do: 'stop' }
  | { readonly do: 'withdraw' }
  | { readonly do: 'wait' };

/** Each kind of message has workers of its own. */
function kindsOf({ workers = 2, receipts = 0, receiptRuns = 1, operator = 0 }: Scenario): Body['kind'][] {
  return [
    ...Array<'chunk'>(workers).fill('chunk'),
    ...Array<'receipts'>(receipts > 0 ? receiptRuns : 0).fill('receipts'),
    ...Array<'operator'>(Math.min(1, operator)).fill('operator'),
  ];
}

const writes = new Set(['claim', 'end', 'endUncalled', 'endForTheDead', 'settle', 'markUnknown', 'append']);
const sendings = new Set(['tell', 'tellReceipts', 'queueAgain']);

export function initialState(scenario: Scenario): State {
  const { slices, faults, deliveries, receipts = 0, operator = 0, waits = 0 } = scenario;
  const chunk = { dispatchId, slices: slices.map(firstTry) };
  const first = { id: 0, body: { kind: 'chunk', chunk }, visible: true, deliveries: 0 } as const;
  const byHand = { kind: 'operator', index: 0, state: 'failed' } as const;
  return {
    nowMs: startMs,
    store: emptyStore,
    queue: operator === 0 ? [first] : [first, { ...first, id: 1, body: byHand }],
    workers: kindsOf(scenario).map(() => null),
    inFlight: [],
    nextId: 2,
    runs: 0,
    faultsLeft: faults,
    deliveriesLeft: { chunk: deliveries, receipts, operator },
    waitsLeft: waits,
    stalled: false,
    harmed: false,
  };
}

function firstTry(size: number, slice: number): ChunkSlice {
  return {
    try: 0,
    size,
    recipients: Array.from({ length: size }, (_, place) => ({ index: slice * 10 + place, to: '' })),
  };
}

/** Visits every reachable state, lets `check` throw in each, and returns the kinds of actions that occurred. */
export async function exploreSlices(
  scenario: Scenario,
  check: (state: State, before: State) => void,
): Promise<ReadonlySet<string>> {
  const standings = new Map<string, Standing<RunEnd>>();
  const seen = new Set<string>();
  await explore(initialState(scenario), {
    successorsOf: async (state) =>
      await Promise.all(
        actionsOf(state, scenario).map(async (action) => {
          seen.add(action.do === 'step' ? `${action.name} ${action.effect}` : action.do);
          return { does: JSON.stringify(action), state: await apply(state, action, standings, scenario) };
        }),
      ),
    keyOf: stateKeys(),
    check,
  });
  return seen;
}

function actionsOf(state: State, scenario: Scenario): Action[] {
  const mayFail = state.faultsLeft > 0;
  const actions: Action[] = [];
  for (const [at, worker] of state.workers.entries()) {
    if (worker === null) {
      actions.push(...deliveriesTo(at, state, scenario));
      continue;
    }
    if (mayFail && worker.end === undefined) actions.push({ do: 'crash', worker: at });
    if (worker.end !== undefined) {
      actions.push({ do: 'acknowledge', worker: at, survives: false });
      if (mayFail && isAcknowledged(worker)) actions.push({ do: 'acknowledge', worker: at, survives: true });
    }
    for (const { number, name } of worker.open) {
      for (const effect of effectsOf(name, mayFail, scenario)) {
        actions.push({ do: 'step', worker: at, call: number, name, effect });
      }
    }
  }
  if (mayFail) {
    for (const { id, visible, body } of state.queue) {
      if (!visible && body.kind === 'chunk') actions.push({ do: 'reappear', id });
    }
  }
  for (const [at, { name }] of state.inFlight.entries()) actions.push({ do: 'land', at, name });
  if (scenario.stop && !state.store.stopped) actions.push({ do: 'stop' });
  if (scenario.withdraw && state.store.withdrawn === undefined) actions.push({ do: 'withdraw' });
  if (state.waitsLeft > 0 && state.queue.some(({ body }) => body.kind === 'chunk')) actions.push({ do: 'wait' });
  return actions;
}

/** Idle workers of a kind are alike, so only the first takes work. */
function deliveriesTo(at: number, { workers, queue, deliveriesLeft }: State, scenario: Scenario): Action[] {
  const kinds = kindsOf(scenario);
  const kind = kinds[at];
  const isFirst = !workers.some((worker, other) => other < at && worker === null && kinds[other] === kind);
  if (kind === undefined || !isFirst || deliveriesLeft[kind] === 0) return [];
  return queue
    .filter(({ visible, body }) => visible && body.kind === kind)
    .map(({ id }) => ({ do: 'deliver', worker: at, id }));
}

function effectsOf(name: string, mayFail: boolean, scenario: Scenario): (Effect | PlatformEffect)[] {
  const platform = platformOf(scenario);
  const { effects = ['fails', 'reply_lost', 'repeated', 'lands_late', 'again_late'] } = scenario;
  if (name === 'call') return platform.filter((_, at) => mayFail || at === 0);
  if (!mayFail) return ['ok'];
  if (writes.has(name) || sendings.has(name)) return ['ok', ...effects];
  return ['ok', ...effects.filter((effect) => effect === 'fails')];
}

function platformOf({ platform }: Scenario): readonly PlatformEffect[] {
  return platform ?? ['accepted', 'throttled', 'refused', 'lost_before', 'lost_after'];
}

function isAcknowledged({ end }: Worker): boolean {
  return end?.kind === 'acknowledged';
}

async function apply(
  state: State,
  action: Action,
  standings: Map<string, Standing<RunEnd>>,
  scenario: Scenario,
): Promise<State> {
  switch (action.do) {
    case 'deliver': {
      const queued = state.queue.find(({ id }) => id === action.id) as Queued;
      const delivery = queued.deliveries + 1;
      const start = { body: queued.body, owner: `run-${state.runs}`, nowMs: state.nowMs };
      const worker = await standing({ ...start, holds: { id: queued.id, delivery }, replies: [] }, standings);
      return {
        ...withWorker(state, action.worker, worker),
        queue: state.queue.map((each) => (each === queued ? { ...each, visible: false, deliveries: delivery } : each)),
        runs: state.runs + 1,
        deliveriesLeft: { ...state.deliveriesLeft, [queued.body.kind]: state.deliveriesLeft[queued.body.kind] - 1 },
      };
    }
    case 'step':
      return await step(state, action, standings, scenario);
    case 'acknowledge': {
      const worker = state.workers[action.worker] as Worker;
      const gone = isAcknowledged(worker) && !action.survives;
      const queue = state.queue.flatMap((queued) => {
        if (queued.id !== worker.holds.id) return [queued];
        // The queue forgets an acknowledged message, even while another run holds it.
        if (gone) return [];
        const body =
          worker.end?.kind === 'left' ? ({ kind: 'receipts', indexes: worker.end.indexes } as const) : queued.body;
        return queued.deliveries === worker.holds.delivery ? [{ ...queued, body, visible: true }] : [queued];
      });
      const faultsLeft = state.faultsLeft - (action.survives ? 1 : 0);
      return { ...withWorker(state, action.worker, null), queue, faultsLeft };
    }
    case 'crash':
      return { ...died(state, action.worker), faultsLeft: state.faultsLeft - 1 };
    case 'reappear': {
      const queue = state.queue.map((each) => (each.id === action.id ? { ...each, visible: true } : each));
      return { ...state, queue, faultsLeft: state.faultsLeft - 1 };
    }
    case 'land': {
      const landing = state.inFlight[action.at] as Call;
      const inFlight = state.inFlight.toSpliced(action.at, 1);
      return { ...effectOf({ ...state, inFlight }, landing).after, harmed: true };
    }
    case 'stop':
      return { ...state, store: { ...state.store, stopped: true } };
    case 'withdraw':
      return { ...state, store: withWithdrawal(state.store) };
    case 'wait': {
      const passed = { ...state, nowMs: state.nowMs + claimLifeMs, waitsLeft: state.waitsLeft - 1 };
      const queue = state.queue.map((each) => (each.body.kind === 'chunk' ? { ...each, visible: true } : each));
      if (scenario.stalls) return { ...passed, queue, stalled: true };
      // An operator may take any time, and is not killed.
      return state.workers.reduce<State>(
        (reached, worker, at) => (worker === null || worker.body.kind === 'operator' ? reached : died(reached, at)),
        passed,
      );
    }
  }
}

/** A dead run's delivery comes again. */
function died(state: State, at: number): State {
  const { holds } = state.workers[at] as Worker;
  const queue = state.queue.map((queued) =>
    queued.id === holds.id && queued.deliveries === holds.delivery ? { ...queued, visible: true } : queued,
  );
  return { ...withWorker(state, at, null), queue, harmed: true };
}

async function step(
  state: State,
  action: Extract<Action, { do: 'step' }>,
  standings: Map<string, Standing<RunEnd>>,
  scenario: Scenario,
): Promise<State> {
  const worker = state.workers[action.worker] as Worker;
  const op = worker.open.find(({ number }) => number === action.call) as Call;
  const { after, reply } = outcomeOf(state, op, action.effect, worker, scenario);
  const replies = [...worker.replies, { call: op.number, ...reply, atMs: state.nowMs }];
  const next = await standing({ ...worker, replies }, standings);
  const isGood = action.effect === 'ok' || action.effect === platformOf(scenario)[0];
  return { ...withWorker(after, action.worker, next), faultsLeft: state.faultsLeft - (isGood ? 0 : 1) };
}

function outcomeOf(
  state: State,
  op: Call,
  effect: Effect | PlatformEffect,
  { owner }: Worker,
  { receipts = 0, batched }: Scenario,
): { readonly after: State; readonly reply: Pick<Reply, 'value' | 'fails'> } {
  if (op.name === 'call') {
    const { accepts, outcome } = platformEffects[effect as PlatformEffect];
    const [{ index }] = op.args as [TriedRecipient];
    const wrong = wrongOf(state, index, owner);
    const calls = [...state.store.calls, { index, effect: effect as PlatformEffect, wrong }];
    const posted = { ...state, store: { ...state.store, calls } };
    const after = accepts && receipts > 0 ? withReceipt(posted, index, batched) : posted;
    return { after, reply: { value: outcome } };
  }
  if (effect === 'fails') return { after: state, reply: { fails: true } };
  if (effect === 'lands_late') {
    return { after: { ...state, inFlight: [...state.inFlight, op] }, reply: { fails: true } };
  }
  const once = effectOf(state, op);
  const again = effect === 'again_late' ? { ...once.after, inFlight: [...once.after.inFlight, op] } : once.after;
  const { after, value } = effect === 'repeated' ? effectOf(once.after, op) : { after: again, value: once.value };
  return { after, reply: effect === 'reply_lost' ? { fails: true } : { value } };
}

/** Returns why the run's claim does not allow a call of the recipient. */
function wrongOf({ store }: State, index: number, owner: string): string | undefined {
  const known = store.claims[`${Math.floor(index / 10)} ${owner}`];
  if (known === undefined) return 'R13: it was never claimed';
  if (known.stopped) return 'D53: the dispatch was stopped before the claim';
  return known.receipts.includes(index) ? 'D39: it was proven taken before the claim' : undefined;
}

function effectOf(state: State, op: Call): { readonly after: State; readonly value: unknown } {
  if (op.name === 'queueAgain') {
    const [slices] = op.args as [ChunkSlice[]];
    return { after: withQueued(state, { kind: 'chunk', chunk: { dispatchId, slices } }), value: undefined };
  }
  const { store, value } = applied(state.store, op);
  if (op.name !== 'endForTheDead' || value === undefined || state.stalled) return { after: { ...state, store }, value };
  const [{ owner }] = op.args as [Slice];
  const lives = state.workers.some((worker) => worker?.owner === owner && worker.end === undefined);
  const wrongs = lives ? [...store.wrongs, `R14: ${owner} was taken for dead`] : store.wrongs;
  return { after: { ...state, store: { ...store, wrongs } }, value };
}

function withReceipt(state: State, index: number, batched?: true): State {
  const isWaiting = ({ visible, body }: Queued) => visible && body.kind === 'receipts';
  const waiting = batched ? state.queue.find(isWaiting) : undefined;
  if (waiting?.body.kind !== 'receipts') return withQueued(state, { kind: 'receipts', indexes: [index] });
  const indexes = [...new Set([...waiting.body.indexes, index])];
  const queue = state.queue.map((each) =>
    each === waiting ? { ...each, body: { kind: 'receipts', indexes } as const } : each,
  );
  return { ...state, queue };
}

function withQueued(state: State, body: Body): State {
  const queue = [...state.queue, { id: state.nextId, body, visible: true, deliveries: 0 }];
  return { ...state, queue, nextId: state.nextId + 1 };
}

function withWorker(state: State, at: number, worker: Worker | null): State {
  return { ...state, workers: state.workers.with(at, worker) };
}

/** A run's state depends only on its replies. */
async function standing(
  worker: Omit<Worker, 'open' | 'end'>,
  standings: Map<string, Standing<RunEnd>>,
): Promise<Worker> {
  const { body, owner, nowMs, replies } = worker;
  const key = JSON.stringify([body, owner, nowMs, written(replies)]);
  const known = standings.get(key) ?? (await standingOf(worker, replies));
  standings.set(key, known);
  return { ...worker, ...known };
}

/** Returns a function that gives states with the same future the same key. */
function stateKeys(): (state: State) => string {
  const numberOf = partNumbers();
  return ({ store, queue, workers, runs: _runs, nextId: _next, ...rest }) => {
    const busy = workers
      .map((worker) => (worker === null ? -1 : numberOf(worker, futureOf(worker))))
      .toSorted((one, other) => one - other);
    return written([numberOf(store), queue.map((queued) => numberOf(queued)), busy, rest]);
  };
}

/** How a run came to its end changes no future. */
function futureOf(worker: Worker): object {
  const { holds, end } = worker;
  return end === undefined ? worker : { holds, end };
}

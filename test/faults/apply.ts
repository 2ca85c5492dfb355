import { invocationOf, resolvedByOperator, sendBudgetMs } from '../../lib/messages/dispatch/claim.ts';
import { type DispatchMessage, dispatchIdOf } from '../../lib/messages/job.ts';
import type { Action } from './actions.ts';
import { isGood } from './effects.ts';
import { outcomeOfCall, reach } from './outcome-of-call.ts';
import type { Scenario } from './scenario.ts';
import { scenarioJobId } from './scenario-job.ts';
import { idsIn, rolesOf, type State, type Worker, withWorker, workerAt } from './states.ts';
import { type Op, type Start, SteppedRun } from './stepped-run.ts';

type Standing = Pick<Worker, 'open' | 'ended'>;

/** Where runs stand after their replies: they depend on nothing else, whatever happens beside them. */
export type Standings = Map<string, Standing>;

/** The state after an action. */
export async function apply(
  state: State,
  action: Action,
  scenario: Scenario,
  standings: Standings = new Map(),
): Promise<State> {
  switch (action.do) {
    case 'deliver':
      return await deliver(state, action, scenario, standings);
    case 'resolve':
      return await resolve(state, action, scenario, standings);
    case 'step':
      return await step(state, action, scenario, standings);
    case 'acknowledge':
      return acknowledge(state, action);
    case 'crash':
      return { ...died(state, action.worker), faultsLeft: state.faultsLeft - 1 };
    case 'reappear': {
      const queue = state.queue.map((queued) => (queued.id === action.id ? { ...queued, visible: true } : queued));
      return { ...state, queue, faultsLeft: state.faultsLeft - 1 };
    }
    case 'land': {
      const landing = state.inFlight[action.at];
      if (landing === undefined) throw new Error('no such write is on its way');
      const { state: reached } = reach(state, landing.op);
      return { ...judged(reached, landing.op, state, scenario), inFlight: state.inFlight.toSpliced(action.at, 1) };
    }
    case 'wait':
      return withoutTheLate({ ...state, nowMs: state.nowMs + action.ms, waited: state.waited + 1 });
  }
}

async function deliver(
  state: State,
  { worker, ids, skewMs = 0, lifeMs }: Extract<Action, { do: 'deliver' }>,
  scenario: Scenario,
  standings: Standings,
): Promise<State> {
  const taken = state.queue.filter(({ id }) => ids.includes(id));
  const role = rolesOf(scenario)[worker] ?? 'dispatch';
  const holds = taken.map(({ id, deliveries }) => ({ id, delivery: deliveries + 1 }));
  const nowMs = state.nowMs + skewMs;
  const endsAtMs = lifeMs === undefined ? undefined : nowMs + lifeMs;
  const bodies = taken.map(({ body }) => body);
  const start = { ...startOf(state, scenario), role, bodies, nowMs, endsAtMs };
  const run = await restored({ ...start, skewMs, holds, answered: [] }, standings);
  const queue = state.queue.map((queued) =>
    ids.includes(queued.id) ? { ...queued, visible: false, deliveries: queued.deliveries + 1 } : queued,
  );
  const deliveriesLeft = { ...state.deliveriesLeft, [role]: state.deliveriesLeft[role] - taken.length };
  return { ...withWorker(state, worker, run), queue, deliveriesLeft, runs: state.runs + 1 };
}

/** An operator has asked the platform, and says what is so. */
async function resolve(
  state: State,
  { worker, index, skewMs = 0 }: Extract<Action, { do: 'resolve' }>,
  scenario: Scenario,
  standings: Standings,
): Promise<State> {
  const key = { jobId: scenarioJobId, index };
  const taken = state.store.calls.some(({ dispatchId, accepts }) => accepts && dispatchId === dispatchIdOf(key));
  const bodies = [JSON.stringify({ ...key, state: taken ? 'sent' : 'failed' })];
  const start = { ...startOf(state, scenario), role: 'operator', bodies, nowMs: state.nowMs + skewMs } as const;
  const run = await restored({ ...start, endsAtMs: undefined, skewMs, holds: [], answered: [] }, standings);
  const deliveriesLeft = { ...state.deliveriesLeft, operator: state.deliveriesLeft.operator - 1 };
  return { ...withWorker(state, worker, run), deliveriesLeft, runs: state.runs + 1 };
}

function startOf(state: State, scenario: Scenario) {
  return {
    receipts: scenario.receipts !== undefined,
    paces: scenario.paces ?? false,
    invocation: `run-${state.runs}`,
  };
}

function acknowledge(state: State, { worker, survives }: Extract<Action, { do: 'acknowledge' }>): State {
  const { holds, ended } = workerAt(state, worker);
  const queue = state.queue.flatMap((queued) => {
    const position = holds.findIndex((held) => held.id === queued.id && held.delivery === queued.deliveries);
    if (position === -1) return [queued];
    return ended?.includes(position) || queued.id === survives ? [{ ...queued, visible: true }] : [];
  });
  const faultsLeft = state.faultsLeft - (survives === undefined ? 0 : 1);
  return { ...withWorker(state, worker, null), queue, faultsLeft };
}

/** What a dead run held comes again. */
function died(state: State, worker: number): State {
  const { holds } = workerAt(state, worker);
  const queue = state.queue.map((queued) =>
    holds.some((held) => held.id === queued.id && held.delivery === queued.deliveries)
      ? { ...queued, visible: true }
      : queued,
  );
  return { ...withWorker(state, worker, null), queue };
}

/** Lambda kills who takes too long. */
function withoutTheLate(state: State): State {
  return state.workers.reduce((reached, worker, at) => {
    if (worker?.endsAtMs === undefined || worker.ended !== undefined) return reached;
    return state.nowMs + worker.skewMs < worker.endsAtMs ? reached : { ...died(reached, at), killed: true };
  }, state);
}

async function step(
  state: State,
  action: Extract<Action, { do: 'step' }>,
  scenario: Scenario,
  standings: Standings,
): Promise<State> {
  const worker = workerAt(state, action.worker);
  const op = worker.open.find(({ id }) => id === action.op);
  if (op === undefined) throw new Error('no such call is open');
  const { state: after, reply } = outcomeOfCall(state, { op, effect: action.effect, scenario });
  const answered = [...worker.answered, { op: op.id, reply, nowMs: state.nowMs + worker.skewMs }];
  const faultsLeft = state.faultsLeft - (isGood(action.effect) ? 0 : 1);
  const next = await restored({ ...worker, answered }, standings);
  const reached = withProofs(withPosts(judged(after, op, state, scenario), worker, next), next);
  return { ...withWorker(reached, action.worker, next), faultsLeft };
}

/** Notes what a run of receipts has come to. */
function withProofs(state: State, { role, ended, bodies }: Worker): State {
  if (role !== 'receipts' || ended === undefined || ended.length > 0) return state;
  const ids = Object.keys(state.store.receipts).filter((id) => bodies.some((body) => idsIn(body).includes(id)));
  return { ...state, proven: [...new Set([...state.proven, ...ids])].toSorted() };
}

/** Notes which posts begin that must not. */
function withPosts(state: State, before: Worker, worker: Worker): State {
  const begun = worker.open.filter(({ id, name }) => name === 'send' && !before.open.some((open) => open.id === id));
  const wrongs = begun.flatMap(({ args }) => wrongsOfPost(args[0] as DispatchMessage, state, worker));
  return wrongs.length === 0 ? state : { ...state, wrongs: [...state.wrongs, ...wrongs] };
}

function wrongsOfPost(message: DispatchMessage, { proven, store }: State, { answered, endsAtMs }: Worker): string[] {
  const id = dispatchIdOf(message);
  const nowMs = answered.at(-1)?.nowMs ?? 0;
  const { expiresAtMs = Number.POSITIVE_INFINITY } = message;
  return [
    ...(proven.includes(id) ? [`D39: ${id} was sent again after its receipt counted`] : []),
    ...(nowMs >= expiresAtMs ? [`D27: ${id} was sent after it had expired`] : []),
    ...(endsAtMs !== undefined && endsAtMs - nowMs < sendBudgetMs ? [`R14: ${id} was sent with no time left`] : []),
    ...(store.claims[id]?.code === resolvedByOperator ? [`R13: ${id} was sent after it was settled by hand`] : []),
  ];
}

/** Notes a write that took somebody for dead who is not, where runs live no longer than Lambda lets them. */
function judged(reached: State, { name, args }: Op, before: State, { livesMs }: Scenario): State {
  if (livesMs === undefined || reached.store === before.store) return reached;
  const at = lostIn(name, args);
  const owner = before.workers.find((worker) => worker?.invocation === at && worker?.ended === undefined);
  if (at === undefined || !owner) return reached;
  return { ...reached, wrongs: [...reached.wrongs, `R14: ${at} was taken for dead and is at work`] };
}

/** The run that a write takes for dead. */
function lostIn(name: Op['name'], args: readonly unknown[]): string | undefined {
  if (name === 'settle') {
    const [, at, settlement] = args as [unknown, string, { readonly code: string }];
    return settlement.code === 'worker_lost' ? invocationOf(at) : undefined;
  }
  if (name !== 'settleByHand') return undefined;
  const [seen] = args as [{ readonly at: string; readonly state: string }];
  return seen.state === 'claimed' ? invocationOf(seen.at) : undefined;
}

async function restored(worker: Omit<Worker, keyof Standing>, standings: Standings): Promise<Worker> {
  const { skewMs, holds, answered, role, receipts, paces, invocation, bodies, nowMs, endsAtMs } = worker;
  const start: Start = { role, receipts, paces, invocation, bodies, nowMs, endsAtMs };
  const key = JSON.stringify([start, answered]);
  let standing = standings.get(key);
  if (standing === undefined) {
    const run = await SteppedRun.replay(start, answered);
    standing = { open: [...run.pending.values()], ended: run.ended };
    standings.set(key, standing);
  }
  return { ...start, skewMs, holds, answered, ...standing };
}

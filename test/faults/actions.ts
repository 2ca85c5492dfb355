import { platformCallTimeoutMs } from '../../lib/messages/dispatch/claim.ts';
import { type Effect, isGood } from './effects.ts';
import { reportedIn } from './outcome-in.ts';
import { effectsIn, harmIn, type Scenario, stepsIn } from './scenario.ts';
import { rolesOf, type State, type Worker } from './states.ts';
import type { OpName, Role } from './stepped-run.ts';

export type Action =
  | {
      readonly do: 'deliver';
      readonly worker: number;
      readonly ids: readonly number[];
      readonly skewMs?: number;
      readonly lifeMs?: number;
    }
  | { readonly do: 'resolve'; readonly worker: number; readonly index: number; readonly skewMs?: number }
  | {
      readonly do: 'step';
      readonly worker: number;
      readonly op: number;
      readonly name: OpName;
      readonly effect: Effect;
    }
  /** What `survives` is deleted, and is delivered once more all the same. */
  | { readonly do: 'acknowledge'; readonly worker: number; readonly survives?: number }
  | { readonly do: 'crash'; readonly worker: number }
  /** A delivery becomes visible although its worker still runs. */
  | { readonly do: 'reappear'; readonly id: number }
  /** A write takes effect whose caller was told of a time-out. */
  | { readonly do: 'land'; readonly name: OpName; readonly at: number }
  | { readonly do: 'wait'; readonly ms: number };

/** What can happen next. */
export function actionsOf(state: State, scenario: Scenario): Action[] {
  const harm = harmIn(scenario);
  const mayFail = state.faultsLeft > 0;
  const actions: Action[] = [];
  for (const [worker, running] of state.workers.entries()) {
    if (running === null) {
      actions.push(...beginnings(state, worker, scenario));
      continue;
    }
    if (running.ended !== undefined) actions.push(...endings(running, worker, mayFail && harm.survive === true));
    for (const { id, name } of running.open) {
      for (const effect of effectsIn(scenario, name)) {
        if (mayFail || isGood(effect)) actions.push({ do: 'step', worker, op: id, name, effect });
      }
    }
    if (mayFail && harm.crash && running.role !== 'operator') actions.push({ do: 'crash', worker });
  }
  for (const { id, role, visible } of state.queue) {
    if (!visible && state.deliveriesLeft[role] > 0 && mayFail && harm.reappear) actions.push({ do: 'reappear', id });
  }
  for (const [at, { op }] of state.inFlight.entries()) actions.push({ do: 'land', name: op.name, at });
  actions.push(...waits(state, scenario));
  return actions;
}

function beginnings(state: State, worker: number, scenario: Scenario): Action[] {
  const roles = rolesOf(scenario);
  const role = roles[worker] as Role;
  const left = state.deliveriesLeft[role];
  // Idle workers of a kind are alike: only the first takes work.
  if (left === 0 || roles.some((other, at) => at < worker && other === role && state.workers[at] === null)) return [];
  const clocks = (scenario.skewsMs ?? [undefined]).map((skewMs) => (skewMs === undefined ? {} : { skewMs }));
  if (role === 'operator') return resolutions(state, worker, clocks, scenario);
  const lives = role === 'dispatch' && scenario.livesMs !== undefined ? scenario.livesMs : [undefined];
  const starts = lives.flatMap((lifeMs) =>
    clocks.map((clock) => ({ ...clock, ...(lifeMs === undefined ? {} : { lifeMs }) })),
  );
  const deliverable = state.queue.filter((queued) => queued.role === role && queued.visible).map(({ id }) => id);
  const batches = deliverable.map((id) => [id]);
  if (scenario.batchSize > 1 && deliverable.length > 1 && left > 1) {
    batches.push(deliverable.slice(0, scenario.batchSize));
  }
  return batches.flatMap((ids) => starts.map((start) => ({ do: 'deliver', worker, ids, ...start }) as const));
}

/** Operators ask the platform about a message that they are told is unknown, and settle that. */
function resolutions(
  state: State,
  worker: number,
  clocks: readonly { readonly skewMs?: number }[],
  { messages }: Scenario,
): Action[] {
  const indexes = [...new Set(messages.map(({ index }) => index))];
  return indexes.flatMap((index) =>
    clocks
      .filter(({ skewMs = 0 }) => reportedIn(state, index, state.nowMs + skewMs) === 'unknown')
      .map((clock) => ({ do: 'resolve', worker, index, ...clock }) as const),
  );
}

function endings({ ended, holds }: Worker, worker: number, maySurvive: boolean): Action[] {
  const deleted = maySurvive ? holds.filter((_, position) => !ended?.includes(position)) : [];
  return [
    { do: 'acknowledge', worker },
    ...deleted.map(({ id }) => ({ do: 'acknowledge', worker, survives: id }) as const),
  ];
}

function waits(state: State, scenario: Scenario): Action[] {
  const ms = stepsIn(scenario)[state.waited];
  // Time passing changes nothing unless somebody will look at a claim again.
  const lookedAt = state.deliveriesLeft.dispatch > 0 && state.queue.some(({ role }) => role === 'dispatch');
  if (ms === undefined || !(lookedAt || state.deliveriesLeft.operator > 0)) return [];
  const { livesMs, latestMs = Number.POSITIVE_INFINITY } = scenario;
  if (state.inFlight.some(({ sinceMs }) => state.nowMs + ms > sinceMs + latestMs)) return [];
  const posts = state.workers.some((worker) => worker?.open.some(({ name }) => name === 'send'));
  if (livesMs !== undefined && posts && ms > platformCallTimeoutMs) return [];
  return [{ do: 'wait', ms }];
}

/** Whether time passed while a run was at work, in a world that has no killed runs. */
export function isSlow(path: readonly Action[]): boolean {
  let busy = 0;
  for (const action of path) {
    if (action.do === 'deliver') busy += 1;
    if (action.do === 'acknowledge') busy -= 1;
    if (action.do === 'wait' && busy > 0) return true;
  }
  return false;
}

/** What an action does, whoever does it and to what: `take lands_late`, `land take`, `survive`. */
export function kindOf(action: Action): string {
  if (action.do === 'step') return `${action.name} ${action.effect}`;
  if (action.do === 'land') return `land ${action.name}`;
  return action.do === 'acknowledge' && action.survives !== undefined ? 'survive' : action.do;
}

/** One line an action, for people. */
export function inWords(path: readonly Action[]): string {
  return path.map((action) => `\n  ${wordsOf(action)}`).join('');
}

function wordsOf({ do: name, ...facts }: Action): string {
  if ('effect' in facts) return `worker ${facts.worker}: ${facts.name} ${facts.effect}`;
  return [name, ...Object.entries(facts).map(([fact, value]) => `${fact} ${value}`)].join(' ');
}

import { leaseMs } from '../../../../lib/messages/rounds/lease.ts';
import type { JobState } from '../../../../lib/messages/job-state.ts';
import { startMs } from '../../../faults/scenario-job.ts';
import type { Step } from '../../../support/exploration.ts';
import {
  effectOf,
  firstWorld,
  isAllReleased,
  type Op,
  type Reply,
  type Run,
  type Scenario,
  type Standing,
  standingOf,
  type World,
} from './rounds-model.ts';

/** The job's world, and the runs that are at work in it. Time stands still, or passes by a lease. */
export interface State {
  readonly world: World;
  readonly nowMs: number;
  readonly runs: readonly Run[];
  /** Writes that their runs have given up: they land at any later moment, but none is on its way for as long as a lease. */
  readonly late: readonly Op[];
  readonly started: number;
  readonly deliveriesLeft: number;
  readonly faultsLeft: number;
  readonly waitsLeft: number;
}

export function firstState(scenario: Scenario, bounds: Pick<State, 'deliveriesLeft' | 'faultsLeft'>): State {
  return { world: firstWorld(scenario), nowMs: startMs, runs: [], late: [], started: 0, waitsLeft: 1, ...bounds };
}

const standings = new Map<string, Promise<Standing>>();

function knownStanding(run: Run, scenario: Scenario): Promise<Standing> {
  const { owner, job, startedAtMs, replies } = run;
  const key = JSON.stringify([owner, job.round, job.recipients.length, startedAtMs, replies, scenario.wavesPerRound]);
  const known = standings.get(key) ?? standingOf(run, scenario);
  standings.set(key, known);
  return known;
}

/** What may happen next; `met` is told what runs are answered. */
export async function successorsOf(state: State, scenario: Scenario, met: Set<string>): Promise<Step<State>[]> {
  const next: Step<State>[] = [];
  const { world, nowMs, late } = state;
  const faulty = { ...state, faultsLeft: state.faultsLeft - 1 };
  const mayFail = state.faultsLeft > 0;
  const add = (does: string, after: State) => void next.push({ does, state: after });
  if (!world.begun && !world.withdrawn)
    add('the job is taken back', { ...state, world: { ...world, withdrawn: true } });
  if (!world.stopped && scenario.mayStop) add('the job is cancelled', { ...state, world: { ...world, stopped: true } });
  for (const { id, job, visible } of world.messages) {
    if (!visible) {
      if (mayFail) add(`message ${id} comes again while its run is at work`, shown(faulty, id));
    } else if (state.deliveriesLeft > 0 && state.runs.length < 2) {
      const messages = world.messages.map((each) => (each.id === id ? { ...each, visible: false } : each));
      const owner = `run-${state.started}`;
      const run = { owner, message: id, job, startedAtMs: nowMs, replies: [] };
      const counted = { started: state.started + 1, deliveriesLeft: state.deliveriesLeft - 1 };
      add(`${owner} takes message ${id}`, {
        ...state,
        ...counted,
        world: { ...world, messages },
        runs: [...state.runs, run],
      });
    }
  }
  for (const [at, op] of late.entries()) {
    add(`${op.name} lands late`, { ...state, world: effectOf(world, op, nowMs).world, late: late.toSpliced(at, 1) });
  }
  let isSending = false;
  for (const run of state.runs) {
    const { owner, message } = run;
    const runs = state.runs.filter((other) => other !== run);
    if (mayFail) add(`${owner} dies`, shown({ ...faulty, runs }, message));
    const { op, end } = await knownStanding(run, scenario);
    if (op === undefined) {
      const messages = world.messages.filter(({ id }) => id !== message);
      const after = { ...state, runs, world: { ...world, messages } };
      add(`${owner} ends: ${end}`, end === 'done' ? after : shown({ ...state, runs }, message));
      if (end === 'done' && mayFail) add(`${owner} ends, nobody hears it`, shown({ ...faulty, runs }, message));
      continue;
    }
    if (op.name === 'sendBatch') isSending = true;
    const goOn = (base: State, reply: Omit<Reply, 'atMs'>): State => ({
      ...base,
      runs: [...runs, { ...run, replies: [...run.replies, { ...reply, atMs: nowMs }] }],
    });
    const what = `${op.name} of ${owner}`;
    const once = effectOf(world, op, nowMs);
    met.add(`${op.name} ${JSON.stringify(once.value)}`.slice(0, 22));
    add(what, goOn({ ...state, world: once.world }, { value: once.value }));
    if (!mayFail || op.name === 'tell') continue;
    const twice = effectOf(once.world, op, nowMs);
    add(`${what} fails`, goOn(faulty, { fails: true }));
    add(`${what}, its reply lost`, goOn({ ...faulty, world: once.world }, { fails: true }));
    add(`${what}, repeated by the SDK`, goOn({ ...faulty, world: twice.world }, { value: twice.value }));
    if (scenario.late?.includes(op.name)) {
      add(`${what}, given up, will land late`, goOn({ ...faulty, late: [...late, op] }, { fails: true }));
    }
  }
  if (!isSending && late.length === 0 && state.waitsLeft > 0 && state.runs.length > 0) {
    add('a lease passes', { ...state, nowMs: nowMs + leaseMs, waitsLeft: state.waitsLeft - 1 });
  }
  return next;
}

function shown(state: State, id: number): State {
  const messages = state.world.messages.map((each) => (each.id === id ? { ...each, visible: true } : each));
  return { ...state, world: { ...state.world, messages } };
}

/** Throws where a promise is broken. */
export async function check(state: State, scenario: Scenario): Promise<void> {
  const { world, runs, late } = state;
  const standing = await Promise.all(runs.map((run) => knownStanding(run, scenario)));
  const sending = runs.filter((_, at) => standing[at]?.op?.name === 'sendBatch');
  if (sending.length > 1) throw new Error('R14: two runs queue side by side');
  if (sending.some(knowsOfStop)) throw new Error('D53: a run queues although it was told that the job is stopped');
  if (world.withdrawn && world.queued.length > 0) throw new Error('D25: something of a withdrawn job was queued');
  if (world.withdrawn && world.ended.length > 0) throw new Error('D25: something of a withdrawn job was told');
  if (runs.length > 0 || late.length > 0 || world.messages.length > 0 || world.withdrawn) return;
  if (!isAllReleased(world, scenario))
    throw new Error('R14: recipients are neither queued, nor ended, nor in a message');
  if (!world.watched) throw new Error('D41: nobody watches for the end of the job');
}

/** The last run that took the round, or remembered its progress, was answered how the job stands. */
function knowsOfStop({ replies }: Run): boolean {
  return replies.some(({ value }) => {
    const answered = (value ?? {}) as JobState & { readonly state?: JobState };
    return answered.stop !== undefined || answered.state?.stop !== undefined;
  });
}

/** Whatever has happened: left alone, with nothing failing any more, the messages that are there bring the job to its end. */
export async function checkFinished(state: State, scenario: Scenario): Promise<void> {
  let { world } = state;
  let nowMs = state.nowMs;
  for (let turn = 0; world.messages.length > 0; turn += 1) {
    if (turn > 30) throw new Error('R14: the job circulates for ever');
    nowMs += leaseMs;
    const [message, ...others] = world.messages;
    if (message === undefined) return;
    world = { ...world, messages: others };
    let run: Run = { owner: `last-${turn}`, message: message.id, job: message.job, startedAtMs: nowMs, replies: [] };
    for (;;) {
      const { op, end } = await standingOf(run, scenario);
      if (op === undefined) {
        if (end !== 'done') throw new Error(`without a fault a run ends ${end}`);
        break;
      }
      const effect = effectOf(world, op, nowMs);
      world = effect.world;
      run = { ...run, replies: [...run.replies, { value: effect.value, atMs: nowMs }] };
    }
  }
  await check({ ...state, world, runs: [], late: [] }, scenario);
}

/** Names a state by what its future depends on. */
export function keyOf({ world, runs, late, ...state }: State): string {
  return JSON.stringify([
    runs.map(({ job, ...run }) => [run, job.round]),
    state,
    late.map(({ name, args }) => [name, name === 'sendAgain' ? (args[0] as Run['job']).round : args]),
    { ...world, messages: world.messages.map(({ id, job, visible }) => [id, job.round, visible]) },
  ]);
}

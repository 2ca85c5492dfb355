import { clocksApartMs } from '../../../lib/aws/leased-run.ts';
import type { Step } from '../../support/exploration.ts';
import type { Call, Reply } from '../../support/replayed-run.ts';
import {
  type CallName,
  type Entry,
  effectOf,
  type Message,
  type Policy,
  type Run,
  type Store,
  standingOf,
  woken,
} from './leased-run-model.ts';

export interface World extends Store {
  readonly nowMs: number;
  readonly runs: readonly Run[];
  /** Writes that their runs have given up land at a later moment. */
  readonly late: readonly Call<CallName>[];
  /** A client puts these into the list, and then sends a wake. */
  readonly untold: readonly Entry[];
  readonly owesWake: boolean;
  readonly started: number;
  readonly runsLeft: number;
  /** This many calls may still fail, land late or lose their reply, processes die, and messages be lost or doubled. */
  readonly faultsLeft: number;
  /** Time may still pass this often while runs stand at their calls. */
  readonly stallsLeft: number;
}

export interface Scenario extends Policy {
  /** A run's clock may be ahead by these. */
  readonly aheadMs: readonly number[];
  /** Each minute the sweeper wakes a key whose list has something due, so wakes may be lost. */
  readonly sweeps?: boolean;
}

/** An unacknowledged message comes again after the queue's visibility time-out. */
const visibilityMs = 720_000;
const reads: ReadonlySet<CallName> = new Set(['read', 'look']);

export async function successorsOf(world: World, scenario: Scenario): Promise<Step<World>[]> {
  const { messages, runs, late, nowMs, faultsLeft, stallsLeft } = world;
  const faulty = { ...world, faultsLeft: faultsLeft - 1 };
  const steps: Step<World>[] = toldOf(world);
  for (const message of messages) {
    if (!message.held && message.visibleAtMs <= nowMs && runs.length < 2 && world.runsLeft > 0) {
      for (const aheadMs of scenario.aheadMs) {
        const does = `run ${world.started}, ${aheadMs} ms ahead, takes message ${message.id}`;
        steps.push({ does, state: withRunOf(world, message, aheadMs) });
      }
    }
    if (faultsLeft === 0) continue;
    const isLosable = scenario.sweeps && !message.held && message.puts === undefined;
    if (message.held)
      steps.push({ does: `message ${message.id} comes twice`, state: withHeld(faulty, message, false) });
    if (isLosable) steps.push({ does: `wake ${message.id} is lost`, state: without(faulty, message.id) });
  }
  if (scenario.sweeps && runs.length === 0 && !messages.some(({ visibleAtMs }) => visibleAtMs <= nowMs + 60_000)) {
    if (world.list.length > 0) steps.push({ does: 'the sweeper wakes', state: swept(world) });
  }
  for (const run of runs) steps.push(...(await stepsOf(world, run, scenario)));
  for (const [at, call] of late.entries()) {
    const { store } = effectOf({ ...world, late: late.toSpliced(at, 1) }, call, nowMs);
    steps.push({ does: `${call.name} lands late`, state: store });
  }
  const nextMs = Math.min(...messages.filter(({ held }) => !held).map(({ visibleAtMs }) => visibleAtMs));
  if (nextMs > nowMs && nextMs < Number.POSITIVE_INFINITY && runs.length === 0) {
    steps.push({ does: `${(nextMs - nowMs) / 1_000} s pass`, state: { ...world, nowMs: nextMs } });
  }
  if (runs.length > 0 && stallsLeft > 0) {
    const { leaseMs, renewMs } = scenario.leasing;
    const stalls = [leaseMs + 1, leaseMs + 2 * clocksApartMs + 1_000];
    if (renewMs !== undefined) stalls.unshift(renewMs + 1);
    // Over by a clock that is ahead, and not by the run's.
    if (scenario.aheadMs.length > 1) stalls.unshift(leaseMs - clocksApartMs / 2);
    for (const ms of stalls) {
      steps.push({ does: `${ms} ms pass`, state: { ...world, stallsLeft: stallsLeft - 1, nowMs: nowMs + ms } });
    }
  }
  return steps;
}

function toldOf(world: World): Step<World>[] {
  const [entry, ...untold] = world.untold;
  if (world.owesWake) return [{ does: 'its wake is sent', state: woken({ ...world, owesWake: false }, world.nowMs) }];
  if (entry === undefined) return [];
  const dueMs = Math.max(entry.dueMs, world.nowMs);
  const list = [...world.list, { ...entry, dueMs }];
  return [{ does: `${entry.name} is put into the list`, state: { ...world, untold, list, owesWake: true } }];
}

function swept(world: World): World {
  const dueMs = Math.max(world.nowMs, Math.min(...world.list.map((entry) => entry.dueMs)));
  return woken({ ...world, nowMs: dueMs }, dueMs);
}

export function withRunOf(world: World, message: Message, aheadMs: number): World {
  const { id, puts } = message;
  const name = `run-${world.started}`;
  const run = { name, startedAtMs: world.nowMs, aheadMs, message: { id, puts }, replies: [] };
  const counted = { started: world.started + 1, runsLeft: world.runsLeft - 1 };
  return { ...withHeld(world, message, true), ...counted, runs: [...world.runs, run] };
}

function withHeld(world: World, { id }: Message, held: boolean): World {
  return { ...world, messages: world.messages.map((each) => (each.id === id ? { ...each, held } : each)) };
}

function without(world: World, id: number): World {
  return { ...world, messages: world.messages.filter((each) => each.id !== id) };
}

export async function withReply(
  run: Run,
  call: Call<CallName>,
  reply: Omit<Reply, 'call' | 'atMs'>,
  { world, policy }: { readonly world: World; readonly policy: Policy },
): Promise<Run> {
  const replies = [...run.replies, { call: call.number, atMs: world.nowMs + run.aheadMs, ...reply }];
  const told = { ...run, replies };
  const { end } = await standingOf(told, policy);
  return end === undefined ? told : { ...run, replies: [], ended: end };
}

async function stepsOf(world: World, run: Run, policy: Scenario): Promise<Step<World>[]> {
  const { name, message } = run;
  const others = world.runs.filter((other) => other !== run);
  const faulty = { ...world, faultsLeft: world.faultsLeft - 1 };
  const mayFail = world.faultsLeft > 0;
  if (run.ended !== undefined) return [{ does: `${name} ends`, state: over({ ...world, runs: others }, run) }];
  const dead = (base: World) => over({ ...base, runs: others }, { message, ended: false });
  const steps: Step<World>[] = mayFail ? [{ does: `${name} dies`, state: dead(faulty) }] : [];
  for (const call of (await standingOf(run, policy)).open) {
    const what = `${call.name}(${call.args.map((arg) => JSON.stringify(arg)).join()}) of ${name}`;
    const told = async (base: World, reply: Pick<Reply, 'value' | 'fails'>): Promise<World> => {
      const next = await withReply(run, call, reply, { world: base, policy });
      return { ...base, runs: base.runs.map((other) => (other === run ? next : other)) };
    };
    const { store, value } = effectOf(world, call, world.nowMs);
    steps.push({ does: what, state: await told(store, { value }) });
    if (call.name === 'wake' && world.stallsLeft > 0) {
      const slow = { ...store, nowMs: world.nowMs + policy.leasing.leaseMs / 2, stallsLeft: world.stallsLeft - 1 };
      steps.push({ does: `${what}, its reply slow`, state: await told(slow, { value }) });
    }
    if (!mayFail || call.name === 'end') continue;
    steps.push({ does: `${what} fails`, state: await told(faulty, { fails: true }) });
    if (reads.has(call.name)) continue;
    const done = { ...store, faultsLeft: faulty.faultsLeft };
    const landing = { ...faulty, late: [...world.late, call] };
    steps.push(
      { does: `${what}, its reply lost`, state: await told(done, { fails: true }) },
      { does: `${what}, given up, will land late`, state: await told(landing, { fails: true }) },
      { does: `${name} dies after ${what}`, state: dead(done) },
    );
  }
  return steps;
}

/** A message that is not acknowledged comes again. */
export function over(world: World, { message, ended }: Pick<Run, 'message' | 'ended'>): World {
  if (ended) return without(world, message.id);
  const messages = world.messages.map((each) =>
    each.id === message.id && each.held ? { ...each, held: false, visibleAtMs: world.nowMs + visibilityMs } : each,
  );
  return { ...world, messages };
}

/** Numbers of messages do not matter, except inside a run and its lease. */
export function keyOf({ messages, runs, late, nextId: _, started: __, ...rest }: World): string {
  const names = new Set([...runs.map(({ message }) => message.id), ...(rest.item?.lease?.messages ?? []).map(Number)]);
  const waiting = messages.map(({ id, ...message }) => JSON.stringify([message, names.has(id) ? id : undefined]));
  const runOf = ({ ended, ...run }: Run) => JSON.stringify(ended === undefined ? run : [run.message.id, ended]);
  return JSON.stringify([
    rest,
    waiting.sort(),
    runs.map(runOf).sort(),
    late.map((call) => JSON.stringify(call)).sort(),
  ]);
}

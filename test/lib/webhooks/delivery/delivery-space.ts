import { leaseMs } from '../../../../lib/webhooks/delivery/delivery-state.ts';
import type { Post } from '../../../../lib/webhooks/delivery/post-network.ts';
import type { PostAnswer } from '../../../../lib/webhooks/delivery/post-result.ts';
import type { Step } from '../../../support/exploration.ts';
import type { Call, Reply } from '../../../support/replayed-run.ts';
import {
  type CallName,
  clientIn,
  clientOf,
  effectOf,
  eventIn,
  type Message,
  posted,
  type Run,
  type Store,
  standingOf,
} from './delivery-model.ts';

export interface World extends Store {
  readonly nowMs: number;
  readonly runs: readonly Run[];
  /** Writes that their runs have given up land at a later moment. */
  readonly late: readonly Call<CallName>[];
  readonly started: number;
  readonly runsLeft: number;
  /** This many calls may still fail, land late or repeat, processes die or stall, and messages come early. */
  readonly faultsLeft: number;
  /** This many answers may still be other than 2xx. */
  readonly badAnswersLeft: number;
  /** Clients may still replace this many configurations. */
  readonly changesLeft: number;
  /** A configuration was replaced, and its wake is not queued yet. */
  readonly owesWake: boolean;
}

export interface Scenario {
  /** Receivers may give these answers other than 2xx, and may have taken the event even so. */
  readonly badAnswers: readonly PostAnswer[];
  readonly batchSize: number;
  /** This client's receiver never answers, so its posts stay open. */
  readonly hangingClient?: number;
}

/** The queue of a 60 s function needs this visibility timeout (infra/queues.ts). */
export const visibilityMs = 360_000;

const reads: ReadonlySet<CallName> = new Set(['find', 'read', 'look']);

/** Returns all steps of the queue, the runs, the receivers and the client. */
export async function successorsOf(world: World, scenario: Scenario): Promise<Step<World>[]> {
  const { messages, runs, late, nowMs, configs, faultsLeft } = world;
  const faulty = { ...world, faultsLeft: faultsLeft - 1 };
  const steps: Step<World>[] = [];
  const deliverable = messages.filter(({ held, visibleAtMs }) => !held && visibleAtMs <= nowMs);
  if (runs.length < 2 && world.runsLeft > 0) {
    const batches = deliverable.map((message) => [message]);
    if (deliverable.length > 1 && scenario.batchSize > 1) batches.push(deliverable.slice(0, scenario.batchSize));
    for (const batch of batches) steps.push({ does: `a run takes ${namesOf(batch)}`, state: withRunOf(world, batch) });
  }
  for (const message of messages) {
    if (!message.held || faultsLeft === 0) continue;
    steps.push({ does: `${namesOf([message])} comes again too early`, state: doubled(faulty, message) });
  }
  for (const run of runs) steps.push(...(await stepsOf(world, run, scenario)));
  for (const [at, call] of late.entries()) {
    const { store } = effectOf({ ...world, late: late.toSpliced(at, 1) }, call, nowMs);
    steps.push({ does: `${call.name} lands late`, state: store });
  }
  const config = configs[1];
  if (world.changesLeft > 0 && config?.active && !world.owesWake) {
    const changed = { ...configs, 1: { version: config.version + 1, active: true } };
    steps.push({
      does: 'client 1 replaces its configuration',
      state: { ...world, configs: changed, changesLeft: world.changesLeft - 1, owesWake: true },
    });
  }
  if (world.owesWake) {
    const { store } = effectOf({ ...world, owesWake: false }, { number: 0, name: 'wake', args: [1, 0] }, nowMs);
    steps.push({ does: 'its wake is queued', state: store });
  }
  const coming = messages.filter(({ held, visibleAtMs }) => !held && visibleAtMs > nowMs);
  const nextMs = Math.min(...coming.map(({ visibleAtMs }) => visibleAtMs));
  if (coming.length > 0 && (runs.length === 0 || faultsLeft > 0)) {
    const passing = runs.length === 0 ? world : faulty;
    steps.push({ does: `${(nextMs - nowMs) / 1_000} s pass`, state: { ...passing, nowMs: nextMs } });
  }
  if (runs.length > 0 && faultsLeft > 0) {
    steps.push({ does: 'runs stall for as long as a lease is theirs', state: { ...faulty, nowMs: nowMs + leaseMs } });
  }
  return steps;
}

export function withRunOf(world: World, batch: readonly Message[]): World {
  const ids = batch.map(({ id }) => id);
  const messages = world.messages.map((message) => (ids.includes(message.id) ? { ...message, held: true } : message));
  const taken = batch.map(({ id, body }) => ({ id, body }));
  const run = { owner: `run-${world.started}`, startedAtMs: world.nowMs, messages: taken, replies: [], answered: [] };
  const counted = { started: world.started + 1, runsLeft: world.runsLeft - 1 };
  return { ...world, ...counted, messages, runs: [...world.runs, run] };
}

export async function withReply(run: Run, call: Call<CallName>, reply: Omit<Reply, 'call'>): Promise<Run> {
  const answered = { clientId: clientOf(call), failed: reply.fails === true };
  const replies = [...run.replies, { call: call.number, ...reply }];
  const told = { ...run, replies, answered: [...run.answered, answered] };
  const { end } = await standingOf(told);
  return end === undefined ? told : { ...run, replies: [], answered: [], ended: end };
}

/** Returns the possible next steps of a run and of each of its open calls. */
async function stepsOf(world: World, run: Run, scenario: Scenario): Promise<Step<World>[]> {
  const runs = world.runs.filter((other) => other !== run);
  const of = run.owner;
  const faulty = { ...world, faultsLeft: world.faultsLeft - 1 };
  const ids = run.messages.map(({ id }) => id);
  const mayFail = world.faultsLeft > 0;
  const dead = (base: World) => released({ ...base, runs }, ids);
  const steps: Step<World>[] = [];
  if (run.ended !== undefined) {
    steps.push({ does: `${of} ends`, state: acknowledged({ ...world, runs }, ids, run.ended) });
    if (mayFail) steps.push({ does: `${of} ends, unheard`, state: dead(faulty) });
    return steps;
  }
  if (mayFail) steps.push({ does: `${of} dies`, state: dead(faulty) });
  const { open } = await standingOf(run);
  for (const call of open) {
    const clientId = clientOf(call);
    const what = `${call.name} of ${of} for client ${clientId}`;
    if (call.name === 'post' && clientId === scenario.hangingClient) continue;
    const told = async (base: World, reply: Pick<Reply, 'value' | 'fails'>): Promise<World> => {
      const next = await withReply(run, call, { ...reply, atMs: world.nowMs });
      return { ...base, runs: base.runs.map((other) => (other === run ? next : other)) };
    };
    const once = effectOf(world, call, world.nowMs);
    steps.push({ does: what, state: await told(once.store, { value: once.value }) });
    if (call.name === 'post') {
      const [, post] = call.args as [number, Post];
      const lost = posted(world, post, world.nowMs, false);
      if (mayFail)
        steps.push({ does: `${of} dies after ${call.name}`, state: dead({ ...lost, faultsLeft: faulty.faultsLeft }) });
      if (world.badAnswersLeft === 0) continue;
      for (const value of scenario.badAnswers) {
        const isGone = 'status' in value && value.status === 410;
        const gone = isGone ? [...new Set([...world.gone, post.url])].sort() : world.gone;
        const answered = { ...lost, gone, badAnswersLeft: world.badAnswersLeft - 1 };
        steps.push({ does: `${what}: ${JSON.stringify(value)}`, state: await told(answered, { value }) });
      }
      continue;
    }
    if (!mayFail) continue;
    steps.push({ does: `${what} fails`, state: await told(faulty, { fails: true }) });
    if (reads.has(call.name)) continue;
    const done = { ...once.store, faultsLeft: faulty.faultsLeft };
    const twice = effectOf(done, call, world.nowMs);
    steps.push(
      { does: `${what}, its reply lost`, state: await told(done, { fails: true }) },
      {
        does: `${what}, given up, will land late`,
        state: await told({ ...faulty, late: [...world.late, call] }, { fails: true }),
      },
      { does: `${what}, repeated by the SDK`, state: await told(twice.store, { value: twice.value }) },
      { does: `${of} dies after ${call.name}`, state: dead(done) },
    );
  }
  return steps;
}

export function acknowledged(world: World, ids: readonly number[], again: readonly string[]): World {
  const isOver = ({ id }: Message) => ids.includes(id) && !again.includes(String(id));
  return released({ ...world, messages: world.messages.filter((message) => !isOver(message)) }, ids);
}

/** An unacknowledged message comes again after its visibility timeout. */
function released(world: World, ids: readonly number[]): World {
  const visibleAtMs = world.nowMs + visibilityMs;
  return {
    ...world,
    messages: world.messages.map((each) =>
      ids.includes(each.id) && each.held ? { ...each, held: false, visibleAtMs } : each,
    ),
  };
}

/** The queue may deliver a message twice, and either delivery acknowledges it. */
function doubled(world: World, { id }: Message): World {
  return { ...world, messages: world.messages.map((each) => (each.id === id ? { ...each, held: false } : each)) };
}

function namesOf(messages: readonly Message[]): string {
  return messages
    .map(({ id, body }) => `message ${id} (${eventIn(body)?.id ?? 'a wake'} of client ${clientIn(body)})`)
    .join(' and ');
}

/** Message ids and order do not matter, except inside a run. */
export function keyOf({ messages, runs, late, nextId: _, ...rest }: World): string {
  const runOf = ({ owner, startedAtMs, replies, ended, messages: taken }: Run) =>
    JSON.stringify([
      ended ?? [owner, startedAtMs, replies],
      taken.map(({ id, body }) => [body, messages.some((each) => each.id === id && each.held)]),
    ]);
  const waiting = messages.map(({ body, visibleAtMs, held }) => JSON.stringify([body, visibleAtMs, held]));
  const landing = late.map((call) => JSON.stringify(call));
  return JSON.stringify([rest, waiting.sort(), runs.map(runOf).sort(), landing.sort()]);
}

import { newEntry } from '../../../../lib/messages/dispatch/backlog.ts';
import { standingIn } from '../../../../lib/messages/dispatch/item.ts';
import type { Step } from '../../../support/exploration.ts';
import { begun, withdrawnDispatch } from '../../../support/messages-table/dispatch-item.ts';
import type { Call } from '../../../support/replayed-run.ts';
import { scenarioHead } from '../../../support/scenario-dispatch.ts';
import { headOf } from './sender-model.ts';
import * as ofSender from './sender-space.ts';
import { type SmallRun, standingOfSmall } from './small-request-model.ts';

/** A small request between its acceptance, its worker and the sender of its number. */
export interface World extends ofSender.World {
  readonly acceptance: 'queues' | 'withdraws' | 'begins' | 'accepted' | 'refused' | 'undecided';
  /** The queue's message is there until a worker acknowledges it; two may have it. */
  readonly message: 'coming' | 'there' | 'gone';
  readonly workers: readonly SmallRun[];
  readonly startedWorkers: number;
  readonly lateWrites: readonly Pick<Call, 'name' | 'args'>[];
  readonly isStored: boolean;
}

export interface Scenario extends ofSender.Scenario {
  readonly mostWorkers: number;
  /** Whether a worker may get places. */
  readonly placed: readonly boolean[];
  /** Whether a hold may be met after a claim. */
  readonly held: readonly boolean[];
}

export function firstWorld(
  scenario: Scenario,
  bounds: Pick<World, 'faultsLeft' | 'passesLeft'>,
  acceptance: World['acceptance'] = 'queues',
): World {
  return {
    ...ofSender.firstWorld(scenario, { ...bounds, mayStop: false }),
    ...{ entry: undefined, item: {}, slices: [undefined], acceptance, workers: [], startedWorkers: 0 },
    message: acceptance === 'queues' ? 'gone' : 'there',
    ...{ lateWrites: [], isStored: false },
  };
}

const smallReads = new Set([...ofSender.reads, 'isHeld']);
const { dispatchId } = scenarioHead;

export async function successorsOf(world: World, scenario: Scenario): Promise<Step<World>[]> {
  const { workers, lateWrites, message, startedWorkers, nowMs } = world;
  const ofSenders = (await ofSender.successorsOf(world, scenario)) as Step<World>[];
  const steps = ofSenders.filter(({ does }) => does !== 'time passes' || workers.length === 0);
  steps.push(...acceptanceOf(world));
  if (message === 'coming') steps.push({ does: 'the message comes late', state: { ...world, message: 'there' } });
  if (message === 'there' && workers.length < 2 && startedWorkers < scenario.mostWorkers) {
    for (const hasPlace of scenario.placed) {
      const worker: SmallRun = { number: startedWorkers, startedAtMs: nowMs, hasPlace, replies: [] };
      const does = `worker ${startedWorkers} comes, ${hasPlace ? 'with' : 'without'} a place`;
      steps.push({ does, state: { ...world, workers: [...workers, worker], startedWorkers: startedWorkers + 1 } });
    }
  }
  for (const [at, call] of lateWrites.entries()) {
    const after = effectOf({ ...world, lateWrites: lateWrites.toSpliced(at, 1) }, call);
    steps.push({ does: `${call.name} of a worker lands late`, state: after.world });
  }
  for (const worker of workers) steps.push(...(await stepsOf(world, worker, scenario)));
  return steps.filter(({ state }) => state.faultsLeft >= 0);
}

/** Queue, then begin; what was not confirmed is withdrawn, which answers 502 (D25). */
function acceptanceOf(world: World): Step<World>[] {
  const faulty = { ...world, faultsLeft: world.faultsLeft - 1 };
  if (world.acceptance === 'queues') {
    return [
      { does: 'it is queued', state: { ...world, message: 'there', acceptance: 'begins' } },
      { does: 'it is queued, unconfirmed', state: { ...faulty, message: 'there', acceptance: 'withdraws' } },
      { does: 'it is not queued yet', state: { ...faulty, message: 'coming', acceptance: 'withdraws' } },
    ];
  }
  if (world.acceptance === 'begins') {
    const { item = {} } = begun(world.item);
    return [
      { does: 'acceptance begins it', state: { ...world, item, acceptance: 'accepted' } },
      { does: 'acceptance cannot begin it', state: { ...faulty, acceptance: 'accepted' } },
    ];
  }
  if (world.acceptance !== 'withdraws') return [];
  const seen = { dispatch: world.item, slice: world.slices[0] };
  const { dispatch = {}, slice, value } = withdrawnDispatch(seen, dispatchId, world.nowMs);
  const after = { ...world, item: dispatch, slices: [slice] };
  return [
    {
      does: `acceptance withdraws it: ${value}`,
      state: { ...after, acceptance: value === 'withdrawn' ? 'refused' : 'accepted' },
    },
    {
      does: 'acceptance withdraws it, its reply lost',
      state: { ...after, faultsLeft: faulty.faultsLeft, acceptance: 'undecided' },
    },
  ];
}

async function stepsOf(world: World, worker: SmallRun, scenario: Scenario): Promise<Step<World>[]> {
  const { open, end } = await standingOfSmall(worker);
  const name = `worker ${worker.number}`;
  const workers = world.workers.filter((other) => other !== worker);
  if (end !== undefined) {
    const message = end === 'acknowledged' ? 'gone' : world.message;
    return [{ does: `${name}: ${end}`, state: { ...world, workers, message } }];
  }
  const faulty = { ...world, faultsLeft: world.faultsLeft - 1 };
  const steps: Step<World>[] = [{ does: `${name} dies`, state: { ...faulty, workers } }];
  for (const call of open) {
    const answered = (base: World, reply: { readonly value?: unknown; readonly fails?: true }): World => {
      const replies = [...worker.replies, { ...reply, call: call.number, atMs: world.nowMs }];
      return { ...base, workers: base.workers.map((each) => (each === worker ? { ...worker, replies } : each)) };
    };
    const what = `${call.name} of ${name}`;
    if (call.name === 'send') {
      for (const answer of scenario.answers) {
        const after = ofSender.called(world, call, answer) as World;
        steps.push({ does: `${what}: ${answer}`, state: answered(after, { value: answer }) });
      }
      continue;
    }
    if (call.name === 'isHeld') {
      for (const value of scenario.held) {
        steps.push({ does: `${what}: ${value}`, state: answered(world, { value }) });
      }
      continue;
    }
    const { world: after, value } = effectOf(world, call);
    steps.push({ does: what, state: answered(after, { value }) });
    steps.push({ does: `${what} fails`, state: answered(faulty, { fails: true }) });
    if (smallReads.has(call.name)) continue;
    const hurt = { ...after, faultsLeft: faulty.faultsLeft };
    const lateWrites = [...world.lateWrites, { name: call.name, args: call.args }];
    steps.push(
      { does: `${what}, its reply lost`, state: answered(hurt, { fails: true }) },
      { does: `${what} is given up`, state: answered({ ...faulty, lateWrites }, { fails: true }) },
      { does: `${what}, repeated later`, state: answered({ ...hurt, lateWrites }, { value }) },
    );
  }
  return steps;
}

function effectOf(
  world: World,
  call: Pick<Call, 'name' | 'args'>,
): { readonly world: World; readonly value?: unknown } {
  if (call.name === 'store') return { world: { ...world, isStored: true } };
  if (call.name === 'begin') {
    const { item = {}, value } = begun(world.item);
    return { world: { ...world, item }, value };
  }
  if (call.name === 'enterInFront') {
    const { pk: _partition, sk: _key, ...entry } = newEntry(headOf(1));
    return { world: { ...world, entry: world.entry ?? { ...entry, front: true } } };
  }
  return ofSender.effectOf(world, call) as { readonly world: World; readonly value?: unknown };
}

export function check(world: World): void {
  const { acceptance, calls, entry, isStored, item } = world;
  ofSender.check(world);
  if (acceptance === 'refused' && Object.keys(calls).length > 0) throw new Error('R20: 502, and it was called');
  if (entry !== undefined && !isStored) throw new Error('R14: an entry without a record, which the sender drops');
  if (entry !== undefined && standingIn(item) !== 'begun')
    throw new Error('the sender waits for an undecided dispatch');
}

export function isAtRest({ acceptance, workers, runs, late, lateWrites, message }: World): boolean {
  const isOver = !['queues', 'withdraws', 'begins'].includes(acceptance);
  return isOver && workers.length + runs.length + late.length + lateWrites.length === 0 && message !== 'coming';
}

/** From rest, without further harm, workers and senders end all that counts, and tell it. */
export async function checkEnds(world: World, scenario: Scenario): Promise<void> {
  for (const hasPlace of scenario.placed) await checkEndsWith(world, scenario, hasPlace);
}

async function checkEndsWith(world: World, scenario: Scenario, hasPlace: boolean): Promise<void> {
  const quiet: Scenario = { ...scenario, answers: ['taken'], held: [false] };
  let at = world;
  for (let round = 0; at.message === 'there'; round += 1) {
    if (round > 4) throw new Error('R14: its message comes for ever');
    const worker: SmallRun = { number: 90 + round, startedAtMs: at.nowMs, hasPlace, replies: [] };
    at = { ...at, workers: [worker] };
    while (at.workers.length > 0) {
      const steps = await stepsOf(at, at.workers[0] as SmallRun, quiet);
      const next = steps.find(({ state }) => state.faultsLeft === at.faultsLeft);
      if (next === undefined) throw new Error('a worker stands still');
      at = next.state;
      check(at);
    }
    at = { ...at, nowMs: at.nowMs + ofSender.passMs };
  }
  if (at.entry !== undefined) at = (await ofSender.checkFinishes(at, scenario)) as World;
  if (at.acceptance === 'refused' || standingIn(at.item) === 'withdrawn') return;
  if (ofSender.pendingIn(at).length > 0) throw new Error('R14: it is pending for ever');
  const [outcome] = at.slices[0]?.outcomes ?? [];
  const isTold = at.told.includes(`${dispatchId}-0 message.${outcome?.state}`);
  if (outcome?.state !== 'sent' && !isTold) throw new Error(`R14: ${outcome?.state} is not told`);
}

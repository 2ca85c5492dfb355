import { claimLifeMs } from '../../../lib/messages/dispatch/claim.ts';
import { byJobState, cancelled } from '../../../lib/messages/job-state.ts';
import { outcomeOf } from '../../../lib/messages/outcomes/outcome.ts';
import { dispatchMessage, scenarioHead, startMs } from '../../support/scenario-job.ts';
import type { Step } from '../../support/exploration.ts';
import {
  effectOf,
  nowMsOf,
  type Role,
  type Run,
  type Store,
  standingOf,
  stateIn,
  withStop,
} from './held-jobs-model.ts';

export interface World extends Store {
  readonly templateChangesLeft: number;
  /** What the fan-out saw when it began, and has not acted on yet. */
  readonly fanOut: 'waiting' | 'begun' | 'over';
  readonly runs: readonly Run[];
  readonly runsLeft: number;
  readonly looksLeft: number;
  readonly faultsLeft: number;
  /** A report that has read the job, and then what it said. */
  readonly report: 'none' | 'saw stop' | 'saw none' | 'ended';
}

const jobId = scenarioHead.jobId;
const stopMs = startMs + 1;

/** The message as the fan-out releases it. */
export const released = JSON.stringify(dispatchMessage(0));

/** When a report is read, soon and long after every claim has ended. */
export const reportedAtMs = [startMs + 10, startMs + 10 * claimLifeMs] as const;

/** What a report says of the message, but that it was sent: batch records are none of this world. */
export function reportedIn({ claim, job }: World, atMs: number = reportedAtMs[0]) {
  return outcomeOf({ jobId, index: 0 }, { claim, job: stateIn(job) }, atMs);
}

export async function successorsOf(world: World): Promise<Step<World>[]> {
  const steps = [...jobSteps(world), ...fanOutSteps(world), ...platformSteps(world), ...reportSteps(world)];
  const next = steps.filter(({ state }) => state.queue.length <= 2);
  if (world.runs.length < 2) next.push(...beginnings(world));
  for (const run of world.runs) next.push(...(await stepsOf(world, run)));
  return next;
}

/** Acceptance takes the job back, or its client cancels it. */
function jobSteps(world: World): Step<World>[] {
  const { job } = world;
  const steps: Step<World>[] = [];
  if (!job.begun && !job.withdrawn) {
    steps.push({ does: 'the job is taken back', state: { ...world, job: { ...job, withdrawn: true } } });
  }
  if (job.stop === undefined) {
    steps.push({ does: 'the job is cancelled', state: { ...world, job: withStop(job, cancelled(stopMs)) } });
  }
  return steps;
}

function fanOutSteps(world: World): Step<World>[] {
  const { job, fanOut } = world;
  if (fanOut === 'waiting' && job.withdrawn) {
    return [{ does: 'the fan-out finds it taken back', state: { ...world, fanOut: 'over' } }];
  }
  if (fanOut === 'waiting') {
    return [{ does: 'the fan-out begins', state: { ...world, job: { ...job, begun: true }, fanOut: 'begun' } }];
  }
  if (fanOut === 'over') return [];
  const by = byJobState(job, {}, startMs);
  if (by.kind === 'send') {
    const queue = [...world.queue, released].sort();
    return [{ does: 'the fan-out releases the message', state: { ...world, fanOut: 'over', queue } }];
  }
  if (by.kind !== 'settle') return [];
  const settled = { key: { jobId, index: 0 }, at: 'fan-out/0', claimedAtMs: startMs };
  const claim = world.claim ?? { ...settled, ...by.settlement };
  return [{ does: 'the fan-out settles the message', state: { ...world, fanOut: 'over', claim } }];
}

function platformSteps(world: World): Step<World>[] {
  if (world.templateChangesLeft === 0) return [];
  const others = (['APPROVED', 'PAUSED', 'DISABLED'] as const).filter((template) => template !== world.template);
  return others.map((template) => ({
    does: `the template is ${template}`,
    state: { ...world, template, templateChangesLeft: world.templateChangesLeft - 1 },
  }));
}

function reportSteps(world: World): Step<World>[] {
  const { job, report } = world;
  if (report === 'none') {
    const saw = job.stop === undefined ? 'saw none' : 'saw stop';
    return [{ does: `a report ${saw}`, state: { ...world, report: saw } }];
  }
  // What a cancellation answers, written first: nothing is pending.
  const hasEnded = report === 'saw stop' && reportedIn(world).state !== 'pending' && world.sent === 0;
  if (!hasEnded) return [];
  return [{ does: 'the report ends', state: { ...world, report: 'ended', job: { ...job, endedAtMs: stopMs } } }];
}

function beginnings(world: World): Step<World>[] {
  const { runs, runsLeft, looksLeft } = world;
  const started = (role: Role, body: string) => [
    ...runs,
    { role, number: 10 - runsLeft - looksLeft, body, replies: [] },
  ];
  const workers = world.queue.map((body, at) => ({
    does: `a worker takes message ${at}`,
    state: { ...world, runsLeft: runsLeft - 1, queue: world.queue.toSpliced(at, 1), runs: started('worker', body) },
  }));
  const watchers = world.watches.map((body, at) => ({
    does: `a watcher takes watch ${at}`,
    state: {
      ...world,
      looksLeft: looksLeft - 1,
      watches: world.watches.toSpliced(at, 1),
      runs: started('watcher', body),
    },
  }));
  return [...(runsLeft === 0 ? [] : workers), ...(looksLeft === 0 ? [] : watchers)];
}

/** What may become of a run: it dies, it ends, or its call is answered, fails, or loses its reply. */
async function stepsOf(world: World, run: Run): Promise<Step<World>[]> {
  const others = world.runs.filter((other) => other !== run);
  const ended = { ...world, runs: others };
  const back =
    run.role === 'worker'
      ? { ...ended, queue: [...world.queue, run.body].sort() }
      : { ...ended, watches: [...world.watches, run.body].sort() };
  const faultsLeft = world.faultsLeft - 1;
  const of = `${run.role} ${run.number}`;
  const steps: Step<World>[] = faultsLeft < 0 ? [] : [{ does: `${of} dies`, state: { ...back, faultsLeft } }];
  const standing = await standingOf(run);
  if (!('call' in standing)) {
    return [...steps, { does: `${of} ends`, state: standing.acknowledged ? ended : back }];
  }
  const { number, name } = standing.call;
  const goOn = (base: World, reply: { readonly value?: unknown; readonly fails?: true }): World => ({
    ...base,
    runs: [...others, { ...run, replies: [...run.replies, { call: number, ...reply, atMs: nowMsOf(run) }] }],
  });
  const { store, value } = effectOf(world, standing.call);
  steps.push({ does: `${name} of ${of}`, state: goOn(store, { value }) });
  if (faultsLeft < 0 || name === 'send') return steps;
  return [
    ...steps,
    { does: `${name} of ${of} fails`, state: goOn({ ...world, faultsLeft }, { fails: true }) },
    { does: `${name} of ${of}, its reply lost`, state: goOn({ ...store, faultsLeft }, { fails: true }) },
  ];
}

import { expect, test } from 'vitest';
import { type Claim, claimLifeMs } from '../../../lib/messages/dispatch/claim.ts';
import { dispatchBatch } from '../../../lib/messages/dispatch/dispatch.ts';
import type { DispatchPorts } from '../../../lib/messages/dispatch/dispatch-ports.ts';
import { type ParkedWatch, parkedWatchOf } from '../../../lib/messages/fan-out/watch-message.ts';
import { jobHolds } from '../../../lib/messages/job-holds.ts';
import { byJobState, cancelled, type JobParked, type JobState } from '../../../lib/messages/job-state.ts';
import { outcomeOf } from '../../../lib/messages/outcomes/outcome.ts';
import { type WatchPorts, watchJobs } from '../../../lib/messages/outcomes/watch.ts';
import { PlatformFailure } from '../../../lib/platform/failure.ts';
import { dispatchMessage, scenarioHead, startMs } from '../../faults/scenario-job.ts';
import { idlePaces } from '../../support/idle-paces.ts';
import { makeTemplate } from '../../support/templates.ts';

/*
 * Every order in which the writers of a job item meet (items.ts): acceptance takes the job back, the fan-out begins it and
 * releases its message, a client cancels it, workers claim, read, call and park, the watcher resumes or stops, while the
 * platform pauses and approves the template, a report is read, one call fails or loses its reply, and one run dies. Workers
 * and watchers are the real ones; the job item obeys the conditions of items.ts, to which an adapter test holds the store.
 */

type Role = 'worker' | 'watcher';
interface Reply {
  readonly value?: unknown;
  readonly fails?: 'error' | 'paused';
}
interface Run {
  readonly role: Role;
  readonly number: number;
  readonly body: string;
  readonly replies: readonly Reply[];
}
interface World {
  readonly job: JobState & { readonly begun?: true; readonly withdrawn?: true };
  readonly template: 'APPROVED' | 'PAUSED' | 'DISABLED';
  readonly templateChangesLeft: number;
  /** What the fan-out saw when it began, and has not acted on yet. */
  readonly fanOut: 'waiting' | 'begun' | 'over';
  readonly claim?: Claim;
  /** The claim was taken when the stop was there. */
  readonly claimedLate: boolean;
  readonly sent: number;
  readonly queue: readonly string[];
  readonly watches: readonly string[];
  readonly runs: readonly Run[];
  readonly runsLeft: number;
  readonly looksLeft: number;
  readonly faultsLeft: number;
  /** A report that has read the job, and then what it said. */
  readonly report: 'none' | 'saw stop' | 'saw none' | 'ended';
}
interface Call {
  readonly name: string;
  readonly args: readonly unknown[];
}
interface Standing {
  readonly call?: Call;
  readonly acknowledged?: boolean;
}

const jobId = scenarioHead.jobId;
const released = JSON.stringify(dispatchMessage(0));
const stopMs = startMs + 1;
const lookMs = startMs + 20_000;
const standings = new Map<string, Promise<Standing>>();

function standingOf(run: Run): Promise<Standing> {
  const key = JSON.stringify(run);
  const known = standings.get(key) ?? replayed(run);
  standings.set(key, known);
  return known;
}

async function replayed({ role, number, body, replies }: Run): Promise<Standing> {
  let open: Call | undefined;
  let at = 0;
  const call =
    (name: string) =>
    (...args: unknown[]): Promise<never> => {
      const reply = replies[at++];
      if (reply === undefined) {
        open ??= { name, args };
        return new Promise(() => undefined);
      }
      if (reply.fails === 'paused') return Promise.reject(new PlatformFailure('refused', { code: 132015 }));
      return reply.fails ? Promise.reject(new Error('unavailable')) : (Promise.resolve(reply.value) as Promise<never>);
    };
  const stateOf = async (...args: unknown[]) => new Map([[jobId, (await call('of')(...args)) as JobState]]);
  const states = {
    ...{ of: stateOf, park: call('park'), stop: call('stop'), resume: call('resume') },
    endPause: call('endPause'),
  };
  const events = { send: async () => undefined };
  const quiet = { events, log: () => undefined };
  const nowMs = () => (role === 'worker' ? startMs + number : lookMs);
  const ports = {
    ...{ ...quiet, ...idlePaces, nowMs, remainingMs: () => 60_000, random: () => 0, pause: async () => undefined },
    jobStates: states,
    newHolds: () => jobHolds({ ...quiet, states, nowMs, watchParked: (_, since) => call('watch')(watchOf(since)) }),
    claims: {
      ...{ take: call('take'), release: call('release'), settle: call('settle') },
      ...{ findBatchRecord: call('findBatchRecord'), recordBatch: async () => undefined },
    },
    doubts: { mark: async () => undefined, hasReceipt: async () => false },
    queue: { sendLater: call('sendLater'), postpone: async () => undefined },
    send: call('send'),
    invocation: `run-${number}`,
  } as unknown as DispatchPorts;
  const watching = {
    ...{ ...quiet, nowMs },
    parked: {
      ...{ states, queue: { sendLater: call('watch') }, headOf: async () => scenarioHead },
      templates: { storedFacts: async () => new Map() },
      platformTemplates: { find: call('template') },
    },
  } as unknown as WatchPorts;
  const delivery = { messageId: 'm', receiptHandle: 'r', body };
  const run = role === 'worker' ? dispatchBatch([delivery], ports) : watchJobs([delivery], watching);
  let failed: string[] | undefined;
  void run.then((ids) => {
    failed = ids;
  });
  for (let turn = 0; turn < 120 && open === undefined && failed === undefined; turn += 1) await null;
  if (open !== undefined) return { call: open };
  if (failed === undefined) throw new Error('the run neither calls nor ends');
  return { acknowledged: failed.length === 0 };
}

function watchOf(sinceMs: number): ParkedWatch {
  return parkedWatchOf({ jobId, clientId: scenarioHead.clientId, acceptedAtMs: scenarioHead.acceptedAtMs }, sinceMs);
}

function withStop(job: World['job'], stop: NonNullable<JobState['stop']>): World['job'] {
  if (job.stop !== undefined) return job;
  const { parked: _ended, pausedFromMs: _over, ...rest } = job;
  return { ...rest, stop };
}

function stateIn({ begun: _begun, withdrawn: _withdrawn, ...state }: World['job']): JobState {
  return state;
}

/** The effect of a call, and what it answers: the conditions are those of items.ts. */
function effectOf(world: World, { name, args }: Call): { readonly world: World; readonly reply: Reply } {
  const { job, claim } = world;
  const answer = (value?: unknown, changes: Partial<World> = {}) => ({
    world: { ...world, ...changes },
    reply: value === undefined ? {} : { value },
  });
  const [first, second, third] = args;
  const mine = claim?.state === 'claimed' && claim.at === second;
  const unclaimed = () => {
    const { claim: _gone, ...rest } = world;
    return { world: { ...rest, claimedLate: false }, reply: {} };
  };
  if (name === 'of') return answer(stateIn(job));
  if (name === 'take') {
    return claim === undefined
      ? answer(undefined, { claim: first as Claim, claimedLate: job.stop !== undefined })
      : answer(claim);
  }
  if (name === 'release') return mine ? unclaimed() : answer();
  if (name === 'settle') return mine ? answer(true, { claim: { ...claim, ...(third as object) } }) : answer(false);
  if (name === 'sendLater') return answer(undefined, { queue: [...world.queue, JSON.stringify(first)].sort() });
  if (name === 'watch') return answer(undefined, { watches: [...world.watches, JSON.stringify(first)].sort() });
  if (name === 'park') {
    const may = job.begun && job.stop === undefined && job.parked === undefined;
    const { sinceMs } = second as JobParked;
    const pausedFromMs = job.pausedFromMs ?? sinceMs;
    return may
      ? answer(true, { job: { ...job, parked: second as JobParked, pausedFromMs } })
      : answer(job.parked?.sinceMs === sinceMs);
  }
  if (name === 'endPause') {
    const { pausedFromMs: _over, ...rest } = job;
    return answer(undefined, { job: rest });
  }
  if (name === 'resume') {
    const { parked, ...rest } = job;
    return parked?.sinceMs === second ? answer(true, { job: rest }) : answer(false);
  }
  if (name === 'stop')
    return answer(job.stop === undefined, { job: withStop(job, second as NonNullable<JobState['stop']>) });
  if (name === 'template') return answer(makeTemplate({ status: world.template }));
  if (name === 'send') {
    if (world.template !== 'APPROVED') return { world, reply: { fails: 'paused' } };
    return answer({ platformMessageId: 'platform-0' }, { sent: world.sent + 1 });
  }
  throw new Error(`nobody expects ${name}`);
}

function environment(world: World): World[] {
  const next: World[] = [];
  const { job, fanOut } = world;
  if (!job.begun && !job.withdrawn) next.push({ ...world, job: { ...job, withdrawn: true } });
  if (job.stop === undefined) next.push({ ...world, job: withStop(job, cancelled(stopMs)) });
  if (fanOut === 'waiting')
    next.push(
      job.withdrawn ? { ...world, fanOut: 'over' } : { ...world, job: { ...job, begun: true }, fanOut: 'begun' },
    );
  if (fanOut === 'begun') {
    const by = byJobState(job, {}, startMs);
    const settled = { key: { jobId, index: 0 }, at: 'fan-out/0', claimedAtMs: startMs };
    if (by.kind === 'send') next.push({ ...world, fanOut: 'over', queue: [...world.queue, released].sort() });
    if (by.kind === 'settle') {
      const claim = world.claim ?? { ...settled, ...by.settlement };
      next.push({ ...world, fanOut: 'over', claim });
    }
  }
  if (world.templateChangesLeft > 0) {
    for (const template of ['APPROVED', 'PAUSED', 'DISABLED'] as const) {
      if (template !== world.template)
        next.push({ ...world, template, templateChangesLeft: world.templateChangesLeft - 1 });
    }
  }
  if (world.report === 'none') next.push({ ...world, report: job.stop === undefined ? 'saw none' : 'saw stop' });
  // What a cancellation answers, written first: nothing is pending.
  if (world.report === 'saw stop' && reportedIn(world).state !== 'pending' && world.sent === 0) {
    next.push({ ...world, report: 'ended', job: { ...job, endedAtMs: stopMs } });
  }
  return next;
}

/** What a report says of the message, but that it was sent: batch records are none of this world. */
function reportedIn({ claim, job }: World, atMs = startMs + 10) {
  return outcomeOf({ jobId, index: 0 }, { claim, job: stateIn(job) }, atMs);
}

async function successorsOf(world: World): Promise<World[]> {
  const next = environment(world).filter(({ queue }) => queue.length <= 2);
  const without = (list: readonly string[], at: number) => list.filter((_, other) => other !== at);
  const started = (role: Role, body: string) => ({
    role,
    number: 10 - world.runsLeft - world.looksLeft,
    body,
    replies: [],
  });
  if (world.runs.length < 2) {
    for (const [at, body] of world.queue.entries()) {
      if (world.runsLeft === 0) break;
      next.push({
        ...world,
        runsLeft: world.runsLeft - 1,
        queue: without(world.queue, at),
        runs: [...world.runs, started('worker', body)],
      });
    }
    for (const [at, body] of world.watches.entries()) {
      if (world.looksLeft === 0) break;
      next.push({
        ...world,
        looksLeft: world.looksLeft - 1,
        watches: without(world.watches, at),
        runs: [...world.runs, started('watcher', body)],
      });
    }
  }
  for (const run of world.runs) {
    const others = world.runs.filter((other) => other !== run);
    const ended = { ...world, runs: others };
    const back =
      run.role === 'worker'
        ? { ...ended, queue: [...world.queue, run.body].sort() }
        : { ...ended, watches: [...world.watches, run.body].sort() };
    const faultsLeft = world.faultsLeft - 1;
    if (faultsLeft >= 0) next.push({ ...back, faultsLeft });
    const { call, acknowledged } = await standingOf(run);
    if (call === undefined) {
      next.push(acknowledged ? ended : back);
      continue;
    }
    const goOn = (base: World, reply: Reply) => ({
      ...base,
      runs: [...others, { ...run, replies: [...run.replies, reply] }],
    });
    const { world: after, reply } = effectOf(world, call);
    next.push(goOn(after, reply));
    if (faultsLeft < 0 || call.name === 'send') continue;
    next.push(goOn({ ...world, faultsLeft }, { fails: 'error' }), goOn({ ...after, faultsLeft }, { fails: 'error' }));
  }
  return next;
}

function check(before: World, world: World): void {
  const { job, claim, sent } = world;
  if (job.begun && job.withdrawn) throw new Error('D25: a job is begun and taken back');
  if (sent > 1) throw new Error('R13: a message was sent twice');
  if (sent > before.sent) {
    if (before.claimedLate) throw new Error('D53: sent although it was claimed after the stop');
    if (job.withdrawn) throw new Error('D25: a job that was taken back was sent');
    if (before.report === 'ended') throw new Error('D53: a report had said that it is not sent any more');
  }
  if (world.report === 'ended') {
    const { state } = world.claim?.state === 'claimed' || world.claim === undefined ? (job.stop ?? {}) : world.claim;
    for (const atMs of [startMs + 10, startMs + 10 * claimLifeMs]) {
      if (reportedIn(world, atMs).state !== state) throw new Error('D53: a message that had ended ends otherwise');
    }
    if (state === 'unknown') throw new Error('D53: a message that had ended is unknown');
  }
  const isUnderWay =
    world.fanOut !== 'over' || world.queue.length > 0 || world.runs.some(({ role }) => role === 'worker');
  const hasEnded = job.withdrawn || sent > 0 || (claim !== undefined && claim.state !== 'claimed');
  if (!isUnderWay && !hasEnded) throw new Error('R14: a message has vanished');
  const watched = [...world.watches, ...world.runs.filter(({ role }) => role === 'watcher').map(({ body }) => body)];
  if (before.job.pausedFromMs !== undefined && job.pausedFromMs === undefined && job.stop === undefined && sent === 0) {
    throw new Error('D46: a pause ended, and nothing was taken');
  }
  const since = job.parked?.sinceMs;
  if (since !== undefined && !watched.some((body) => (JSON.parse(body) as ParkedWatch).sinceMs === since)) {
    throw new Error('D46: a job is parked and nobody watches it');
  }
}

const nothing: World = {
  ...{ job: {}, template: 'APPROVED', templateChangesLeft: 0, fanOut: 'waiting', claimedLate: false, sent: 0 },
  ...{ queue: [], watches: [], runs: [], runsLeft: 2, looksLeft: 0, faultsLeft: 1, report: 'none' },
};
const waiting: Partial<World> = { job: { begun: true }, fanOut: 'over', queue: [released], report: 'saw none' };

test.each([
  [
    'taking back, beginning, cancelling, claiming',
    { ...nothing, runsLeft: 3, faultsLeft: 2 },
    ['stopped', 'sent', 'cancelledInTime', 'ended'],
    4_000,
  ],
  [
    'parking, cancelling, claiming',
    { ...nothing, ...waiting, template: 'PAUSED', templateChangesLeft: 1, looksLeft: 1 },
    ['parked', 'stopped', 'sent', 'cancelledInTime'],
    15_000,
  ],
  [
    'parking, resuming, going on',
    { ...nothing, ...waiting, template: 'PAUSED', templateChangesLeft: 1, looksLeft: 2, faultsLeft: 0 },
    ['parked', 'resumed', 'sent', 'pauseEnded'],
    4_000,
  ],
] as const)(
  '%s: nothing is sent after a stop, nothing vanishes, and no parked job is forgotten (D25, D46, D53)',
  { timeout: 300_000 },
  async (_, first, expected, least) => {
    const seen = new Set([JSON.stringify(first)]);
    const met = new Set<string>();
    let frontier: World[] = [first];
    while (frontier.length > 0) {
      const found: World[] = [];
      for (const world of frontier) {
        for (const successor of await successorsOf(world)) {
          const key = JSON.stringify(successor);
          if (seen.has(key)) continue;
          seen.add(key);
          check(world, successor);
          for (const event of eventsBetween(world, successor)) met.add(event);
          found.push(successor);
        }
      }
      frontier = found;
    }
    // Guards against an exploration that sees nothing.
    expect(expected.filter((event) => !met.has(event))).toEqual([]);
    expect(seen.size).toBeGreaterThan(least);
  },
);

function eventsBetween(before: World, after: World): string[] {
  const { job, claim, report, sent } = after;
  return [
    ...(job.parked === undefined ? [] : ['parked']),
    ...(before.job.parked !== undefined && job.parked === undefined && job.stop === undefined ? ['resumed'] : []),
    ...(before.job.pausedFromMs !== undefined && job.pausedFromMs === undefined && sent > 0 ? ['pauseEnded'] : []),
    ...(job.stop === undefined ? [] : ['stopped']),
    ...(sent > before.sent ? ['sent'] : []),
    ...(claim?.code === 'cancelled' ? ['cancelledInTime'] : []),
    ...(report === 'ended' ? ['ended'] : []),
  ];
}

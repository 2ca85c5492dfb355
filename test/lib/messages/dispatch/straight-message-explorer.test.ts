import { expect, test } from 'vitest';
import { type BatchRecord, type Claim, claimLifeMs } from '../../../../lib/messages/dispatch/claim.ts';
import { dispatchBatch } from '../../../../lib/messages/dispatch/dispatch.ts';
import type { DispatchPorts } from '../../../../lib/messages/dispatch/dispatch-ports.ts';
import { outcomeOf } from '../../../../lib/messages/outcomes/outcome.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import type { ServiceEvent } from '../../../../lib/webhooks/event.ts';
import { dispatchMessage, startMs } from '../../../faults/scenario-job.ts';
import { explore, type Step } from '../../../support/exploration.ts';
import { idlePaces } from '../../../support/idle-paces.ts';
import { type Call, type Reply, type Standing, standingAfter } from '../../../support/replayed-run.ts';

/*
 * Every order in which a straight message is worked off (items.ts, `mayBegin`): its acceptance begins the job, takes it back or
 * dies, a later request takes it back; the message comes twice, or late; workers claim it, begin the job, call; a call fails,
 * loses its reply or lands after its run has given it up; the platform refuses for now; a run dies; time passes until a claim
 * is nobody's. Workers are the real ones; the job item obeys the conditions of items.ts, to which an adapter test holds the
 * store.
 */

type CallName =
  | 'take'
  | 'release'
  | 'settle'
  | 'findBatchRecord'
  | 'recordBatch'
  | 'of'
  | 'begin'
  | 'send'
  | 'sendLater'
  | 'tell';

interface Run {
  readonly number: number;
  readonly startedAtMs: number;
  readonly body: string;
  readonly replies: readonly Reply[];
}

interface World {
  readonly nowMs: number;
  readonly job: { readonly begun: boolean; readonly withdrawn: boolean };
  /** What somebody other than a worker may still do to the job, in any order: the acceptance, and a later request. */
  readonly others: readonly ('begin' | 'withdraw')[];
  readonly claim: Claim | null;
  readonly batches: Readonly<Record<string, BatchRecord>>;
  readonly queue: readonly string[];
  readonly late: readonly Call<CallName>[];
  readonly runs: readonly Run[];
  readonly runsLeft: number;
  readonly faultsLeft: number;
  readonly waitsLeft: number;
  readonly posted: readonly { readonly begun: boolean }[];
  readonly told: readonly string[];
}

const jobId = 'J';
const straight = dispatchMessage(0, {
  ...{ straight: true, alone: true },
  expiresAtMs: startMs + 10 * claimLifeMs,
});

const standings = new Map<string, Promise<Standing<readonly string[], CallName>>>();

function standingOf(run: Run): Promise<Standing<readonly string[], CallName>> {
  const key = JSON.stringify(run);
  const known = standings.get(key) ?? standingAfter(worker(run), run.startedAtMs, run.replies);
  standings.set(key, known);
  return known;
}

function worker({ number, body }: Run) {
  return async ({ call, nowMs }: Parameters<Parameters<typeof standingAfter<readonly string[], CallName>>[0]>[0]) => {
    const send = call('send');
    const ports: DispatchPorts = {
      ...idlePaces,
      claims: {
        take: call('take'),
        release: call('release'),
        settle: call('settle'),
        findBatchRecord: call('findBatchRecord'),
        recordBatch: call('recordBatch'),
      },
      doubts: { mark: async () => undefined, hasReceipt: async () => false },
      queue: { sendLater: call('sendLater'), postpone: async () => undefined, hold: async () => undefined },
      jobStates: { of: async (jobIds) => new Map([[jobIds[0] ?? '', await call('of')()]]) },
      straightJobs: { begin: call('begin') },
      send: async () => {
        const answer: 'taken' | 'refused' = await send();
        if (answer === 'refused') throw new PlatformFailure('refused', { code: 130429 });
        return { platformMessageId: 'platform-1' };
      },
      events: {
        send: async (events: readonly ServiceEvent[]) => await call('tell')(...events.map(({ type }) => type)),
      },
      invocation: `run-${number}`,
      nowMs,
      remainingMs: () => 60_000,
      random: () => 0,
      pause: async () => undefined,
      log: () => undefined,
    };
    return await dispatchBatch([{ messageId: 'm', receiptHandle: 'r', body }], ports);
  };
}

/** What a call does and answers. */
function effectOf(world: World, { name, args }: Pick<Call<CallName>, 'name' | 'args'>): [World, unknown?] {
  const { claim, job } = world;
  switch (name) {
    case 'take':
      return claim === null ? [{ ...world, claim: args[0] as Claim }] : [world, claim];
    case 'release':
      return claim?.state === 'claimed' && claim.at === args[1] ? [{ ...world, claim: null }] : [world];
    case 'settle': {
      const [, at, settlement] = args as [unknown, string, Pick<Claim, 'state' | 'code'>];
      if (claim?.at !== at || claim.state !== 'claimed') return [world, false];
      return [{ ...world, claim: { ...claim, ...settlement } as Claim }, true];
    }
    case 'findBatchRecord':
      return [world, world.batches[String(args[0])]];
    case 'recordBatch':
      return [{ ...world, batches: { ...world.batches, [String(args[0])]: args[1] as BatchRecord } }];
    case 'of':
      return [world, job.begun ? { begun: true } : {}];
    case 'begin':
      return job.withdrawn ? [world, 'withdrawn'] : [{ ...world, job: { ...job, begun: true } }, 'begun'];
    case 'send':
      return [{ ...world, posted: [...world.posted, { begun: job.begun }] }, 'taken'];
    case 'sendLater':
      return [{ ...world, queue: [...world.queue, JSON.stringify(args[0])] }];
    case 'tell':
      return [{ ...world, told: [...new Set([...world.told, ...(args as string[])])].sort() }];
  }
}

async function successorsOf(world: World): Promise<Step<World>[]> {
  const steps: Step<World>[] = [];
  const { job, others, queue, late, runs, runsLeft, faultsLeft, waitsLeft } = world;
  for (const [at, does] of others.entries()) {
    const left = { ...world, others: others.toSpliced(at, 1) };
    if (does === 'begin') {
      steps.push({ does: 'the acceptance begins the job', state: { ...left, job: { ...job, begun: !job.withdrawn } } });
    } else if (!job.begun) {
      steps.push({ does: 'the job is taken back', state: { ...left, job: { begun: false, withdrawn: true } } });
    }
    steps.push({ does: `nobody else: ${does}`, state: left });
  }
  for (const [at, body] of [...new Set(queue)].entries()) {
    if (runsLeft === 0) break;
    const run = { number: runsLeft, startedAtMs: world.nowMs, body, replies: [] };
    const taken = { ...world, queue: queue.toSpliced(queue.indexOf(body), 1), runsLeft: runsLeft - 1 };
    steps.push({ does: `run ${runsLeft} gets message ${at}`, state: { ...taken, runs: [...runs, run] } });
  }
  for (const [at, call] of late.entries()) {
    steps.push({
      does: `${call.name} lands late`,
      state: effectOf({ ...world, late: late.toSpliced(at, 1) }, call)[0],
    });
  }
  for (const run of runs) steps.push(...(await stepsOf(world, run)));
  if (waitsLeft > 0 && runs.length === 0 && late.length === 0) {
    const waited = { ...world, nowMs: world.nowMs + claimLifeMs, waitsLeft: waitsLeft - 1 };
    steps.push({ does: 'a claim becomes nobody’s', state: waited });
  }
  return faultsLeft < 0 ? [] : steps;
}

async function stepsOf(world: World, run: Run): Promise<Step<World>[]> {
  const standing = await standingOf(run);
  const [call] = standing.open;
  const without = { ...world, runs: world.runs.filter((other) => other !== run) };
  const comesAgain = { ...without, queue: [...world.queue, run.body] };
  const of = `of run ${run.number}`;
  if (call === undefined) {
    const isAcknowledged = standing.end?.length === 0;
    return [{ does: `end ${of}`, state: isAcknowledged ? without : comesAgain }];
  }
  const told = (base: World, reply: { readonly value?: unknown; readonly fails?: true }): World => {
    const next = { ...run, replies: [...run.replies, { call: call.number, ...reply, atMs: world.nowMs }] };
    return { ...base, runs: base.runs.map((other) => (other === run ? next : other)) };
  };
  const [done, value] = effectOf(world, call);
  const steps = [{ does: `${call.name} ${of}`, state: told(done, { value }) }];
  if (world.faultsLeft === 0) return steps;
  const faultsLeft = world.faultsLeft - 1;
  const dead = { does: `run ${run.number} dies at ${call.name}`, state: { ...comesAgain, faultsLeft } };
  if (call.name === 'send') {
    const refused = told({ ...world, faultsLeft }, { value: 'refused' });
    const sentAndDead = { ...done, runs: without.runs, queue: comesAgain.queue, faultsLeft };
    return [
      ...steps,
      dead,
      { does: `send ${of}: refused for now`, state: refused },
      { does: `run ${run.number} dies after send`, state: sentAndDead },
    ];
  }
  const isRead = call.name === 'of' || call.name === 'findBatchRecord';
  const failed = told({ ...world, faultsLeft }, { fails: true });
  steps.push(dead, { does: `${call.name} ${of} fails`, state: failed });
  if (isRead) return steps;
  return [
    ...steps,
    { does: `${call.name} ${of}, its reply lost`, state: told({ ...done, faultsLeft }, { fails: true }) },
    { does: `${call.name} ${of}, to land late`, state: { ...failed, late: [...world.late, call] } },
  ];
}

/** Throws where a promise is broken. */
function check(world: World): void {
  const { posted, told, job, claim, batches, queue, runs, late, others } = world;
  if (posted.length > 1) throw new Error('R13: the message was sent twice');
  if (posted.some(({ begun }) => !begun)) throw new Error('D25: sent before its job had begun');
  if (job.begun && job.withdrawn) throw new Error('D25: begun and taken back');
  if (job.withdrawn && posted.length > 0) throw new Error('D25: sent, and its client was told that nothing is');
  if (job.withdrawn && told.length > 0) throw new Error(`D25: of what was refused, ${told.join(' and ')} is told`);
  if (told.length > 0 && !job.begun) throw new Error('D40: told of a job that is in no report');
  if (queue.length > 0 || runs.length > 0 || late.length > 0 || others.length > 0) return;
  if (job.withdrawn) return;
  const batch = claim === null ? undefined : batches[claim.at.slice(0, claim.at.lastIndexOf('/'))];
  const { state } = outcomeOf({ jobId, index: 0 }, { claim: claim ?? undefined, batch }, world.nowMs + claimLifeMs);
  if (!job.begun) throw new Error('R14: the message has gone, and its job is in no report');
  if (state === 'pending') throw new Error('R14: the message has vanished');
  if (state === 'sent' && posted.length === 0) throw new Error('R14: counted as sent, and never was');
  if (['failed', 'expired'].includes(state) && posted.length > 0) throw new Error(`R14: counted as ${state}, and sent`);
}

const first: World = {
  nowMs: startMs,
  job: { begun: false, withdrawn: false },
  others: ['begin', 'withdraw'],
  claim: null,
  batches: {},
  queue: [JSON.stringify(straight)],
  late: [],
  runs: [],
  runsLeft: 3,
  faultsLeft: 2,
  waitsLeft: 1,
  posted: [],
  told: [],
};

test.each([
  {
    name: 'a message that comes too late',
    world: { ...first, nowMs: startMs + 10 * claimLifeMs, runsLeft: 2 },
    states: 100,
  },
  { name: 'one message, two faults', world: first, states: 1_000 },
  {
    name: 'two copies of the message, one fault',
    world: { ...first, queue: [first.queue[0] ?? '', first.queue[0] ?? ''], runsLeft: 3, faultsLeft: 1 },
    states: 1_000,
  },
])(
  'a straight message, however it meets its acceptance: $name (D25, R13, R14, R20)',
  { timeout: 240_000 },
  async ({ world, states }) => {
    const found = await explore<World>(world, { successorsOf, keyOf: (each) => JSON.stringify(each), check });
    // Guards against an exploration that sees nothing.
    expect(found).toBeGreaterThan(states);
  },
);

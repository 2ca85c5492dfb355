import type { DispatchPorts } from '../../../lib/messages/dispatch/breaker.ts';
import type { Claim } from '../../../lib/messages/dispatch/claim.ts';
import { dispatchBatch } from '../../../lib/messages/dispatch/dispatch.ts';
import { jobHolds } from '../../../lib/messages/job-holds.ts';
import type { JobParked, JobState } from '../../../lib/messages/job-state.ts';
import { type WatchPorts, watchJobs } from '../../../lib/messages/reports/watch.ts';
import { type ParkedWatch, parkedWatchOf } from '../../../lib/messages/rounds/watch-message.ts';
import { PlatformFailure } from '../../../lib/platform/failure.ts';
import { scenarioHead, startMs } from '../../support/scenario-job.ts';
import { idlePaces } from '../../support/idle-paces.ts';
import { type Call as AnyCall, type Outside, type Reply, standingAfter } from '../../support/replayed-run.ts';
import { makeTemplate } from '../../support/templates.ts';

/** One message of a job: what is stored and queued, as plain data; and the real worker and watcher, call by call. */

export type CallName =
  | 'of'
  | 'park'
  | 'stop'
  | 'resume'
  | 'endPause'
  | 'watch'
  | 'take'
  | 'release'
  | 'settle'
  | 'findBatchRecord'
  | 'sendLater'
  | 'send'
  | 'template';
export type Role = 'worker' | 'watcher';
export type Call = AnyCall<CallName>;

export interface Run {
  readonly role: Role;
  readonly number: number;
  readonly body: string;
  readonly replies: readonly Reply[];
}

/** What is stored, queued and sent, and how the platform has the template. */
export interface Store {
  readonly job: JobState & { readonly begun?: true; readonly withdrawn?: true };
  readonly template: 'APPROVED' | 'PAUSED' | 'DISABLED';
  readonly claim?: Claim;
  /** The claim was taken when the stop was there. */
  readonly claimedLate: boolean;
  readonly sent: number;
  readonly queue: readonly string[];
  readonly watches: readonly string[];
}

/** Where a run stands: the first call that waits for a reply, or whether its delivery is acknowledged. */
type Standing = { readonly call: Call } | { readonly acknowledged: boolean };

const jobId = scenarioHead.jobId;
const lookMs = startMs + 20_000;
const refused = 'refused: the template is paused';
const standings = new Map<string, Promise<Standing>>();

export function standingOf(run: Run): Promise<Standing> {
  const key = JSON.stringify(run);
  const known = standings.get(key) ?? replayed(run);
  standings.set(key, known);
  return known;
}

export const nowMsOf = ({ role, number }: Pick<Run, 'role' | 'number'>) =>
  role === 'worker' ? startMs + number : lookMs;

async function replayed(run: Run): Promise<Standing> {
  const delivery = { messageId: 'm', receiptHandle: 'r', body: run.body };
  const start = (outside: Outside<CallName>) =>
    run.role === 'worker'
      ? dispatchBatch([delivery], workerPorts(outside, run.number))
      : watchJobs([delivery], watcherPorts(outside));
  const { open, end } = await standingAfter<string[], CallName>(start, nowMsOf(run), run.replies);
  const [call] = open;
  if (call !== undefined) return { call };
  return { acknowledged: end?.length === 0 };
}

const quiet = { events: { send: async () => undefined }, log: () => undefined };

function jobStates({ call }: Outside<CallName>) {
  return {
    of: async (...args: unknown[]) => new Map([[jobId, (await call('of')(...args)) as JobState]]),
    ...{ park: call('park'), stop: call('stop'), resume: call('resume'), endPause: call('endPause') },
  };
}

function workerPorts(outside: Outside<CallName>, number: number): DispatchPorts {
  const { call, nowMs } = outside;
  const states = jobStates(outside);
  return {
    ...{ ...quiet, ...idlePaces, nowMs, remainingMs: () => 60_000, random: () => 0, pause: async () => undefined },
    jobStates: states,
    newHolds: () => jobHolds({ ...quiet, states, nowMs, watchParked: (_, since) => call('watch')(watchOf(since)) }),
    claims: {
      ...{ take: call('take'), release: call('release'), settle: call('settle') },
      ...{ findBatchRecord: call('findBatchRecord'), recordBatch: async () => undefined },
    },
    doubts: { mark: async () => undefined, hasReceipt: async () => false },
    queue: { sendLater: call('sendLater'), postpone: async () => undefined },
    send: async (...args: unknown[]) => {
      const sent: unknown = await call('send')(...args);
      if (sent === refused) throw new PlatformFailure('refused', { code: 132015 });
      return sent;
    },
    invocation: `run-${number}`,
  } as unknown as DispatchPorts;
}

function watcherPorts(outside: Outside<CallName>): WatchPorts {
  const { call, nowMs } = outside;
  return {
    ...{ ...quiet, nowMs },
    parked: {
      ...{ states: jobStates(outside), queue: { sendLater: call('watch') }, headOf: async () => scenarioHead },
      templates: { storedFacts: async () => new Map() },
      platformTemplates: { find: call('template') },
    },
  } as unknown as WatchPorts;
}

function watchOf(sinceMs: number): ParkedWatch {
  return parkedWatchOf({ jobId, clientId: scenarioHead.clientId, acceptedAtMs: scenarioHead.acceptedAtMs }, sinceMs);
}

export function withStop(job: Store['job'], stop: NonNullable<JobState['stop']>): Store['job'] {
  if (job.stop !== undefined) return job;
  const { parked: _ended, pausedFromMs: _over, ...rest } = job;
  return { ...rest, stop };
}

export function stateIn({ begun: _begun, withdrawn: _withdrawn, ...state }: Store['job']): JobState {
  return state;
}

export interface Effect<S extends Store> {
  readonly store: S;
  readonly value?: unknown;
}

/** The effect of a call, and what it answers: the conditions are those of items.ts. */
export function effectOf<S extends Store>(store: S, call: Pick<Call, 'name' | 'args'>): Effect<S> {
  const { job, claim } = store;
  const answer = (value?: unknown, changes: Partial<Store> = {}) => ({ store: { ...store, ...changes }, value });
  const [first, second, third] = call.args;
  const mine = claim?.state === 'claimed' && claim.at === second;
  switch (call.name) {
    case 'take':
      return claim === undefined
        ? answer(undefined, { claim: first as Claim, claimedLate: job.stop !== undefined })
        : answer(claim);
    case 'release': {
      if (!mine) return answer();
      const { claim: _gone, ...rest } = store;
      return { store: { ...(rest as S), claimedLate: false } };
    }
    case 'settle':
      return mine ? answer(true, { claim: { ...claim, ...(third as object) } }) : answer(false);
    case 'findBatchRecord':
      throw new Error('nobody expects findBatchRecord');
    case 'sendLater':
      return answer(undefined, { queue: [...store.queue, JSON.stringify(first)].sort() });
    case 'watch':
      return answer(undefined, { watches: [...store.watches, JSON.stringify(first)].sort() });
    case 'template':
      return answer(makeTemplate({ status: store.template }));
    case 'send':
      if (store.template !== 'APPROVED') return answer(refused);
      return answer({ platformMessageId: 'platform-0' }, { sent: store.sent + 1 });
    default: {
      const { value, job: changed = job } = jobEffectOf(job, call.name, second);
      return answer(value, { job: changed });
    }
  }
}

/** The effect of a call on the job's item alone. */
function jobEffectOf(
  job: Store['job'],
  name: 'of' | 'park' | 'stop' | 'resume' | 'endPause',
  given: unknown,
): { readonly value?: unknown; readonly job?: Store['job'] } {
  switch (name) {
    case 'of':
      return { value: stateIn(job) };
    case 'park': {
      const parked = given as JobParked;
      const may = job.begun && job.stop === undefined && job.parked === undefined;
      if (!may) return { value: job.parked?.sinceMs === parked.sinceMs };
      return { value: true, job: { ...job, parked, pausedFromMs: job.pausedFromMs ?? parked.sinceMs } };
    }
    case 'stop':
      return { value: job.stop === undefined, job: withStop(job, given as NonNullable<JobState['stop']>) };
    case 'resume': {
      const { parked, ...rest } = job;
      return parked?.sinceMs === given ? { value: true, job: rest } : { value: false };
    }
    case 'endPause': {
      const { pausedFromMs: _over, ...rest } = job;
      return { job: rest };
    }
  }
}

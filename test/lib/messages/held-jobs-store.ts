import type { QueueEntry } from '../../../lib/aws/sqs-batch.ts';
import { present } from '../../../lib/keys/present.ts';
import { asked, type HoldRule, type Holds, holdsOn, noHolds, questionOf } from '../../../lib/messages/holds/hold.ts';
import type { HoldableMessage } from '../../../lib/messages/holds/scope.ts';
import type { JobParked, JobState, JobStop } from '../../../lib/messages/job-state.ts';
import type { Progress, RoundRun } from '../../../lib/messages/rounds/job-rounds.ts';
import { leaseMs, type RoundRecord, roundStateOf } from '../../../lib/messages/rounds/lease.ts';
import type { Slice } from '../../../lib/messages/slices/slice.ts';
import { scenarioHead } from '../../support/scenario-job.ts';
import { makeTemplate } from '../../support/templates.ts';
import { refusals } from './held-jobs-model.ts';
import { applied, emptyStore } from './slices/slice-world.ts';

/** What is stored, queued, sent and told of one job of one slice, and how the platform has its template. */
export interface Store {
  readonly job: JobState & { readonly withdrawn?: true };
  readonly progress: Progress;
  readonly round: RoundRecord | null;
  readonly slice: Slice | null;
  /** How the job stood when the slice was claimed last. */
  readonly claimedIn: JobState;
  readonly holds: Holds;
  /** The holds that were open when the slice was claimed last, and the questions for which a message was called. */
  readonly heldAtClaim: readonly string[];
  readonly questions: readonly string[];
  readonly template: 'APPROVED' | keyof typeof refusals;
  /** Indexes of the messages that the platform took, in its order. */
  readonly taken: readonly number[];
  /** Ids and types of events. */
  readonly told: readonly string[];
  /** What a call did that no call may do. */
  readonly wrong: string | null;
  /** Messages of the three queues, in no order. */
  readonly jobs: readonly string[];
  readonly chunks: readonly string[];
  readonly watches: readonly string[];
}

export const firstStore: Store = {
  ...{ job: {}, progress: { queued: 0 }, round: null, slice: null, claimedIn: {}, template: 'APPROVED' },
  ...{ holds: noHolds, heldAtClaim: [], questions: [] },
  ...{ taken: [], told: [], wrong: null, jobs: [], chunks: [], watches: [] },
};

export function stateIn({ withdrawn: _, ...state }: Store['job']): JobState {
  return state;
}

export function withStop({ parked: _ended, pausedFromMs: _over, ...job }: Store['job'], stop: JobStop): Store['job'] {
  return { ...job, stop: job.stop ?? stop };
}

interface Effect {
  readonly changes: Partial<Store>;
  readonly value?: unknown;
}

/** What a call does and answers: the conditions are those of items.ts, job-rounds.ts and slice.ts. */
export function effectOf(store: Store, name: string, args: readonly unknown[]): Effect {
  const { job } = store;
  switch (name) {
    case 'sendBatch': {
      const bodies = (args[0] as readonly QueueEntry[]).map(({ body }) => body);
      return { changes: { chunks: [...store.chunks, ...bodies].sort() }, value: [] };
    }
    case 'sendAgain':
      return { changes: { jobs: [...store.jobs, JSON.stringify(args[0])].sort() } };
    case 'sendLater':
      return { changes: { chunks: [...store.chunks, JSON.stringify(args[0])].sort() } };
    case 'watch':
      return { changes: { watches: [...store.watches, JSON.stringify(args[0])].sort() } };
    case 'tell':
      return { changes: { told: [...new Set([...store.told, ...(args[0] as readonly string[])])].sort() } };
    case 'send':
      return sent(store, Number(String(args[0]).split('-').at(-1)));
    case 'template':
      return { changes: {}, value: makeTemplate({ status: store.template }) };
    case 'look':
      return { changes: {}, value: { state: stateIn(job), holds: store.holds } };
    case 'of':
      return { changes: {}, value: stateIn(job) };
    case 'holds':
      return { changes: {}, value: store.holds };
    case 'changeHolds': {
      const holds = (args[0] as HoldRule)(store.holds);
      // Of a hold that is over, no question is asked again.
      const open = namesOf(holds);
      const questions = store.questions.filter((question) => open.some((name) => question.startsWith(name)));
      const heldAtClaim = store.heldAtClaim.filter((name) => open.includes(name));
      return { changes: { holds, questions, heldAtClaim }, value: holds };
    }
    case 'askHolds': {
      const [message, nowMs] = args as [HoldableMessage, number];
      const holds = asked(message, nowMs)(store.holds);
      if (holds === store.holds) return { changes: {} };
      return { changes: { holds }, value: questionOf(holds, message) };
    }
    case 'claim':
    case 'end':
    case 'endUncalled':
    case 'endForTheDead':
      return ofSlice(store, name, args);
    case 'begin':
    case 'take':
    case 'announce':
    case 'handOver':
      return ofRounds(store, name, args);
    default: {
      const { value, job: changed = job } = ofJob(job, name, args[1]);
      return { changes: { job: changed }, value };
    }
  }
}

/** What the platform says of a message, and whether it may have been asked. */
function sent(store: Store, index: number): Effect {
  const { job, claimedIn, template, taken, holds, heldAtClaim } = store;
  const on = holdsOn(holds, scenarioHead);
  const questions = on.map(({ scope, hold: { sinceMs, asks } }) => `${scope} since ${sinceMs} asked ${asks}`);
  const isAsked = on.every(({ hold: { askedUntilMs } }) => askedUntilMs !== undefined);
  const wrongs = [
    ...(taken.includes(index) ? ['R13: a message was sent twice'] : []),
    ...(job.withdrawn ? ['D25: a job that was taken back was sent'] : []),
    ...(claimedIn.stop === undefined ? [] : ['D53: called although it was claimed after the stop']),
    ...(!isAsked && namesOf(holds).some((name) => heldAtClaim.includes(name))
      ? ['D46: called although it was claimed while it was held']
      : []),
    ...(isAsked && questions.some((question) => store.questions.includes(question))
      ? ['D46: two messages are called for one question']
      : []),
  ];
  const wrong = wrongs[0] ?? store.wrong;
  const known = { wrong, questions: isAsked ? [...store.questions, ...questions].sort() : store.questions };
  if (template !== 'APPROVED') return { changes: known, value: refusals[template] };
  return { changes: { ...known, taken: [...taken, index].sort() }, value: null };
}

function ofSlice(store: Store, name: string, args: readonly unknown[]): Effect {
  const before = { ...emptyStore, slices: store.slice === null ? {} : { 0: store.slice } };
  const { store: after, value } = applied(before, { name, args });
  const slice = after.slices['0'] ?? null;
  const isClaim = name === 'claim' && slice !== store.slice;
  const atClaim = { claimedIn: stateIn(store.job), heldAtClaim: namesOf(store.holds) };
  return { changes: { slice, ...(isClaim ? atClaim : {}) }, value };
}

/** The open holds, each by its scope and when it began. */
function namesOf(holds: Holds): string[] {
  return holdsOn(holds, scenarioHead).map(({ scope, hold: { sinceMs } }) => `${scope} since ${sinceMs}`);
}

function ofRounds({ job, progress, round }: Store, name: string, args: readonly unknown[]): Effect {
  if (name === 'begin') {
    if (job.withdrawn) return { changes: {}, value: 'withdrawn' };
    return { changes: { job: { ...job, begun: true } }, value: 'begun' };
  }
  const [run] = args as [RoundRun];
  const isHeld = round?.round === run.round && round.lease?.owner === run.owner;
  const held = (nowMs: number) => ({
    round: run.round,
    lease: { owner: run.owner, untilMs: nowMs + leaseMs },
  });
  if (name === 'take') {
    const nowMs = Number(args[1]);
    const state = roundStateOf(round ?? undefined, run, nowMs);
    if (state.kind !== 'free') return { changes: {}, value: state };
    return { changes: { round: held(nowMs) }, value: { kind: 'taken', progress, state: stateIn(job) } };
  }
  const next = args[1] as Progress;
  if (name === 'announce') {
    if (!isHeld || next.queued < progress.queued) return { changes: {} };
    return { changes: { progress: next, round: held(Number(args[2])) }, value: stateIn(job) };
  }
  if (!isHeld) return { changes: {}, value: roundStateOf(round ?? undefined, run, 0).kind === 'over' };
  return { changes: { progress: next, round: { round: Number(args[2]) } }, value: true };
}

/** Of what watchers and workers write into the job's item. */
function ofJob(
  job: Store['job'],
  name: string,
  given: unknown,
): { readonly value?: unknown; readonly job?: Store['job'] } {
  switch (name) {
    case 'park': {
      const parked = given as JobParked;
      const may = job.begun && job.stop === undefined && job.parked === undefined;
      if (!may) return { value: job.parked?.sinceMs === parked.sinceMs };
      return { value: true, job: { ...job, parked, pausedFromMs: job.pausedFromMs ?? parked.sinceMs } };
    }
    case 'stop':
      return { value: job.stop === undefined, job: withStop(job, given as JobStop) };
    case 'resume': {
      const { sinceMs, goesOn } = given as JobParked;
      const { parked, pausedFromMs, ...rest } = job;
      if (parked?.sinceMs !== sinceMs) return { value: false };
      return { value: true, job: { ...rest, ...(goesOn ? {} : present({ pausedFromMs })) } };
    }
    case 'endPause': {
      const { pausedFromMs: _over, ...rest } = job;
      return job.parked === undefined ? { value: true, job: rest } : { value: false };
    }
    case 'goOn': {
      const { parked } = job;
      return parked?.sinceMs === given && parked !== undefined
        ? { job: { ...job, parked: { ...parked, goesOn: true } } }
        : {};
    }
    default:
      throw new Error(`${name} is no call of this world`);
  }
}

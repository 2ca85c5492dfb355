import type { Waba } from '../access/directory.ts';
import type { RefreshChannels } from '../channels/refresh.ts';
import { log } from '../observe/log.ts';
import { count } from '../observe/metrics.ts';
import { nameOf } from '../observe/name-of.ts';
import { PlatformFailure } from '../platform/failure.ts';
import {
  type ComparisonPorts,
  compareTemplate,
  compareWaba,
  type Listing,
  type TemplateComparison,
} from '../templates/sync/compare-waba.ts';
import { noCounts } from '../templates/sync/sync-message.ts';
import { type CallAllowance, CallsSpent } from './call-allowance.ts';
import { nothing, type Task, together } from './task.ts';
import type { Ending, Turn } from './turns.ts';

/** The platform, as far as one turn may ask it. */
export interface Upstream {
  readonly platform: TemplateComparison['platform'];
  readonly refreshChannels: RefreshChannels;
}

export interface ReadingPorts extends Omit<ComparisonPorts, 'platform'> {
  readonly templates: TemplateComparison['templates'];
  readonly upstream: (allowance: CallAllowance) => Upstream;
  readonly remainingMs: () => number;
}

/** With less time than this left no call is begun: it may take 10 s, and then there is the writing. */
const reservedMs = 25_000;
/** A page that is too large is asked for up to three times more. */
const callsForPage = 4;

interface Work extends Upstream, TemplateComparison {
  readonly waba: Waba;
  readonly allowance: CallAllowance;
  readonly remainingMs: () => number;
  /** The first failure. */
  failure?: unknown;
}

/**
 * Reads what a turn is to read and takes it over as a synchronization does, for every client of the WABA. Never throws:
 * what could not be read is left for a later turn.
 */
export async function readAgain(
  ports: ReadingPorts,
  waba: Waba,
  { turn, task, listing }: Turn,
  allowance: CallAllowance,
): Promise<Ending> {
  const { remainingMs } = ports;
  const work: Work = {
    ...{ ...ports, ...ports.upstream(allowance), waba, allowance },
    // Under no lock: what is written is guarded by the time of its reading.
    keepLease: async () => undefined,
    timeIsShort: () => allowance.left < callsForPage || remainingMs() < reservedMs,
    counts: { ...noCounts },
  };
  let left: Task = nothing;
  if (task.numbers && listing === undefined && !(await tried(work, () => refreshNumbers(work)))) {
    left = together(left, { ...nothing, numbers: true });
  }
  for (const id of task.templateIds) {
    const read = !hasFailedForAll(work) && (await tried(work, () => compareTemplate(work, waba, id)));
    if (!read) left = together(left, { ...nothing, templateIds: [id] });
  }
  const goesOnAt = task.everything ? await readList(work, listing as Listing | undefined) : undefined;
  if (goesOnAt !== undefined) left = together(left, { ...nothing, everything: true });
  const ending = { turn, left, callsMade: allowance.made, failed: work.failure !== undefined };
  const retryAfterSeconds = work.failure instanceof PlatformFailure ? work.failure.facts.retryAfterSeconds : undefined;
  return {
    ...ending,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterMs: retryAfterSeconds * 1_000 }),
    ...(typeof goesOnAt === 'object' ? { listing: { ...goesOnAt } } : {}),
  };
}

/**
 * Whether it is done with: also when the platform refuses it and would again. Running out of calls or time is no failure, and
 * is not done.
 */
async function tried(work: Work, step: () => Promise<void>): Promise<boolean> {
  if (work.remainingMs() < reservedMs) return false;
  try {
    await step();
    return true;
  } catch (error) {
    if (error instanceof CallsSpent) return false;
    const stands = isStanding(error);
    if (!stands) work.failure ??= error;
    // A refused credential rings by itself.
    if (!(error instanceof PlatformFailure && error.credentialRefused)) count('HintReadingsFailed');
    log('hint.not_read', {
      wabaId: work.waba.wabaId,
      error: nameOf(error),
      ...(error instanceof PlatformFailure ? { outcome: error.kind, platformCode: error.facts.code } : {}),
    });
    return stands;
  }
}

function isStanding(error: unknown): boolean {
  return error instanceof PlatformFailure && error.kind === 'refused' && !error.throttled && error.advice === 'no';
}

/** A platform that does not answer, throttles or refuses our credential does so for the next template too. */
function hasFailedForAll({ failure }: Work): boolean {
  return (
    failure instanceof PlatformFailure && (failure.kind !== 'refused' || failure.throttled || failure.credentialRefused)
  );
}

/** Of a WABA with more numbers than the calls are for, the last ones wait for a synchronization. */
async function refreshNumbers({ waba, refreshChannels, allowance, remainingMs }: Work): Promise<void> {
  await refreshChannels(waba, async () => {
    if (remainingMs() < reservedMs) throw new CallsSpent();
    return allowance.left > 0;
  });
}

/** The whole list. Undefined when it was read to its end, else where it stands; true when it must be begun anew. */
async function readList(work: Work, from: Listing | undefined): Promise<Listing | true | undefined> {
  let goesOnAt: Listing | undefined;
  const read = await tried(work, async () => {
    goesOnAt = await compareWaba(work, work.waba, from);
  });
  return read ? goesOnAt : (from ?? true);
}

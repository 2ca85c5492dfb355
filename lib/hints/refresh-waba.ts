import type { Waba } from '../access/directory.ts';
import type { RefreshChannels } from '../channels/refresh.ts';
import { errorName } from '../observe/error-name.ts';
import { log } from '../observe/log.ts';
import { count } from '../observe/metrics.ts';
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
import type { Ending, Turn } from './hint-state.ts';
import { mergedTasks, noTask, type RefreshTask } from './refresh-task.ts';

export interface Upstream {
  readonly platform: TemplateComparison['platform'];
  readonly refreshChannels: RefreshChannels;
}

export interface ReadingPorts extends Omit<ComparisonPorts, 'platform'> {
  readonly templates: TemplateComparison['templates'];
  readonly upstream: (allowance: CallAllowance) => Upstream;
  readonly remainingMs: () => number;
}

/** No call starts with less time left: it may take 10 s, and its result must be written. */
const reservedMs = 25_000;
/** A page that is too large takes up to three more calls. */
const callsForPage = 4;

interface Work extends Upstream, TemplateComparison {
  readonly waba: Waba;
  readonly allowance: CallAllowance;
  readonly remainingMs: () => number;
  failure?: unknown;
}

/** Stores a turn's readings like a synchronization. Never throws: unread parts stay for a later turn. */
export async function refreshWaba(
  ports: ReadingPorts,
  waba: Waba,
  { turn, task, listing }: Turn,
  allowance: CallAllowance,
): Promise<Ending> {
  const { remainingMs } = ports;
  const work: Work = {
    ...{ ...ports, ...ports.upstream(allowance), waba, allowance },
    // There is no lock: the time of the reading guards each write.
    keepLease: async () => undefined,
    timeIsShort: () => allowance.left < callsForPage || remainingMs() < reservedMs,
    counts: { ...noCounts },
  };
  let left: RefreshTask = noTask;
  if (task.numbers && listing === undefined && !(await tried(work, () => refreshNumbers(work)))) {
    left = mergedTasks(left, { ...noTask, numbers: true });
  }
  for (const id of task.templateIds) {
    const read = !hasFailedForAll(work) && (await tried(work, () => compareTemplate(work, waba, id)));
    if (!read) left = mergedTasks(left, { ...noTask, templateIds: [id] });
  }
  const goesOnAt = task.everything ? await readList(work, listing as Listing | undefined) : undefined;
  if (goesOnAt !== undefined) left = mergedTasks(left, { ...noTask, everything: true });
  const ending = { turn, left, callsMade: allowance.made, failed: work.failure !== undefined };
  const retryAfterSeconds = work.failure instanceof PlatformFailure ? work.failure.facts.retryAfterSeconds : undefined;
  return {
    ...ending,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterMs: retryAfterSeconds * 1_000 }),
    ...(typeof goesOnAt === 'object' ? { listing: { ...goesOnAt } } : {}),
  };
}

/**
 * Tells whether the step is done, which includes a permanent refusal. Without calls or time it is neither done nor
 * failed.
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
    // A refused credential has its own alarm.
    if (!(error instanceof PlatformFailure && error.credentialRefused)) count('HintReadingsFailed');
    log('hint.not_read', {
      wabaId: work.waba.wabaId,
      error: errorName(error),
      ...(error instanceof PlatformFailure ? { outcome: error.kind, platformCode: error.facts.code } : {}),
    });
    return stands;
  }
}

function isStanding(error: unknown): boolean {
  return error instanceof PlatformFailure && error.kind === 'refused' && !error.throttled && error.advice === 'no';
}

/** A platform that is down, throttles or refuses the credential fails for the next template too. */
function hasFailedForAll({ failure }: Work): boolean {
  return (
    failure instanceof PlatformFailure && (failure.kind !== 'refused' || failure.throttled || failure.credentialRefused)
  );
}

/** If a WABA has too many numbers for the calls, the last ones wait for a synchronization. */
async function refreshNumbers({ waba, refreshChannels, allowance, remainingMs }: Work): Promise<void> {
  await refreshChannels(waba, async () => {
    if (remainingMs() < reservedMs) throw new CallsSpent();
    return allowance.left > 0;
  });
}

/** Reads the whole list. Returns undefined at its end, else its position, or true to restart. */
async function readList(work: Work, from: Listing | undefined): Promise<Listing | true | undefined> {
  let goesOnAt: Listing | undefined;
  const read = await tried(work, async () => {
    goesOnAt = await compareWaba(work, work.waba, from);
  });
  return read ? goesOnAt : (from ?? true);
}

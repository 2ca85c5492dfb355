import type { Waba } from '../access/directory.ts';
import type { RefreshChannels } from '../channels/refresh.ts';
import { log } from '../observe/log.ts';
import { count } from '../observe/metrics.ts';
import { nameOf } from '../observe/name-of.ts';
import { PlatformFailure } from '../platform/failure.ts';
import type { PlatformTemplates } from '../templates/model/platform-templates.ts';
import { reportSkipped } from '../templates/model/skipped-template.ts';
import { storeReading } from '../templates/model/take-reading.ts';
import type { PlatformTemplate } from '../templates/model/template.ts';
import { templateKey } from '../templates/model/template-key.ts';
import type { TemplateState, TemplateStore } from '../templates/model/template-store.ts';
import { type ComparisonPorts, compareWaba, type Listing } from '../templates/sync/compare-waba.ts';
import { noCounts } from '../templates/sync/sync-message.ts';
import { type CallAllowance, CallsSpent } from './call-allowance.ts';
import { nothing, type Task, together } from './task.ts';
import type { Ending, Turn } from './turns.ts';

/** The platform, as far as one turn may ask it. */
export interface Upstream {
  readonly platform: Pick<PlatformTemplates, 'page' | 'read' | 'lookUp'>;
  readonly refreshChannels: RefreshChannels;
}

export interface ReadingPorts extends Omit<ComparisonPorts, 'platform'> {
  readonly templates: Pick<TemplateStore, 'rowsOf' | 'storedFacts' | 'writeUpstream' | 'stateOf' | 'refresh'>;
  readonly upstream: (allowance: CallAllowance) => Upstream;
  readonly remainingMs: () => number;
}

/** With less time than this left no call is begun: it may take 10 s, and then there is the writing. */
const reservedMs = 25_000;
/** A page that is too large is asked for up to three times more. */
const callsForPage = 4;

interface Work extends ReadingPorts, Upstream {
  readonly waba: Waba;
  readonly allowance: CallAllowance;
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
  const work: Work = { ...ports, ...ports.upstream(allowance), waba, allowance };
  let left: Task = nothing;
  if (task.numbers && listing === undefined && !(await tried(work, () => refreshNumbers(work)))) {
    left = together(left, { ...nothing, numbers: true });
  }
  for (const id of task.templateIds) {
    const read = !hasFailedForAll(work) && (await tried(work, () => readTemplate(work, id)));
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
    count('HintReadingsFailed');
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

/**
 * One template by its id. The platform's answer does not say whose it is: what the WABA is not known to have counts only when
 * its own list has it.
 */
async function readTemplate(work: Work, id: string): Promise<void> {
  const { platform, waba, nowMs } = work;
  const readAtMs = nowMs();
  const reading = await platform.read(waba, id);
  if (reading.kind === 'unreadable') return reportSkipped([{ platformId: id, reason: 'unreadable' }], waba);
  if (reading.kind === 'missing') return await readKnown(work, id);
  const { template } = reading;
  const state = await stateOf(work, template);
  const known = state.fact?.deleted === false && state.fact.template.id === template.id;
  if (known) await take(work, { template, readAtMs }, state);
  else await readFromList(work, template);
}

/** The id leads nowhere: what is stored under it is looked for in the WABA's list, which has it no more or made anew. */
async function readKnown(work: Work, id: string): Promise<void> {
  for (const clientId of work.waba.clientIds) {
    const rows = await work.templates.rowsOf(clientId);
    const row = rows.find((each) => each.platformId === id && each.wabaId === work.waba.wabaId && !each.deleted);
    if (row !== undefined) return await readFromList(work, row);
  }
}

type Named = Pick<PlatformTemplate, 'name' | 'language'>;

async function readFromList(work: Work, { name, language }: Named): Promise<void> {
  const readAtMs = work.nowMs();
  const { found: template } = await work.platform.lookUp(work.waba, { name, language });
  await take(work, { template, readAtMs }, await stateOf(work, { name, language }));
}

async function take(
  work: Work,
  reading: { readonly template: PlatformTemplate | undefined; readonly readAtMs: number },
  { fact: before, rows }: TemplateState,
): Promise<void> {
  await storeReading(work, { waba: work.waba, before, rows: async () => rows, ...reading });
}

function stateOf({ templates, waba }: Work, { name, language }: Named): Promise<TemplateState> {
  return templates.stateOf(templateKey({ wabaId: waba.wabaId, name, language }), waba.clientIds);
}

/** The whole list. Undefined when it was read to its end, else where it stands; true when it must be begun anew. */
async function readList(work: Work, from: Listing | undefined): Promise<Listing | true | undefined> {
  const { allowance, remainingMs } = work;
  const timeIsShort = () => allowance.left < callsForPage || remainingMs() < reservedMs;
  let goesOnAt: Listing | undefined;
  const counts = { ...noCounts };
  const keepLease = async () => undefined;
  const read = await tried(work, async () => {
    goesOnAt = await compareWaba({ ...work, keepLease, timeIsShort, counts }, work.waba, from);
  });
  return read ? goesOnAt : (from ?? true);
}

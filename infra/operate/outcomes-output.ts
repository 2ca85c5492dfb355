import { type JobParked, parkEndMs } from '../../lib/messages/job-state.ts';
import { reportedStates } from '../../lib/messages/receipts/reported-state.ts';
import type { DescribedJob } from '../../lib/messages/report/described-job.ts';
import { countStates, type ReportedOutcome } from '../../lib/messages/report/outcome.ts';
import type { PlacedOutcome } from '../../lib/messages/report/outcomes-store.ts';
import { isUserId } from '../../lib/platform/user-id.ts';

export interface JobOutcomes {
  readonly job: DescribedJob;
  readonly outcomes: readonly PlacedOutcome[];
  readonly shown: readonly PlacedOutcome[];
}

/**
 * Writes lines for a terminal; `only` means that one message was asked for. Each unknown outcome gets a command that
 * settles it.
 */
export function asTables(
  found: readonly JobOutcomes[],
  { only, stage }: { readonly only: boolean; readonly stage: string | undefined },
): string[] {
  const lines = jobLines(found).filter((line) => !only || line.startsWith(indent));
  return [...lines, ...settlingLines(found, stage), ...(only ? [] : [totalLine(found)])];
}

const indent = '  ';

/** Writes a line for each dispatch, and an indented line for each outcome to show. */
export function jobLines(found: readonly JobOutcomes[]): string[] {
  const widths = widthsOf(found.flatMap(({ shown }) => shown.map(cellsOf)));
  return found.flatMap(({ job, shown }) => {
    const { jobId, did, acceptedAtMs, templateName } = job.head;
    return [
      `job ${jobId}, did ${did}, accepted ${timeOf(acceptedAtMs)}, template ${templateName}${stateOf(job)}`,
      ...shown.map((outcome) => `${indent}${aligned(cellsOf(outcome), widths)}`),
    ];
  });
}

/** Returns the command that settles each unknown outcome; none when there are none. */
export function settlingLines(found: readonly JobOutcomes[], stage: string | undefined): string[] {
  const unknown = found.flatMap(({ shown }) => shown).filter(isUnknown);
  if (unknown.length === 0) return [];
  return [
    'whether these were sent is not known; once you know it, one line settles each:',
    ...unknown.map((outcome) => `${indent}${settlingLine(outcome, stage)}   # or: failed`),
  ];
}

/** Counts all, as their reports do. */
export function totalLine(found: readonly JobOutcomes[]): string {
  const states = found.flatMap(({ outcomes }) => outcomes.map(({ state }) => state));
  const counts = countStates(states);
  return `total ${states.length}: ${reportedStates.map((state) => `${counts[state]} ${state}`).join(', ')}`;
}

/** Says why the unclaimed messages of the dispatch are not sent. */
function stateOf(job: DescribedJob): string {
  const { stop, parked } = job;
  if (stop !== undefined) return `, stopped ${timeOf(stop.atMs)}: ${stop.code}`;
  if (parked === undefined) return '';
  const untilMs = waitsUntilMs(job, parked);
  return `, parked ${timeOf(parked.sinceMs)}: ${parked.code}, until ${timeOf(untilMs)} at most`;
}

/** A send with its own time counts only the hours in which it may run (D56). */
function waitsUntilMs({ head: { expiresAtMs }, ...job }: DescribedJob, parked: JobParked): number {
  return parkEndMs({ ...job, parked }, { expiresAtMs, lots: job.lots });
}

function isUnknown({ state, duplicateOf }: PlacedOutcome): boolean {
  return state === 'unknown' && duplicateOf === undefined;
}

function settlingLine({ dispatchId }: ReportedOutcome, stage: string | undefined): string {
  return `${commandOf(stage)} --resolve ${dispatchId} sent`;
}

export function commandOf(stage: string | undefined): string {
  return stage === undefined ? 'npm run outcomes --' : `npm run outcomes -- --stage ${stage}`;
}

/** Programs read this, in the words of the report. */
export function asJson({ job, outcomes, shown }: JobOutcomes) {
  const { stop, parked } = job;
  const { jobId, clientId, did, templateName, templateLanguage, acceptedAtMs } = job.head;
  const counts = countStates(outcomes.map(({ state }) => state));
  return {
    dispatch_id: jobId,
    client_id: clientId,
    did,
    template: { name: templateName, language: templateLanguage },
    accepted_at: timeOf(acceptedAtMs),
    total: outcomes.length,
    counts,
    complete: counts.pending === 0,
    ...(stop === undefined ? {} : { stopped: { at: timeOf(stop.atMs), state: stop.state, code: stop.code } }),
    ...(parked === undefined || stop !== undefined
      ? {}
      : {
          parked: {
            at: timeOf(parked.sinceMs),
            code: parked.code,
            until: timeOf(waitsUntilMs(job, parked)),
          },
        }),
    data: shown.map(({ dispatchId, position, duplicateOf, to, userId, waId, state, code, ...more }) => ({
      message_id: dispatchId,
      index: position,
      to,
      user_id: userId,
      wa_id: isUserId(to) ? waId : undefined,
      state,
      code,
      reason: more.reason,
      platform_message_id: more.platformMessageId,
      updated_at: more.atMs === undefined ? undefined : timeOf(more.atMs),
      duplicate_of: duplicateOf,
    })),
  };
}

export function rowOf(outcome: ReportedOutcome): string {
  return cellsOf(outcome).filter(Boolean).join('  ');
}

type Cells = readonly string[];

function cellsOf(outcome: ReportedOutcome & { readonly duplicateOf?: number }): Cells {
  const { dispatchId, to = '', state, code = '', reason = '', platformMessageId = '', atMs, duplicateOf } = outcome;
  const time = atMs === undefined ? '' : timeOf(atMs);
  const repeated = duplicateOf === undefined ? '' : `repeats recipient ${duplicateOf}`;
  return [dispatchId, to, state, time, code, platformMessageId, reason, repeated];
}

function widthsOf(rows: readonly Cells[]): number[] {
  const columns = rows[0]?.length ?? 0;
  return Array.from({ length: columns }, (_, at) =>
    rows.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), 0),
  );
}

/** Columns without values are dropped. */
function aligned(cells: Cells, widths: readonly number[]): string {
  return cells
    .map((cell, at) => cell.padEnd(widths[at] ?? 0))
    .filter((_, at) => (widths[at] ?? 0) > 0)
    .join('  ')
    .trimEnd();
}

export function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

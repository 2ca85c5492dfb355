import type { DispatchParked } from '../../../lib/messages/dispatch/item.ts';
import { parkEndMs } from '../../../lib/messages/dispatch/item-state.ts';
import { reportedStates } from '../../../lib/messages/receipts/reported-state.ts';
import type { DescribedDispatch } from '../../../lib/messages/report/described-dispatch.ts';
import { countStates, type ReportedOutcome } from '../../../lib/messages/report/outcome.ts';
import type { PlacedOutcome } from '../../../lib/messages/report/outcomes-store.ts';
import { isUserId } from '../../../lib/platform/user-id.ts';
import { tableOf } from '../table.ts';

/** Others are listed only when all are asked for. */
export const isAsWished = (state: string) => ['sent', 'delivered', 'read', 'pending'].includes(state);

export interface DispatchOutcomes {
  readonly dispatch: DescribedDispatch;
  readonly outcomes: readonly PlacedOutcome[];
  readonly shown: readonly PlacedOutcome[];
}

/** Returns a table of dispatches, then one of the messages to show; `only` means that one message was asked for. */
export function asTables(found: readonly DispatchOutcomes[], { only }: { readonly only: boolean }): string[] {
  const messages = messageTable(found.flatMap(({ shown }) => shown));
  if (only) return messages;
  return [...dispatchTable(found), ...(messages.length === 0 ? [] : ['', ...messages])];
}

/** Returns a table with a row for each dispatch; `last` says what its last column tells. */
export function dispatchTable(
  found: readonly DispatchOutcomes[],
  last: { readonly heading: string; readonly of: (found: DispatchOutcomes) => string } = {
    heading: 'STATE',
    of: stateOf,
  },
): string[] {
  const headings = ['DISPATCH', 'CLIENT', 'DID', 'ACCEPTED', 'TEMPLATE', 'TOTAL', ...reportedStates, last.heading];
  const rows = found.map((each) => {
    const { dispatchId, clientId, did, acceptedAtMs, templateName } = each.dispatch.head;
    const counts = countStates(each.outcomes.map(({ state }) => state));
    const states = reportedStates.map((state) => counts[state]);
    return [
      dispatchId,
      String(clientId),
      did,
      timeOf(acceptedAtMs),
      templateName,
      each.outcomes.length,
      ...states,
      last.of(each),
    ];
  });
  return tableOf(
    headings.map((heading) => heading.toUpperCase()),
    rows,
  );
}

function messageTable(shown: readonly PlacedOutcome[]): string[] {
  if (shown.length === 0) return [];
  return tableOf(['MESSAGE', 'TO', 'STATE', 'AT', 'CODE', 'PLATFORM_ID', 'REASON'], shown.map(cellsOf));
}

/** Returns the command that settles each unknown outcome; none when there are none. */
export function settlingLines(found: readonly DispatchOutcomes[], stage: string | undefined): string[] {
  const unknown = found.flatMap(({ shown }) => shown).filter(isUnknown);
  if (unknown.length === 0) return [];
  return [
    'whether these were sent is not known; once you know it, one line settles each:',
    ...unknown.map((outcome) => `  ${settlingLine(outcome, stage)}   # or: failed`),
  ];
}

/** Counts all, as their reports do. */
export function totalLine(found: readonly DispatchOutcomes[]): string {
  const states = found.flatMap(({ outcomes }) => outcomes.map(({ state }) => state));
  const counts = countStates(states);
  return `total ${states.length}: ${reportedStates.map((state) => `${counts[state]} ${state}`).join(', ')}`;
}

/** Says why the unclaimed messages of the dispatch are not sent. */
function stateOf({ dispatch }: DispatchOutcomes): string {
  const { stop, parked } = dispatch;
  if (stop !== undefined) return `stopped ${timeOf(stop.atMs)}: ${stop.code}`;
  if (parked === undefined) return '';
  // A send with its own time counts only the hours in which it may run (D56).
  const untilMs = waitsUntilMs(dispatch, parked);
  return `parked ${timeOf(parked.sinceMs)}: ${parked.code}, until ${timeOf(untilMs)} at most`;
}

function waitsUntilMs({ head: { expiresAtMs }, lots }: DescribedDispatch, parked: DispatchParked): number {
  return parkEndMs(parked, { expiresAtMs, lots });
}

function isUnknown({ state, duplicateOf }: PlacedOutcome): boolean {
  return state === 'unknown' && duplicateOf === undefined;
}

function settlingLine({ messageId }: ReportedOutcome, stage: string | undefined): string {
  return `${commandOf('outcomes', stage)} --resolve ${messageId} sent --yes`;
}

export function commandOf(command: string, stage: string | undefined): string {
  return `infra/ops ${command}${stage === undefined ? '' : ` --stage ${stage}`}`;
}

/** Programs read this, in the words of the report. */
export function asJson({ dispatch, outcomes, shown }: DispatchOutcomes) {
  const { stop, parked } = dispatch;
  const { dispatchId, clientId, did, templateName, templateLanguage, acceptedAtMs } = dispatch.head;
  const counts = countStates(outcomes.map(({ state }) => state));
  return {
    dispatch_id: dispatchId,
    client_id: clientId,
    did,
    template: { name: templateName, language: templateLanguage },
    accepted_at: timeOf(acceptedAtMs),
    total: outcomes.length,
    counts,
    complete: counts.pending === 0,
    stopped: stop && { at: timeOf(stop.atMs), state: stop.state, code: stop.code },
    parked:
      parked === undefined || stop !== undefined
        ? undefined
        : { at: timeOf(parked.sinceMs), code: parked.code, until: timeOf(waitsUntilMs(dispatch, parked)) },
    data: shown.map(({ messageId, position, duplicateOf, to, userId, waId, state, code, ...more }) => ({
      message_id: messageId,
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

function cellsOf(outcome: ReportedOutcome & { readonly duplicateOf?: number }): readonly string[] {
  const { messageId, to = '', state, code = '', reason = '', platformMessageId = '', atMs, duplicateOf } = outcome;
  const time = atMs === undefined ? '' : timeOf(atMs);
  const told = duplicateOf === undefined ? reason : `repeats recipient ${duplicateOf}`;
  return [messageId, to, state, time, code, platformMessageId, told];
}

export function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

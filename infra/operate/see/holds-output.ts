import { noAnswerCode } from '../../../lib/messages/holds/hold.ts';
import { scopesOf } from '../../../lib/messages/holds/scope.ts';
import type { DescribedDispatch } from '../../../lib/messages/report/described-dispatch.ts';
import { tableOf } from '../table.ts';
import { explainedOfPlatform } from './explanations.ts';
import { kindAndName, type OpenHold } from './open-holds.ts';
import {
  asJson,
  commandOf,
  type DispatchOutcomes,
  dispatchTable,
  settlingLines,
  timeOf,
  totalLine,
} from './outcomes-output.ts';

export interface ListedNumber {
  readonly did: string;
  readonly phoneNumberId: string;
}

export interface Held {
  readonly holds: readonly { readonly hold: OpenHold; readonly waiting: readonly DispatchOutcomes[] }[];
  /** These dispatches still show as parked without a hold; their next check lets them continue. */
  readonly goingOn: readonly DispatchOutcomes[];
}

/** Says what a hold concerns: `number 3000 of waba 2000`. An operator ends it with the same words. */
export function holdInWords(hold: OpenHold): string {
  if (hold.scope === 'platform') return 'platform';
  const { kind, name } = kindAndName(hold.scope);
  const waba = `waba ${hold.wabaId}`;
  if (kind === 'waba') return waba;
  if (kind === 'marketing') return `marketing of number ${name} of ${waba}`;
  if (kind === 'edge') return `marketing on the messages edge of number ${name} of ${waba}`;
  return name === '' ? `${kind} of ${waba}` : `${kind} ${name} of ${waba}`;
}

/** Assigns each dispatch to the widest hold on its messages. */
export function heldBy(holds: readonly OpenHold[], parked: readonly DispatchOutcomes[]): Held {
  const holdOfDispatch = new Map(parked.map((found) => [found, holds.find((hold) => concerns(hold, found.dispatch))]));
  return {
    holds: holds.map((hold) => ({ hold, waiting: parked.filter((found) => holdOfDispatch.get(found) === hold) })),
    goingOn: parked.filter((found) => holdOfDispatch.get(found) === undefined),
  };
}

function concerns(hold: OpenHold, { head }: DescribedDispatch): boolean {
  if (hold.scope === 'platform') return true;
  return hold.wabaId === head.wabaId && scopesOf(head).includes(hold.scope);
}

/** Returns a table of the holds, then one of the dispatches that wait; headings alone where nothing is held. */
export function heldAsTables(held: Held, numbers: readonly ListedNumber[]): string[] {
  const { holds, goingOn } = held;
  const waiting = holds.flatMap(({ hold, waiting: dispatches }) => dispatches.map((found) => ({ found, hold })));
  const reasons = new Map(waiting.map(({ found, hold }) => [found, holdInWords(hold)]));
  const dispatches = [...waiting.map(({ found }) => found), ...goingOn];
  const waitsFor = (found: DispatchOutcomes) => reasons.get(found) ?? 'nothing any more: it goes on within minutes';
  return [
    ...(holds.length === 0 && dispatches.length > 0 ? [] : holdTable(held, numbers)),
    ...(holds.length > 0 && dispatches.length > 0 ? [''] : []),
    ...(dispatches.length === 0 ? [] : dispatchTable(dispatches, { heading: 'WAITS_FOR', of: waitsFor })),
  ];
}

export function holdTable({ holds }: Held, numbers: readonly ListedNumber[]): string[] {
  const headings = ['CODE', 'SINCE', 'UNTIL', 'ASKED', 'NEXT_QUESTION', 'DISPATCHES', 'DIDS', 'HOLD'];
  const rows = holds.map(({ hold, waiting }) => {
    const { code, sinceMs, untilMs, asks } = hold;
    const until = untilMs === undefined ? undefined : timeOf(untilMs);
    const dids = didsOf(hold, numbers).join(',');
    return [code, timeOf(sinceMs), until, asks, timeOf(nextProbeMs(hold)), waiting.length, dids, holdInWords(hold)];
  });
  return tableOf(headings, rows);
}

/** Says of each hold what it is, what to do, and the line that ends it. */
export function heldNotes({ holds, goingOn }: Held, stage: string | undefined): string[] {
  const dispatches = [...holds.flatMap(({ waiting }) => waiting), ...goingOn];
  if (holds.length === 0 && dispatches.length === 0) return ['Nothing is held.'];
  const end = (hold: OpenHold) => `  ${commandOf('holds', stage)} --end '${holdInWords(hold)}'`;
  return [
    ...new Set(holds.flatMap(({ hold }) => noteLines(hold))),
    ...(holds.length === 0
      ? []
      : ['each is asked again by itself; once you have removed its cause, one line ends it now:']),
    ...holds.map(({ hold }) => end(hold)),
    ...settlingLines(dispatches, stage),
    ...(dispatches.length === 0 ? [] : [totalLine(dispatches)]),
  ];
}

function noteLines(hold: OpenHold): string[] {
  const { title, remedy } = reasonOf(hold);
  if (title === undefined) return [];
  return [`${hold.code} ${title}${remedy === undefined ? '' : `. To do: ${remedy}`}`];
}

function didsOf({ scope }: OpenHold, numbers: readonly ListedNumber[]): string[] {
  if (scope === 'platform') return [];
  const { kind, name } = kindAndName(scope);
  if (kind !== 'number' && kind !== 'marketing' && kind !== 'edge') return [];
  return numbers.flatMap(({ did, phoneNumberId }) => (phoneNumberId === name ? [did] : []));
}

/**
 * Returns the earliest time of the next probe; while one runs, its lease must end first. Only waiting messages probe,
 * so without any this may be long past.
 */
function nextProbeMs({ nextAskMs, askedUntilMs = nextAskMs }: OpenHold): number {
  return Math.max(nextAskMs, askedUntilMs);
}

/** Returns the platform's title of the code, and what lifts it; empty for an unknown code. */
function reasonOf({ scope, code }: OpenHold): { readonly title?: string; readonly remedy?: string } {
  if (code !== noAnswerCode) {
    const known = explainedOfPlatform(code);
    return known === undefined ? {} : { title: known.title, remedy: known.remedy };
  }
  return scope === 'platform'
    ? {
        title: 'The platform does not answer',
        remedy: 'Look at its status page, then at name resolution, network and certificates. Any answer ends it.',
      }
    : {
        title: 'Messages of the number get no answer, although reads are answered',
        remedy: 'Look at the number on the pages of the platform. Any answer to a message ends it.',
      };
}

export function heldAsJson({ holds, goingOn }: Held) {
  return {
    held: holds.map(({ hold, waiting }) => ({
      hold: holdInWords(hold),
      waba_id: hold.scope === 'platform' ? undefined : hold.wabaId,
      scope: hold.scope,
      code: hold.code,
      ...reasonOf(hold),
      since: timeOf(hold.sinceMs),
      until: hold.untilMs === undefined ? undefined : timeOf(hold.untilMs),
      questions: hold.asks,
      next_question: timeOf(nextProbeMs(hold)),
      waiting: waiting.map(asJson),
    })),
    going_on: goingOn.map(asJson),
  };
}

import { noAnswerCode } from '../../lib/messages/holds/hold.ts';
import { scopesOf } from '../../lib/messages/holds/scope.ts';
import type { DescribedJob } from '../../lib/messages/report/described-job.ts';
import { explainedOfPlatform } from './explanations.ts';
import { kindAndName, type OpenHold } from './open-holds.ts';
import { asJson, commandOf, type JobOutcomes, jobLines, settlingLines, timeOf, totalLine } from './outcomes-output.ts';

export interface ListedNumber {
  readonly did: string;
  readonly phoneNumberId: string;
}

export interface Held {
  readonly holds: readonly { readonly hold: OpenHold; readonly waiting: readonly JobOutcomes[] }[];
  /** These dispatches still show as parked without a hold; their next check lets them continue. */
  readonly goingOn: readonly JobOutcomes[];
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
export function heldBy(holds: readonly OpenHold[], parked: readonly JobOutcomes[]): Held {
  const holdOfJob = new Map(parked.map((found) => [found, holds.find((hold) => concerns(hold, found.job))]));
  return {
    holds: holds.map((hold) => ({ hold, waiting: parked.filter((found) => holdOfJob.get(found) === hold) })),
    goingOn: parked.filter((found) => holdOfJob.get(found) === undefined),
  };
}

function concerns(hold: OpenHold, { head }: DescribedJob): boolean {
  if (hold.scope === 'platform') return true;
  return hold.wabaId === head.wabaId && scopesOf(head).includes(hold.scope);
}

export function heldAsLines(
  { holds, goingOn }: Held,
  { numbers, stage }: { readonly numbers: readonly ListedNumber[]; readonly stage: string | undefined },
): string[] {
  if (holds.length === 0 && goingOn.length === 0) return ['Nothing is held.'];
  const jobs = [...holds.flatMap(({ waiting }) => waiting), ...goingOn];
  const lines = holds.flatMap(({ hold, waiting }) => [...holdLines(hold, numbers), ...beneath(jobLines(waiting))]);
  if (goingOn.length > 0) {
    lines.push('nothing holds these any more; they go on within minutes:', ...beneath(jobLines(goingOn)));
  }
  lines.push(...settlingLines(jobs, stage));
  if (holds.length > 0)
    lines.push('each is asked again by itself; once you have removed its cause, one line ends it now:');
  for (const { hold } of holds) lines.push(`  ${commandOf(stage)} --held --end '${holdInWords(hold)}'`);
  return jobs.length === 0 ? lines : [...lines, totalLine(jobs)];
}

function holdLines(hold: OpenHold, numbers: readonly ListedNumber[]): string[] {
  const { code, sinceMs, untilMs } = hold;
  const { title, remedy } = reasonOf(hold);
  const dids = didsOf(hold, numbers);
  const announcedEnd = untilMs === undefined ? '' : `, until ${timeOf(untilMs)} as the platform says`;
  return [
    `held: ${holdInWords(hold)}${dids.length === 0 ? '' : `, did ${dids.join(' ')}`}`,
    `  ${[code, title].filter(Boolean).join(' ')}, since ${timeOf(sinceMs)}${announcedEnd}`,
    `  ${questionsOf(hold)}`,
    ...(remedy === undefined ? [] : [`  to do: ${remedy}`]),
  ];
}

const beneath = (lines: readonly string[]) => lines.map((line) => `  ${line}`);

function didsOf({ scope }: OpenHold, numbers: readonly ListedNumber[]): string[] {
  if (scope === 'platform') return [];
  const { kind, name } = kindAndName(scope);
  if (kind !== 'number' && kind !== 'marketing' && kind !== 'edge') return [];
  return numbers.flatMap(({ did, phoneNumberId }) => (phoneNumberId === name ? [did] : []));
}

/** Only waiting messages probe, so without any the next time may be long past. */
function questionsOf(hold: OpenHold): string {
  const next = `the first message after ${timeOf(nextProbeMs(hold))} asks`;
  if (hold.asks === 0) return `not asked yet; ${next}`;
  return `asked ${hold.asks === 1 ? 'once' : `${hold.asks} times`}; ${next} again`;
}

/** Returns the earliest time of the next probe; while one runs, its lease must end first. */
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

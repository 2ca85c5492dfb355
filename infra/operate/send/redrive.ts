import { sleep } from '../../../lib/aws/pause.ts';
import { packEntries, type QueueEntry, sendEntries } from '../../../lib/aws/sqs-batch.ts';
import { queuePurposes } from '../../names.ts';
import type { QueueName } from '../../queues.ts';
import {
  type Command,
  CommandError,
  type CommandWords,
  commandLine,
  helpOption,
  jsonOption,
  stageOption,
  WouldChange,
  yesOption,
} from '../command.ts';
import { helpOf } from '../help.ts';
import { auditOf, type OperatorAudit } from '../operator-audit.ts';
import { type Progress, progressOn } from '../progress.ts';
import { type OpenQueue, openDeadLetters, openQueue, targetOf } from '../target.ts';
import { countOf, type DeadLetters, type Letter, readDeadLetters } from './dead-letter-queue.ts';
import { asJson, linesOf, type Tallied, Tally } from './dead-letter-tally.ts';
import { type JudgedLetter, judgeLetter, type LetterKind } from './dead-letters.ts';

const usualPace = 10;
const mostPace = 200;
/** A dry run reads at most this many letters. */
const mostLookedAt = 10_000;

const options = {
  yes: yesOption,
  drop: { type: 'boolean', default: false, about: 'deletes what is of no use instead, and sends nothing' },
  'at-most': { type: 'string', value: 'N', about: 'no more than N of them: one, to see whether the cause is mended' },
  pace: { type: 'string', value: 'N', about: `N letters a second (1 to ${mostPace}; ${usualPace} by default)` },
  json: { ...jsonOption, about: 'without --yes: what there is, as one JSON document' },
  stage: stageOption,
  help: helpOption,
} as const;

const words: CommandWords = {
  lines: ['redrive QUEUE [--at-most N] [--pace N] [--yes]', 'redrive QUEUE --drop [--yes]'],
  about: `Sends the dead letters of a queue again, once their cause is mended. Without --yes it counts them, says of each
kind what would be sent again and why that is safe, sends nothing, and ends with 3 when it would. With it, it moves no more than there were when it
began, and ends; a run that was ended may be repeated. What is not safe to send, or of no use, stays.

QUEUE is one of ${Object.values(queuePurposes).join(', ')}.`,
  options,
};

export interface RedriveAt {
  readonly queue: OpenQueue;
  readonly deadLetters: OpenQueue;
  readonly audit: OperatorAudit;
}

interface Surroundings {
  readonly print: (line: string) => void;
  readonly progress: Progress;
  readonly nowMs: () => number;
  readonly pause?: (ms: number) => Promise<unknown>;
}

/**
 * Runs one command line; `open` reaches the queues of its stage. Throws `CommandError`: status 2 for wrong usage, 1
 * when letters stay that should have been sent.
 */
export async function redriveCommand(
  typed: readonly string[],
  open: (stage: string | undefined, name: QueueName) => RedriveAt | Promise<RedriveAt>,
  { print, progress, nowMs, pause = sleep }: Surroundings,
): Promise<void> {
  const { values, positionals } = commandLine({ args: [...typed], options, allowPositionals: true });
  const [purpose, ...surplus] = positionals;
  if (purpose === undefined || surplus.length > 0) throw new CommandError(helpOf(words));
  const name = queueNamed(purpose);
  const pacePerSecond = whole(values.pace, '--pace', mostPace) ?? usualPace;
  const atMost = whole(values['at-most'], '--at-most', Number.MAX_SAFE_INTEGER);
  const { yes, drop, json } = values;
  if (json && yes) throw new CommandError('--json shows what there is, and goes without --yes');
  const at = await open(values.stage, name);
  const waiting = await countOf(at.deadLetters);
  const most = Math.min(waiting, atMost ?? waiting);
  const judge = (body: string) => judgeLetter(name, body, nowMs());
  const deadLetters = readDeadLetters(at.deadLetters);
  const seconds = Math.ceil(most / pacePerSecond);
  const verdict = drop ? 'useless' : 'again';
  if (!json) print(`${purpose}: ${waiting} dead ${waiting === 1 ? 'letter' : 'letters'}`);
  if (!yes) {
    const looked = await look(deadLetters, judge, Math.min(most, mostLookedAt));
    if (json) print(JSON.stringify(asJson(looked, { queue: purpose, waiting }), null, 2));
    else {
      for (const line of linesOf(looked, { drop })) print(line);
      if (looked.letters < waiting) print(`looked at ${looked.letters} of them`);
      printUnseen(Math.min(most, mostLookedAt) - looked.letters, print);
    }
    if ([...looked.kinds.values()].every((kind) => kind.verdict !== verdict)) return;
    throw new WouldChange(
      drop
        ? 'nothing was deleted: repeat with --drop --yes'
        : `nothing was sent: repeat with --yes; at ${pacePerSecond} a second that takes ${seconds} s`,
    );
  }
  if (waiting === 0) return;
  const act = drop ? dropped(deadLetters) : moved(at.queue, deadLetters);
  const done = await at.audit(drop ? 'command.redrive_drop' : 'command.redrive', { queue: purpose, count: most }, () =>
    work(deadLetters, { judge, act, most, pacePerSecond, progress, pause, verdict }),
  );
  for (const line of linesOf(done, { drop })) print(line);
  print(`${done.acted} ${drop ? 'deleted' : 'sent again'}; ${await countOf(at.deadLetters)} dead letters are left`);
  printUnseen(most - done.letters, print);
  if (done.refused > 0)
    throw new CommandError(`${done.refused} were refused by the queue and stay: the same command tries them again`, 1);
}

/** A run of others, or one that was ended, hides what it has read. */
function printUnseen(letters: number, print: Surroundings['print']): void {
  if (letters > 0)
    print(`${letters} could not be seen: another run holds them, or held them when it ended; repeat in two minutes`);
}

function queueNamed(purpose: string): QueueName {
  const found = Object.entries(queuePurposes).find(([, each]) => each === purpose);
  if (found === undefined) {
    throw new CommandError(`QUEUE is one of ${Object.values(queuePurposes).join(', ')}, not ${purpose}`);
  }
  return found[0] as QueueName;
}

function whole(text: string | undefined, name: string, most: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,14}$/.test(text) && Number(text) <= most) return Number(text);
  const range = most === Number.MAX_SAFE_INTEGER ? 'a number from 1 on' : `1 to ${most}`;
  throw new CommandError(`${name} takes ${range}, not ${text}`);
}

async function look(deadLetters: DeadLetters, judge: (body: string) => JudgedLetter, most: number): Promise<Tallied> {
  const tally = new Tally();
  if (most === 0) return tally;
  for await (const letters of deadLetters.all()) {
    for (const letter of letters) if (tally.letters < most) tally.add(judge(letter.body), letter);
    if (tally.letters >= most) break;
  }
  return tally;
}

interface Work {
  readonly judge: (body: string) => JudgedLetter;
  /** Acts on letters; returns those with a confirmed result. */
  readonly act: (letters: readonly Letter[]) => Promise<readonly Letter[]>;
  readonly verdict: LetterKind['verdict'];
  readonly most: number;
  readonly pacePerSecond: number;
  readonly progress: Progress;
  readonly pause: (ms: number) => Promise<unknown>;
}

/** Handles at most as many letters as there were, so that a letter that dies again does not circulate. */
async function work(
  deadLetters: DeadLetters,
  { judge, act, verdict, most, pacePerSecond, progress, pause }: Work,
): Promise<Tallied & { readonly acted: number; readonly refused: number }> {
  const tally = new Tally();
  let acted = 0;
  let refused = 0;
  const words = () => `${acted} of ${most} letters are done`;
  await progress(words, async () => {
    for await (const letters of deadLetters.all()) {
      const taken: Letter[] = [];
      for (const letter of letters) {
        if (acted + refused + taken.length >= most) break;
        const judged = judge(letter.body);
        tally.add(judged, letter);
        if (judged.verdict === verdict) taken.push(letter);
      }
      const confirmed = await act(taken);
      refused += taken.length - confirmed.length;
      acted += confirmed.length;
      if (acted + refused >= most) break;
      if (taken.length > 0) await pause((1_000 * taken.length) / pacePerSecond);
    }
  });
  const { letters, kinds, oldestMs, doubles } = tally;
  return { letters, kinds, oldestMs, doubles, acted, refused };
}

/**
 * Sends letters to their queue in their groups, then deletes them. A run that dies in between leaves both, which all
 * consumers tolerate.
 */
function moved(queue: OpenQueue, deadLetters: DeadLetters): Work['act'] {
  return async (letters) => {
    const entries = new Map<QueueEntry, Letter>(
      letters.map((letter) => [{ body: letter.body, group: letter.group, delaySeconds: 0 }, letter]),
    );
    const refused = new Set<QueueEntry>();
    for (const batch of packEntries(entries.keys())) {
      for (const entry of await sendEntries(queue, batch)) refused.add(entry);
    }
    const sent = [...entries].flatMap(([entry, letter]) => (refused.has(entry) ? [] : [letter]));
    await deadLetters.remove(sent);
    return sent;
  };
}

function dropped(deadLetters: DeadLetters): Work['act'] {
  return async (letters) => {
    await deadLetters.remove(letters);
    return letters;
  };
}

export const command: Command = {
  words,
  run: (typed) =>
    redriveCommand(typed, openStage, {
      print: console.log,
      progress: progressOn(process.stderr),
      nowMs: Date.now,
    }),
};

async function openStage(stage: string | undefined, name: QueueName): Promise<RedriveAt> {
  const audit = auditOf(await targetOf(stage), stage);
  return { queue: await openQueue(stage, name), deadLetters: await openDeadLetters(stage, name), audit };
}

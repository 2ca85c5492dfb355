import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { operations } from '../../infra/openapi/operations/all.ts';
import { statusOf } from '../../lib/http/refusal.ts';
import { shownElsewhere } from './shown-elsewhere.ts';

/** `answersSeen` reads this worker's answers here. */
const dist = join(import.meta.dirname, '..', '..', 'dist');
const notes = join(dist, `contract-answers-${process.env['VITEST_POOL_ID']}.log`);
const noted = new Set<string>();

/** Records an answer of an operation; `code` is the code of a refusal. */
export function noteAnswer(operationId: string, status: number, code: unknown): void {
  const line = [operationId, status, code ?? '-'].join(' ');
  if (noted.has(line)) return;
  noted.add(line);
  appendFileSync(notes, `${line}\n`);
}

/** Deletes the records of earlier runs. */
export function forgetAnswers(): void {
  mkdirSync(dist, { recursive: true });
  for (const name of notesIn(dist)) rmSync(join(dist, name));
}

export interface AnswersSeen {
  readonly seen: readonly string[];
  /** The keys are the tests that show these answers. */
  readonly elsewhere: Readonly<Record<string, readonly string[]>>;
  /** No test shows these answers. */
  readonly unseen: readonly string[];
}

/** Returns the documented answers (`operation status code`), and whether this run has seen them. */
export function answersSeen(): AnswersSeen {
  const seen = new Set(notesIn(dist).flatMap((name) => readFileSync(join(dist, name), 'utf8').trim().split('\n')));
  const unseen = Object.entries(operations).flatMap(([name, { answers, refusals }]) =>
    [
      ...Object.keys(answers).map((status) => `${name} ${status} -`),
      ...refusals.map((code) => [name, statusOf(code), code === 'invalid_credentials' ? '-' : code].join(' ')),
    ].filter((answer) => !seen.has(answer)),
  );
  const shownBy = (answer: string) => shownElsewhere.find((each) => each.answer.test(answer))?.by;
  const by = Map.groupBy(unseen, (answer) => shownBy(answer) ?? '');
  const { '': never = [], ...elsewhere } = Object.fromEntries(by);
  return { seen: [...seen].sort(), elsewhere, unseen: never };
}

function notesIn(directory: string): string[] {
  return readdirSync(directory).filter((name) => /^contract-answers-\d+\.log$/.test(name));
}

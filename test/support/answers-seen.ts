import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { operations } from '../../infra/openapi/operations/all.ts';
import { statusOf } from '../../lib/http/refusal.ts';

/** Where this worker notes what was answered, for `answersSeen`. */
const dist = join(import.meta.dirname, '..', '..', 'dist');
const notes = join(dist, `contract-answers-${process.env['VITEST_POOL_ID']}.log`);
const noted = new Set<string>();

/** Notes an answer of an operation; `code` is that of a refusal. */
export function noteAnswer(operationId: string, status: number, code: unknown): void {
  const line = [operationId, status, code ?? '-'].join(' ');
  if (noted.has(line)) return;
  noted.add(line);
  appendFileSync(notes, `${line}\n`);
}

/** Forgets what runs before this one have noted. */
export function forgetAnswers(): void {
  mkdirSync(dist, { recursive: true });
  for (const name of notesIn(dist)) rmSync(join(dist, name));
}

/** What the document says that can be answered (`operation status code`): what a run has seen of it, and what not. */
export function answersSeen(): { readonly seen: readonly string[]; readonly unseen: readonly string[] } {
  const seen = new Set(notesIn(dist).flatMap((name) => readFileSync(join(dist, name), 'utf8').trim().split('\n')));
  const unseen = Object.entries(operations).flatMap(([name, { answers, refusals }]) =>
    [
      ...Object.keys(answers).map((status) => `${name} ${status} -`),
      ...refusals.map((code) => [name, statusOf(code), code === 'invalid_credentials' ? '-' : code].join(' ')),
    ].filter((answer) => !seen.has(answer)),
  );
  return { seen: [...seen].sort(), unseen };
}

function notesIn(directory: string): string[] {
  return readdirSync(directory).filter((name) => /^contract-answers-\d+\.log$/.test(name));
}

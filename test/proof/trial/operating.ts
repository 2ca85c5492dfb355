import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { wordsOf } from './run-book.ts';

const root = join(import.meta.dirname, '../../..');
/** No command of the run book takes so long, even on a busy machine. */
const longestMs = 180_000;

export interface Operated {
  readonly status: number;
  /** Standard error stands before standard output. */
  readonly output: string;
}

/** Runs a command line in a process of its own, as an operator types it, and pipes `input` into it. */
export async function operated(
  command: string,
  {
    port,
    input = '',
    signal,
  }: { readonly port: string; readonly input?: string | undefined; readonly signal: AbortSignal },
): Promise<Operated> {
  const [program = '', ...words] = wordsOf(command);
  const child = spawn(program, words, {
    cwd: root,
    // The port selects one of several local stacks (infra/operate/local-stacks.ts).
    env: { ...process.env, PORT: port, npm_config_loglevel: 'silent' },
    signal: AbortSignal.any([signal, AbortSignal.timeout(longestMs)]),
  });
  const status = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
  child.stdin.end(input);
  const [ended, out, errors] = await Promise.all([status, text(child.stdout), text(child.stderr)]);
  return { status: ended, output: `${errors}${out}`.trimEnd() };
}

import { resolve } from 'node:path';
import { type ParseArgsConfig, type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { omitUndefined } from '../../lib/keys/omit-undefined.ts';
import { failureSentence } from './aws-failure.ts';
import { lineWithSwallowedOptions } from './npm-options.ts';

/** One sentence tells the user of an operator command why it ended and what to do; there is no stack trace. */
export class CommandError extends Error {
  readonly exitStatus: number;

  constructor(message: string, exitStatus: 1 | 2 = 2) {
    super(message);
    this.name = 'CommandError';
    this.exitStatus = exitStatus;
  }
}

/**
 * Runs `parseArgs` for an npm script. npm keeps options without "--" for itself; then it throws a `CommandError` with
 * the right line, so that a command never runs without an option that its user typed.
 */
export function commandLine<const C extends ParseArgsConfig>(config: C): ReturnType<typeof parseArgs<C>> {
  refuseSwallowedOptions(config.options ?? {}, config.args ?? process.argv.slice(2));
  return parseArgs(config);
}

function refuseSwallowedOptions(options: ParseArgsOptionsConfig, given: readonly string[]): void {
  const typed = Object.entries(options).map(([name, { type, short }]) => ({
    name,
    takesValue: type === 'string',
    ...omitUndefined({ short }),
  }));
  const line = lineWithSwallowedOptions(typed, given);
  if (line !== undefined) throw new CommandError(swallowed(line));
}

export function swallowed(line: string): string {
  return `Nothing was done: npm keeps options for itself that stand without "--" before them; write ${line}`;
}

export function clientIdOf(text: string | undefined): number {
  if (text === undefined) throw new CommandError('--client is missing');
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new CommandError(`--client is not a client id: ${text}`);
  return Number(text);
}

/** Resolves a path against the folder where npm was called, because npm changes the working directory. */
export function callersPath(path: string): string {
  return resolve(process.env['INIT_CWD'] ?? process.cwd(), path);
}

/**
 * Runs an operator command and sets the exit status: 0, the status of a `CommandError`, 2 for unknown options, else 1.
 */
export async function runCommand(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    const explained = explanationOf(error);
    console.error(explained?.sentence ?? error);
    process.exitCode = explained?.status ?? 1;
  }
}

/** Finds the sentence that explains an error; undefined for a fault that needs its stack trace. */
function explanationOf(error: unknown): { readonly sentence: string; readonly status: number } | undefined {
  if (error instanceof CommandError) return { sentence: error.message, status: error.exitStatus };
  const { code, message } = (error ?? {}) as NodeJS.ErrnoException;
  if (code?.startsWith('ERR_PARSE_ARGS') === true)
    return { sentence: `${message.split('. To specify')[0]}; --help tells the options.`, status: 2 };
  const sentence = failureSentence(error);
  return sentence === undefined ? undefined : { sentence, status: 1 };
}

import { resolve } from 'node:path';
import { type ParseArgsConfig, type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { present } from '../../lib/keys/present.ts';
import { failureSentence } from './aws-failure.ts';
import { lineWithSwallowedOptions } from './npm-options.ts';

/** A reason for an operator command to end that its user can do something about: one sentence, no stack. */
export class CommandError extends Error {
  readonly exitStatus: number;

  constructor(message: string, exitStatus: 1 | 2 = 2) {
    super(message);
    this.name = 'CommandError';
    this.exitStatus = exitStatus;
  }
}

/**
 * `parseArgs` for the command line of an npm script. Throws a `CommandError` that shows the right line when npm kept
 * options for itself, so that a command never does without an option what was to be done with it.
 */
export function commandLine<const C extends ParseArgsConfig>(config: C): ReturnType<typeof parseArgs<C>> {
  refuseSwallowedOptions(config.options ?? {}, config.args ?? process.argv.slice(2));
  return parseArgs(config);
}

function refuseSwallowedOptions(options: ParseArgsOptionsConfig, given: readonly string[]): void {
  const typed = Object.entries(options).map(([name, { type, short }]) => ({
    name,
    takesValue: type === 'string',
    ...present({ short }),
  }));
  const line = lineWithSwallowedOptions(typed, given);
  if (line !== undefined) throw new CommandError(swallowed(line));
}

/** The sentence about options that npm kept. */
export function swallowed(line: string): string {
  return `Nothing was done: npm keeps options for itself that stand without "--" before them; write ${line}`;
}

/** The client that `--client` names. */
export function clientIdOf(text: string | undefined): number {
  if (text === undefined) throw new CommandError('--client is missing');
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new CommandError(`--client is not a client id: ${text}`);
  return Number(text);
}

/** A path as its user means it: from the folder where npm was called, which is not the one that npm calls us in. */
export function callersPath(path: string): string {
  return resolve(process.env['INIT_CWD'] ?? process.cwd(), path);
}

/** Runs an operator command and sets the exit status: 0, that of a `CommandError`, 2 for unknown options, else 1. */
export async function runCommand(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    const told = toldBy(error);
    console.error(told?.sentence ?? error);
    process.exitCode = told?.status ?? 1;
  }
}

/** An error that one sentence says all about; undefined for a fault that needs its stack. */
function toldBy(error: unknown): { readonly sentence: string; readonly status: number } | undefined {
  if (error instanceof CommandError) return { sentence: error.message, status: error.exitStatus };
  const { code, message } = (error ?? {}) as NodeJS.ErrnoException;
  if (code?.startsWith('ERR_PARSE_ARGS') === true)
    return { sentence: `${message.split('. To specify')[0]}; --help tells the options.`, status: 2 };
  const sentence = failureSentence(error);
  return sentence === undefined ? undefined : { sentence, status: 1 };
}

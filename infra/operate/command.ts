import { resolve } from 'node:path';
import { type ParseArgsConfig, type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { failureSentence } from './aws-failure.ts';

/** One sentence tells the user of an operator command why it ended and what to do; there is no stack trace. */
export class CommandError extends Error {
  readonly exitStatus: number;

  constructor(message: string, exitStatus: 1 | 2 | 3 = 2, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandError';
    this.exitStatus = exitStatus;
  }
}

/**
 * Ends a preview or dry run that found that a run would change something, with status 3; the sentence says how it is
 * really done. One that found nothing returns as usual.
 */
export class WouldChange extends CommandError {
  constructor(sentence: string) {
    super(sentence, 3);
    this.name = 'WouldChange';
  }
}

/** An option is declared once, for the parser, the help and the completion. */
export type OptionWords = ParseArgsOptionsConfig[string] & {
  /** The word stands for the option's value in the help: `--stage NAME`. */
  readonly value?: string;
  readonly about: string;
};

export interface CommandWords {
  /** Each is a way to call the command, without `infra/ops`. */
  readonly lines: readonly string[];
  /** An empty line parts paragraphs, whose lines are filled; a paragraph that begins with a blank stays as it is. */
  readonly about: string;
  readonly options: Readonly<Record<string, OptionWords>>;
}

/** A module of a command exports this, and the table in ops.ts names it. */
export interface Command {
  readonly words: CommandWords;
  /** Runs a command line. Throws `CommandError`, of which `WouldChange` is one. */
  readonly run: (typed: readonly string[]) => Promise<void>;
}

/** The table of commands has this of each; the module is loaded when the command is called. */
export interface Listed {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<{ readonly command: Command }>;
}

export const helpOption = { type: 'boolean', short: 'h', about: 'this text' } as const;
export const jsonOption = { type: 'boolean', default: false, about: 'one JSON document instead of the table' } as const;
export const yesOption = { type: 'boolean', default: false, about: 'really' } as const;
export const stageOption = {
  type: 'string',
  value: 'NAME',
  about: 'a deployment on AWS; without it, the running local stack',
} as const;
export const sinceOption = {
  type: 'string',
  value: 'TIME',
  about: 'from when: 30m, 1h or 2d ago, or a time such as 2026-10-01T12:00:00Z',
} as const;
export const untilOption = {
  type: 'string',
  value: 'TIME',
  about: 'the last moment, in the same forms; else now',
} as const;

/** Runs `parseArgs`; it never reads the process's own arguments unless `args` is absent. */
export function commandLine<const C extends ParseArgsConfig>(config: C): ReturnType<typeof parseArgs<C>> {
  return parseArgs(config);
}

export function clientIdOf(text: string | undefined): number {
  if (text === undefined) throw new CommandError('--client is missing');
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new CommandError(`--client is not a client id: ${text}`);
  return Number(text);
}

/** Resolves a path against the folder where the command was called, because run.mjs changes the working directory. */
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

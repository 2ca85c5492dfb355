import { resolve } from 'node:path';

/** A reason for an operator command to end that its user can do something about: one sentence, no stack. */
export class CommandError extends Error {
  readonly exitStatus: number;

  constructor(message: string, exitStatus: 1 | 2 = 2) {
    super(message);
    this.name = 'CommandError';
    this.exitStatus = exitStatus;
  }
}

/** A path as it was typed, found from the caller's folder: npm runs a script in the project's and notes the caller's. */
export function callersPath(path: string): string {
  return resolve(process.env['INIT_CWD'] ?? process.cwd(), path);
}

/** Runs an operator command and sets the exit status: 0, that of a `CommandError`, 2 for unknown options, else 1. */
export async function runCommand(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    const status = exitStatusOf(error);
    console.error(status === undefined ? error : (error as Error).message);
    process.exitCode = status ?? 1;
  }
}

/** The status of an error whose message says all there is to say; undefined for a fault that needs its stack. */
function exitStatusOf(error: unknown): number | undefined {
  if (error instanceof CommandError) return error.exitStatus;
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return code?.startsWith('ERR_PARSE_ARGS') === true ? 2 : undefined;
}

import { ApiRefusal } from '../../infra/local/demo/client.ts';
import { Obstacle } from '../../infra/local/preflight.ts';
import { CommandError, runCommand } from '../../infra/operate/command.ts';

const ending = new AbortController();

/** Ctrl-C aborts the proof of this process. */
export const interrupted: AbortSignal = ending.signal;

/** Runs a long proof as the command of this process, and ends it. Known obstacles are one line with status 1. */
export async function proofCommand(run: () => Promise<void>): Promise<never> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ending.abort());
  await runCommand(async () => {
    try {
      await run();
    } catch (error) {
      if (interrupted.aborted) throw new CommandError('Interrupted.', 1);
      if (error instanceof Obstacle || error instanceof ApiRefusal) throw new CommandError(error.message, 1);
      throw error;
    }
  });
  // All work is done, and keep-alive connections must not delay the end.
  process.exit();
}

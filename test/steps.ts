import { spawn } from 'node:child_process';

/** Runs commands one after another, output passed through; all of them run, the status is 1 when any of them failed. */
export async function runSteps(steps: readonly (readonly [string, ...string[]])[]): Promise<number> {
  let status = 0;
  for (const [command, ...commandArguments] of steps) {
    const code = await new Promise<number>((resolve) => {
      const child = spawn(command, commandArguments, { stdio: 'inherit' });
      child.once('error', () => resolve(1));
      child.once('exit', (exitCode) => resolve(exitCode ?? 1));
    });
    if (code !== 0) {
      console.error(`failed: ${[command, ...commandArguments].join(' ')}`);
      status = 1;
    }
  }
  return status;
}

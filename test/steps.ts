import { spawn } from 'node:child_process';

export type Step = readonly [command: string, ...commandArguments: string[]];

/**
 * Runs all commands one after another and passes their output through. With several commands, it prints each name
 * before and all durations after. The status is 1 when one of them failed.
 */
export async function runSteps(steps: readonly Step[]): Promise<number> {
  const ends: string[] = [];
  let status = 0;
  for (const [command, ...commandArguments] of steps) {
    const line = shortened([command, ...commandArguments].join(' '));
    if (steps.length > 1) console.log(`> ${line}`);
    const startedMs = performance.now();
    const code = await new Promise<number>((resolve) => {
      const child = spawn(command, commandArguments, { stdio: 'inherit' });
      child.once('error', ({ message }) => {
        console.error(message);
        resolve(1);
      });
      child.once('exit', (exitCode) => resolve(exitCode ?? 1));
    });
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    ends.push(`${code === 0 ? 'ok    ' : 'failed'} ${seconds.padStart(6)} s  ${line}`);
    if (code !== 0) status = 1;
  }
  if (steps.length > 1) console.log(ends.join('\n'));
  return status;
}

/** A command that names many files is shortened to one line. */
const shortened = (line: string) => (line.length > 100 ? `${line.slice(0, 97)}...` : line);

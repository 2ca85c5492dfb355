import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** The operator's shell keeps what one block of commands has set for the next. */
export interface OperatorShell {
  /** Runs a block to its end. Returns what it printed, and the commands that ended with another status than 0. */
  run(block: string): Promise<{ readonly output: string; readonly failed: readonly string[] }>;
  close(): void;
}

const endMark = '--- the block has ended ---';
const failureMark = '--- failed: ';

/** Starts a shell in that folder, with the variables beside those of this process. */
export function openShell(folder: string, variables: NodeJS.ProcessEnv, signal: AbortSignal): OperatorShell {
  const shell = spawn('bash', ['--noprofile', '--norc'], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, npm_config_loglevel: 'silent', ...variables },
    signal,
  });
  shell.on('error', () => undefined);
  const lines = createInterface({ input: shell.stdout });
  // Both outputs keep their order. A failed command is told as it was typed, and the rest of the block goes on, as by
  // hand.
  shell.stdin.write(`exec 2>&1\nset -o pipefail\ntrap 'printf "%s%s\\n" "${failureMark}" "$BASH_COMMAND"' ERR\n`);
  return {
    run: (block) =>
      new Promise((resolve, reject) => {
        const printed: string[] = [];
        const failed: string[] = [];
        const onEnd = () => reject(new Error('the shell has ended'));
        const hear = (line: string) => {
          if (line.startsWith(failureMark)) failed.push(line.slice(failureMark.length));
          else if (line !== endMark) printed.push(line);
          else {
            lines.off('line', hear);
            shell.off('close', onEnd);
            resolve({ output: printed.join('\n'), failed });
          }
        };
        lines.on('line', hear);
        shell.once('close', onEnd);
        shell.stdin.write(`${block}\nprintf '%s\\n' '${endMark}'\n`);
      }),
    close: () => shell.stdin.end(),
  };
}

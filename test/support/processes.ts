import { type ChildProcessByStdio, execFileSync, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

const root = join(import.meta.dirname, '..', '..');

export interface ScriptRun {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  /** Resolves with the first matching line of stdout; rejects with all output when the script ends first. */
  line(pattern: RegExp): Promise<string>;
  /** Resolves when the script has ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
}

/** Runs one of the project's scripts with these variables over ours; undefined removes a variable. */
export function runScript(
  script: string,
  options: {
    readonly arguments?: readonly string[];
    readonly environment?: Readonly<Record<string, string | undefined>>;
  } = {},
): ScriptRun {
  const child = spawn(process.execPath, [join(root, script), ...(options.arguments ?? [])], {
    cwd: root,
    env: { ...process.env, ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  const waiting = new Set<() => void>();
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    for (const look of waiting) look();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ended = new Promise<Awaited<ScriptRun['ended']>>((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  const line = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        const found = stdout.split('\n').find((text) => pattern.test(text));
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
      void ended.then(() => reject(new Error(`ended without a line like ${pattern}:\n${stdout}${stderr}`)));
    });
  return { child, line, ended };
}

/** Returns the descendants of a process, with their command lines. */
export function descendantsOf(ancestor: number): { readonly pid: number; readonly command: string }[] {
  const processes = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .flatMap((text) => {
      const [, pid, parent, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(text) ?? [];
      return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command }];
    });
  const childrenOf = (parent: number): { pid: number; command: string }[] =>
    processes
      .filter((process) => process.parent === parent && !process.command.startsWith('ps '))
      .flatMap(({ pid, command }) => [{ pid, command }, ...childrenOf(pid)]);
  return childrenOf(ancestor);
}

/** Tells whether a process with this id runs; a zombie does not. */
export function isAlive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z');
}

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { descendantsOf, runScript } from '../support/processes.ts';
import { report } from './figure.ts';

const root = join(import.meta.dirname, '../..');
const idleMs = 5 * 60_000;

/** Measures the memory of `npm start`, npm included: after the demo, and after five idle minutes. */
export async function benchLocal(signal: AbortSignal): Promise<void> {
  if (process.platform !== 'linux') {
    console.error('the footprint is read from /proc, which Linux alone has');
    return;
  }
  const env = { ...process.env, PORT: '0', PLATFORM_PORT: '0', QUIET: '1' };
  const npm = spawn('npm', ['start'], { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => npm.once('close', resolve));
  try {
    const port = await portOf(npm.stdout);
    reportFootprint('started', npm.pid);
    const demo = await runScript('infra/local/demo.ts', { environment: { PORT: port } }).ended;
    if (demo.code !== 0) throw new Error(`the demo ended with status ${demo.code}:\n${demo.stderr}`);
    reportFootprint('after_demo', npm.pid);
    await pause(idleMs, undefined, { signal });
    reportFootprint('after_idle', npm.pid, 1_000_000_000);
  } finally {
    // npm passes a signal to the shell that it started, but not to the process that replaced the shell.
    for (const { pid, command } of descendantsOf(npm.pid ?? 0)) {
      if (command.includes('infra/local/start.ts')) process.kill(pid, 'SIGINT');
    }
    await ended;
  }
}

/** Reads the port from the line that prints where the stack is. */
async function portOf(stdout: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stdout })) {
    const [, port] = /^export PORT=(\d+) /.exec(line) ?? [];
    if (port !== undefined) return port;
  }
  throw new Error('npm start has ended without saying where it is');
}

function reportFootprint(when: string, npm = 0, limit?: number): void {
  const pids = [npm, ...descendantsOf(npm).map(({ pid }) => pid)];
  const bytes = pids.reduce((sum, pid) => sum + proportionalBytes(pid), 0);
  report({ figure: `local.processes_${when}`, value: pids.length, unit: 'processes' });
  report({ figure: `local.footprint_${when}`, value: bytes, unit: 'bytes', limit });
}

/** Each process counts its part of a shared page. A process that has just ended counts nothing. */
function proportionalBytes(pid: number): number {
  try {
    const [, kilobytes] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [];
    return Number(kilobytes ?? 0) * 1_024;
  } catch {
    return 0;
  }
}

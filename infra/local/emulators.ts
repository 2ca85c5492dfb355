import type { ChildProcess } from 'node:child_process';
import { createServer } from 'node:net';
import { buildApp } from 'fauxqs';
import { openOnLoopback } from '../loopback.ts';

/** The server was started here, or was already running and is not stopped. */
export interface Emulator {
  readonly endpoint: string;
  stop(): Promise<void>;
}

export interface ServerProcessOptions {
  readonly signal?: AbortSignal;
  /** The emulator calls it with one sentence when the process has ended, for any reason. */
  readonly onExit?: (how: string) => void;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await openOnLoopback(server, 0);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts the SQS emulator in this process; its own start function would listen on every network interface. */
export async function startSqsEmulator(): Promise<Emulator> {
  const app = buildApp({ logger: false, host: '127.0.0.1' });
  const endpoint = await app.listen({ port: 0, host: '127.0.0.1' });
  return { endpoint, stop: () => app.close() };
}

/** The user runs this server: it is used as it is and never stopped. */
export function runningEmulator(endpoint: string): Emulator {
  return { endpoint, stop: async () => undefined };
}

/** The child ends with this process, also after a crash. */
export function endTogether(child: ChildProcess): void {
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
}

/** Ends a child process at once, or after `graceMs` to save its data. */
export async function endProcess(child: ChildProcess, graceMs = 0): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill(graceMs === 0 ? 'SIGKILL' : 'SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await gone;
  clearTimeout(timer);
}

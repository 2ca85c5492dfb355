import type { ChildProcess } from 'node:child_process';
import { createServer } from 'node:net';
import { buildApp } from 'fauxqs';
import { openOnLoopback } from '../loopback.ts';

/** A server that was started, or one that was already running and is left alone when we stop. */
export interface Emulator {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** For a server that runs as a process of its own. */
export interface ServerProcessOptions {
  /** Ends the start-up: the process is killed. */
  readonly signal?: AbortSignal;
  /** Told, in one sentence, when the process has ended, asked to or not. */
  readonly onExit?: (how: string) => void;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await openOnLoopback(server, 0);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts the SQS emulator inside this process. Its own start function would listen on every network interface. */
export async function startSqsEmulator(): Promise<Emulator> {
  const app = buildApp({ logger: false, host: '127.0.0.1' });
  const endpoint = await app.listen({ port: 0, host: '127.0.0.1' });
  return { endpoint, stop: () => app.close() };
}

/** An emulator that somebody else runs: used as it is, never stopped. */
export function runningEmulator(endpoint: string): Emulator {
  return { endpoint, stop: async () => undefined };
}

/** Whatever ends this process, a crash included, ends the child. */
export function endTogether(child: ChildProcess): void {
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
}

/**
 * Ends a child process: at once, or with `graceMs` to save what it keeps before it is killed. Resolves when it is gone.
 */
export async function endProcess(child: ChildProcess, graceMs = 0): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill(graceMs === 0 ? 'SIGKILL' : 'SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await gone;
  clearTimeout(timer);
}

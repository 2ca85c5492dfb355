import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Emulator, endProcess, endTogether, type ServerProcessOptions } from './emulators.ts';

const root = join(import.meta.dirname, '..', '..');

/** Throws the script's stderr when it fails. */
export async function runScript(
  script: string,
  options: {
    readonly arguments?: readonly string[];
    readonly environment?: Readonly<Record<string, string>>;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const child = spawn(process.execPath, [join(root, script), ...(options.arguments ?? [])], {
    cwd: root,
    env: { ...process.env, ...options.environment },
    stdio: ['ignore', 'ignore', 'pipe'],
    signal: options.signal,
    killSignal: 'SIGKILL',
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${script} failed.\n${stderr}`.trim()));
    });
  });
}

/** The simulator is ready when it has printed its address. */
export async function startSimulatorProcess(port: number, options: ServerProcessOptions = {}): Promise<Emulator> {
  const child = spawn(process.execPath, [join(root, 'infra/simulator/src/main.ts')], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', PLATFORM_PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
    killSignal: 'SIGKILL',
    signal: options.signal,
  });
  endTogether(child);
  const endpoint = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [, url] = /^platform (http:\S+)$/.exec(line) ?? [];
      if (url !== undefined) resolve(url);
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      const how = `The platform simulator ended with ${signal ?? `status ${code}`}.`;
      reject(new Error(how));
      options.onExit?.(how);
    });
  });
  return { endpoint, stop: () => endProcess(child) };
}

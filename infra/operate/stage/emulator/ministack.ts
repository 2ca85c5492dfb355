import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Emulator, endProcess, endTogether, freePort } from '../../../local/emulators.ts';
import { CommandError } from '../../command.ts';

/** The emulator of AWS is by other authors: a package for Python 3.10 or newer, without Docker. */
const release = 'ministack==1.5.*';

export const emulatedRegion = 'eu-west-1';
export const emulatedAccount = '000000000000';

const root = resolve(import.meta.dirname, '../../../..');
/** All files of the emulator and its deployments are in this folder. */
export const emulatorFolder = join(root, 'dist', 'ministack');

export function canEmulate(): boolean {
  const python = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']);
  return python.status === 0;
}

/**
 * Installs the emulator and starts it empty on 127.0.0.1, with signatures and role permissions enforced. Resolves when
 * it answers. Throws a `CommandError` when it cannot be installed or does not answer.
 */
export async function startMinistack(): Promise<Emulator> {
  mkdirSync(emulatorFolder, { recursive: true });
  writeFileSync(join(emulatorFolder, 'commands.log'), '');
  ran('python3', ['-m', 'venv', emulatorFolder]);
  ran(join(emulatorFolder, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', release]);
  const port = await freePort();
  const log = openSync(join(emulatorFolder, 'ministack.log'), 'w');
  const child = spawn(join(emulatorFolder, 'bin', 'ministack'), [], {
    stdio: ['ignore', log, log],
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      GATEWAY_PORT: String(port),
      BIND_HOST: '127.0.0.1',
      MINISTACK_REGION: emulatedRegion,
      AUTH: 'true',
      LAMBDA_EXECUTOR: 'local',
    },
  });
  endTogether(child);
  const endpoint = `http://127.0.0.1:${port}`;
  await answering(endpoint, child);
  return { endpoint, stop: () => endProcess(child, 5_000) };
}

/** Returns the environment that leads a command to the emulator, without the caller's accounts. */
export function emulatedAws(endpoint: string): NodeJS.ProcessEnv {
  return {
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: emulatedRegion,
    AWS_DEFAULT_REGION: emulatedRegion,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_SESSION_TOKEN: undefined,
    AWS_PROFILE: undefined,
  };
}

/** Runs a command to its end, with its output in `commands.log`. Throws a `CommandError` when it fails. */
export function ran(
  command: string,
  words: readonly string[],
  { environment = {}, folder = root }: { readonly environment?: NodeJS.ProcessEnv; readonly folder?: string } = {},
): void {
  const line = [command, ...words].join(' ');
  const path = join(emulatorFolder, 'commands.log');
  const log = openSync(path, 'a');
  writeSync(log, `> ${line}\n`);
  const { status, signal } = spawnSync(command, words, {
    cwd: folder,
    stdio: ['ignore', log, log],
    env: { ...process.env, ...environment },
  });
  closeSync(log);
  if (status !== 0) throw new CommandError(`${line} ended with ${signal ?? `status ${status}`}: see ${path}`, 1);
}

async function answering(url: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 120 && child.exitCode === null; tries += 1) {
    const answers = await fetch(url).then(
      () => true,
      () => false,
    );
    if (answers) return;
    await pause(500);
  }
  throw new CommandError(`MiniStack does not answer at ${url}: see ${join(emulatorFolder, 'ministack.log')}`, 1);
}

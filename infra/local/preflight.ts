import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { callersPath } from '../operate/command.ts';
import { type DynamoDbEngine, dynamoDbEngines, dynoxideProgram } from './dynamodb.ts';

/** An obstacle says in one sentence why the stack cannot start, and what to do. */
export class Obstacle extends Error {}

/** Throws an `Obstacle` for an invalid port. */
export function portFrom(variable: string, text: string | undefined, byDefault: number): number {
  if (text === undefined || text === '') return byDefault;
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new Obstacle(`${variable} must be a port number from 0 (any free one) to 65535, not ${JSON.stringify(text)}.`);
}

/** Throws an `Obstacle` when the port cannot be opened. */
export async function requireFreePort(variable: string, port: number): Promise<void> {
  const code = await new Promise<string | undefined>((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(undefined)));
  });
  if (code === undefined) return;
  const why = code === 'EADDRINUSE' ? 'is already in use' : `cannot be used (${code})`;
  throw new Obstacle(`Port ${port} ${why}: free it, or choose another one with ${variable}=<port>.`);
}

const answerWithinMs = 3_000;

/** Returns the address of a running server in a variable, if any. Throws an `Obstacle` when no server answers there. */
export async function answeringServer(variable: string, endpoint: string | undefined): Promise<string | undefined> {
  if (endpoint === undefined || endpoint === '') return undefined;
  try {
    await fetch(endpoint, { signal: AbortSignal.timeout(answerWithinMs) });
    return endpoint;
  } catch {
    throw new Obstacle(`No server answers at ${variable}=${endpoint}: start it, or leave the variable out.`);
  }
}

/**
 * Reads origins, comma-separated as browsers spell them, or `*` alone, whose pages may call the API beside local ones
 * (D52). Empty text gives none. Throws an `Obstacle` for anything else.
 */
export function originsFrom(variable: string, text: string | undefined): readonly string[] {
  const origins = text ? text.split(',').map((origin) => origin.trim()) : [];
  if (origins.length === 1 && origins[0] === '*') return origins;
  const wrong = origins.find((origin) => !/^https?:\/\/[^*]+$/.test(origin) || URL.parse(origin)?.origin !== origin);
  if (wrong === undefined) return origins;
  throw new Obstacle(
    `${variable} must be origins apart by commas, such as https://app.example.com,http://app.test:5173 (lower case, no path, no slash at the end), or * alone; ${JSON.stringify(wrong)} is none.`,
  );
}

export type DynamoDbChoice =
  | { readonly endpoint: string }
  | { readonly engine: DynamoDbEngine; readonly dataFolder?: string | undefined };

/**
 * AWS_ENDPOINT_URL_DYNAMODB names a running server, DYNAMODB an emulator (`dynoxide` or `local`), DATA its folder. The
 * default is Dynoxide where installed, else DynamoDB Local. Throws an `Obstacle` for a contradiction or an emulator
 * that cannot run here.
 */
export function chosenDynamoDb(environment: NodeJS.ProcessEnv): DynamoDbChoice {
  const { AWS_ENDPOINT_URL_DYNAMODB: endpoint, DYNAMODB: named, DATA: folder } = environment;
  if (endpoint) {
    const other = named ? 'DYNAMODB' : folder ? 'DATA' : undefined;
    if (other === undefined) return { endpoint };
    throw new Obstacle(
      `${other} and AWS_ENDPOINT_URL_DYNAMODB exclude each other: a server that runs already keeps its own tables.`,
    );
  }
  const engine = engineOf(named);
  if (engine === 'local') requireJava();
  return { engine, dataFolder: folder ? callersPath(folder) : undefined };
}

function engineOf(named: string | undefined): DynamoDbEngine {
  if (!named) return dynoxideProgram() === undefined ? 'local' : 'dynoxide';
  const engine = dynamoDbEngines.find((known) => known === named);
  if (engine === undefined) {
    throw new Obstacle(`DYNAMODB must be ${dynamoDbEngines.join(' or ')}, not ${JSON.stringify(named)}.`);
  }
  if (engine === 'dynoxide' && dynoxideProgram() === undefined) {
    throw new Obstacle(
      `There is no Dynoxide for ${process.platform}-${process.arch} here: leave DYNAMODB out, or set it to local.`,
    );
  }
  return engine;
}

const oldestJava = 17;

/** Returns undefined when DynamoDB Local can run. */
export function whyNoJava(): string | undefined {
  const { status, stderr } = spawnSync('java', ['-version'], { encoding: 'utf8' });
  if (status !== 0) return 'Java was not found';
  const [, version] = /version "(\d+)/.exec(stderr) ?? [];
  return version !== undefined && Number(version) < oldestJava ? `Java ${version} is too old` : undefined;
}

function requireJava(): void {
  const why = whyNoJava();
  if (why === undefined) return;
  throw new Obstacle(
    `${why}: DynamoDB Local needs Java ${oldestJava} or newer on the PATH (or set AWS_ENDPOINT_URL_DYNAMODB to a running server).`,
  );
}

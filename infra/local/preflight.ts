import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';

/** What keeps the stack from starting, in one sentence that says what to do. */
export class Obstacle extends Error {}

/** The port a variable names. Throws an `Obstacle` when it is no port. */
export function portFrom(variable: string, text: string | undefined, byDefault: number): number {
  if (text === undefined || text === '') return byDefault;
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new Obstacle(`${variable} must be a port number from 0 (any free one) to 65535, not ${JSON.stringify(text)}.`);
}

/** Throws an `Obstacle` when nobody can listen on the port. */
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

/** The address of a running server that a variable names, if it names one. Throws an `Obstacle` when nobody answers. */
export async function answeringServer(variable: string, endpoint: string | undefined): Promise<string | undefined> {
  if (endpoint === undefined || endpoint === '') return undefined;
  try {
    await fetch(endpoint, { signal: AbortSignal.timeout(answerWithinMs) });
    return endpoint;
  } catch {
    throw new Obstacle(`No server answers at ${variable}=${endpoint}: start it, or leave the variable out.`);
  }
}

const oldestJava = 17;

/** Throws an `Obstacle` when there is no Java, or one too old for DynamoDB Local. */
export function requireJava(): void {
  const { status, stderr } = spawnSync('java', ['-version'], { encoding: 'utf8' });
  const remedy = `DynamoDB Local needs Java ${oldestJava} or newer on the PATH (or set DYNAMODB_ENDPOINT to a running server).`;
  if (status !== 0) throw new Obstacle(`Java was not found: ${remedy}`);
  const [, version] = /version "(\d+)/.exec(stderr) ?? [];
  if (version !== undefined && Number(version) < oldestJava)
    throw new Obstacle(`Java ${version} is too old: ${remedy}`);
}

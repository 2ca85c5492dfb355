import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { CommandError } from './command.ts';

const LocalStackSchema = v.object({
  pid: v.number(),
  apiUrl: v.string(),
  platformUrl: v.string(),
  dynamodbEndpoint: v.string(),
  sqsEndpoint: v.string(),
  secretsEndpoint: v.string(),
  region: v.string(),
  stage: v.string(),
  queueUrls: v.record(v.string(), v.string()),
  /** `infra/ops events listen` opens this port. */
  webhookReceiverPort: v.number(),
});

export type LocalStack = v.InferOutput<typeof LocalStackSchema>;

/** Each stack has a file, named by process id, because several can run at the same time. */
export const localStacksFolder = join(import.meta.dirname, '../../dist/local-stacks');

/** Notes a stack for the operator commands. Returns a function that removes the note. */
export function noteLocalStack(stack: LocalStack, folder: string = localStacksFolder): () => void {
  const file = join(folder, `${stack.pid}.json`);
  mkdirSync(folder, { recursive: true });
  for (const { path } of notesIn(folder).filter(({ stack: noted }) => !isRunning(noted.pid)))
    rmSync(path, { force: true });
  writeFileSync(file, JSON.stringify(stack, undefined, 2));
  return () => rmSync(file, { force: true });
}

/**
 * Finds a running local stack: at `PORT` when that is set, else the first one started; undefined when there is none.
 */
export function findLocalStack(
  folder: string = localStacksFolder,
  port: string | undefined = process.env['PORT'],
): LocalStack | undefined {
  const running = notesIn(folder).filter(({ stack }) => isRunning(stack.pid));
  const anyPort = port === undefined || port === '' || port === '0';
  return running.find(({ stack }) => anyPort || new URL(stack.apiUrl).port === port)?.stack;
}

/** Returns the running local stack, or the one in a file. Ends the command with status 2 when it does not run. */
export function runningLocalStack(file?: string): LocalStack {
  const stack = file === undefined ? findLocalStack() : readNote(file);
  if (stack !== undefined && isRunning(stack.pid)) return stack;
  const port = process.env['PORT'];
  const which = port === undefined || port === '' || port === '0' ? '' : ` at PORT=${port}`;
  throw new CommandError(
    `No local stack is running${which}: start one with \`npm start\`, or name a deployed stage with --stage.`,
  );
}

interface Note {
  readonly path: string;
  readonly stack: LocalStack;
  readonly writtenMs: number;
}

/** The oldest note comes first. */
function notesIn(folder: string): Note[] {
  return namesIn(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      const path = join(folder, name);
      const stack = readNote(path);
      return stack === undefined ? [] : [{ path, stack, writtenMs: statSync(path).mtimeMs }];
    })
    .sort((a, b) => a.writtenMs - b.writtenMs);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Returns undefined for a missing or malformed file; a stack that ends removes its note at any time. */
function readNote(path: string): LocalStack | undefined {
  try {
    const parsed = v.safeParse(LocalStackSchema, JSON.parse(readFileSync(path, 'utf8')));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

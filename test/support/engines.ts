import { type DynamoDbEngine, dynoxideProgram } from '../../infra/local/dynamodb.ts';
import { whyNoJava } from '../../infra/local/preflight.ts';

/** The projects of the adapter tests have these DynamoDB emulators. */
export const engineOfProject: Readonly<Record<string, DynamoDbEngine>> = {
  adapters: 'local',
  'adapters-dynoxide': 'dynoxide',
};

/** An emulator may be unable to run on this machine; the function returns the reason, or undefined. */
const obstacles: Readonly<Record<DynamoDbEngine, () => string | undefined>> = {
  local: () => {
    const why = whyNoJava();
    return why && `on DynamoDB Local: ${why}, and it needs 17 or newer`;
  },
  dynoxide: () =>
    dynoxideProgram() === undefined
      ? `on Dynoxide: it has no package for ${process.platform}-${process.arch} here`
      : undefined,
};

/**
 * Returns the projects that can run here. With a running server (AWS_ENDPOINT_URL_DYNAMODB) there is one, because both
 * would use it.
 */
export function runnableProjects(): Record<string, DynamoDbEngine> {
  if (process.env['AWS_ENDPOINT_URL_DYNAMODB'] !== undefined) return { adapters: 'local' };
  const entries = Object.entries(engineOfProject).filter(([, engine]) => obstacles[engine]() === undefined);
  // Without any emulator the tests must fail with the reason, and not pass because none ran.
  return entries.length === 0 ? { adapters: 'local' } : Object.fromEntries(entries);
}

/**
 * Returns the number of stacks for contract tests, at most one for each worker. Stacks on a running server would share
 * its tables, so there is one.
 */
export function contractStacks(workers: number): number {
  return process.env['AWS_ENDPOINT_URL_DYNAMODB'] === undefined && process.env['AWS_ENDPOINT_URL_SQS'] === undefined
    ? Math.min(workers, 4)
    : 1;
}

/** Returns a line about the adapter tests that cannot run here; undefined when all can. */
export function leftOut(): string | undefined {
  if (process.env['AWS_ENDPOINT_URL_DYNAMODB'] !== undefined) return undefined;
  const runnable = runnableProjects();
  const [missing] = Object.entries(engineOfProject).filter(([name]) => !(name in runnable));
  const why = missing && obstacles[missing[1]]();
  return why && `left out: the adapter tests ${why}.`;
}

import { join, resolve } from 'node:path';
import { chosenDynamoDb } from '../../infra/local/preflight.ts';
import { type RunningStack, startStack } from '../../infra/local/stack.ts';

const dist = resolve(import.meta.dirname, '../../dist');

/**
 * What `use` finds on a stack of its own, on free ports, which is stopped when `use` has ended. Rejects when a process ends
 * that the stack needs. `name` is that of the folder for its template.
 */
export async function onOwnStack<T>(
  name: string,
  signal: AbortSignal,
  use: (stack: RunningStack) => Promise<T>,
): Promise<T> {
  const stack = await startStack({
    apiPort: 0,
    platformPort: 0,
    outputDirectory: join(dist, `cdk-${name}-${process.pid}`),
    dynamodb: chosenDynamoDb(process.env),
    sqsEndpoint: process.env['AWS_ENDPOINT_URL_SQS'],
    report: console.error,
    signal,
  });
  try {
    return await Promise.race([use(stack), stack.broken.then((error) => Promise.reject(error))]);
  } finally {
    await stack.stop();
  }
}

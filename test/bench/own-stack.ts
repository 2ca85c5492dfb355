import { join, resolve } from 'node:path';
import { chosenDynamoDb } from '../../infra/local/preflight.ts';
import { type RunningStack, startStack } from '../../infra/local/stack.ts';

const dist = resolve(import.meta.dirname, '../../dist');

/**
 * Runs `use` on a stack of its own on free ports, and stops the stack afterwards. Rejects when a process of the stack
 * ends early. `name` is the folder of its template.
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

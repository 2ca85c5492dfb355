import { join, resolve } from 'node:path';
import { chosenDynamoDb } from '../../infra/local/preflight.ts';
import { type RunningStack, type StackOptions, startStack } from '../../infra/local/stack.ts';
import { CommandError } from '../../infra/operate/command.ts';

const dist = resolve(import.meta.dirname, '../../dist');

/** Returns the folder of the stack's template while it runs. */
export function templateFolder(name: string): string {
  return join(dist, `cdk-${name}-${process.pid}`);
}

export interface OwnStack extends Partial<Omit<StackOptions, 'outputDirectory'>> {
  /** The folder of its template has this name. */
  readonly name: string;
  readonly signal: AbortSignal;
  /** Without webhooks the proof would prove nothing, so it throws. */
  readonly needsWebhooks?: boolean;
}

/**
 * Runs `use` on a stack of its own on free ports, and stops the stack afterwards. Rejects when a process of the stack
 * ends early.
 */
export async function onOwnStack<T>(
  { name, needsWebhooks = false, ...options }: OwnStack,
  use: (stack: RunningStack) => Promise<T>,
): Promise<T> {
  const stack = await startStack({
    apiPort: 0,
    platformPort: 0,
    outputDirectory: templateFolder(name),
    dynamodb: options.dynamodb ?? chosenDynamoDb(process.env),
    sqsEndpoint: process.env['AWS_ENDPOINT_URL_SQS'],
    report: console.error,
    ...options,
  });
  try {
    const { withoutWebhooks } = stack;
    if (needsWebhooks && withoutWebhooks !== undefined) throw new CommandError(`no webhooks: ${withoutWebhooks}`, 1);
    return await Promise.race([use(stack), stack.broken.then((error) => Promise.reject(error))]);
  } finally {
    await stack.stop();
  }
}

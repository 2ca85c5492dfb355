import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * This process plays the Lambda runtime for a function instance: it imports the bundle once and handles one invocation
 * at a time over IPC. It imports nothing of the local stack, so a function sees only what Lambda shows.
 */
export interface InvokeOrder {
  readonly requestId: string;
  readonly eventJson: string;
  /** The time starts when this process begins the event. */
  readonly timeoutMs: number;
}

export type InstanceReport =
  | { readonly kind: 'ready' }
  | { readonly kind: 'began' }
  | { readonly kind: 'returned'; readonly payloadJson: string }
  | { readonly kind: 'threw'; readonly message: string };

type Handler = (event: unknown, context: unknown) => unknown;

async function loadHandler(): Promise<Handler> {
  const [moduleName = '', exportName = ''] = variable('_HANDLER').split('.');
  const root = variable('LAMBDA_TASK_ROOT');
  const file = ['mjs', 'js'].map((extension) => join(root, `${moduleName}.${extension}`)).find(existsSync);
  if (file === undefined) throw new Error(`there is no ${moduleName}.mjs in ${root}`);
  const exports: Record<string, unknown> = await import(pathToFileURL(file).href);
  const handler = exports[exportName];
  if (typeof handler !== 'function') throw new Error(`${file} exports no function named ${exportName}`);
  return handler as Handler;
}

async function answerOrder(handler: Handler, order: InvokeOrder): Promise<InstanceReport> {
  try {
    const deadlineMs = Date.now() + order.timeoutMs;
    const payload = await handler(JSON.parse(order.eventJson), contextOf(order.requestId, deadlineMs));
    return { kind: 'returned', payloadJson: JSON.stringify(payload ?? null) };
  } catch (error) {
    const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
    console.error(`Invoke Error ${JSON.stringify({ errorType: name, errorMessage: message, stack })}`);
    return { kind: 'threw', message };
  }
}

function contextOf(requestId: string, deadlineMs: number) {
  const functionName = variable('AWS_LAMBDA_FUNCTION_NAME');
  return {
    awsRequestId: requestId,
    callbackWaitsForEmptyEventLoop: false,
    functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:${variable('AWS_REGION')}:000000000000:function:${functionName}`,
    logGroupName: variable('AWS_LAMBDA_LOG_GROUP_NAME'),
    logStreamName: variable('AWS_LAMBDA_LOG_STREAM_NAME'),
    memoryLimitInMB: variable('AWS_LAMBDA_FUNCTION_MEMORY_SIZE'),
    getRemainingTimeInMillis: () => Math.max(0, deadlineMs - Date.now()),
  };
}

function variable(name: string): string {
  return process.env[name] ?? '';
}

function report(message: InstanceReport): void {
  process.send?.(message);
}

// Ctrl-C reaches the instances too, but the stack ends them itself. When the stack dies, the channel closes and the
// instance must not outlive it.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit(0));

const handler = await loadHandler();
process.on('message', (order: InvokeOrder) => {
  report({ kind: 'began' });
  answerOrder(handler, order).then(report, (error: unknown) => {
    throw error;
  });
});
report({ kind: 'ready' });

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { InvocationResult } from './runner.ts';
import type { InstanceReport, InvokeOrder } from './runner-child.ts';
import type { LocalTemplate } from './template.ts';

/** One line that a function wrote. */
export interface FunctionLogLine {
  readonly functionName: string;
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
}

export interface InstanceOptions {
  readonly definition: LocalTemplate['functions'][string];
  /** What the Lambda service adds beside the template's variables: region, credentials, endpoints. */
  readonly environment: Readonly<Record<string, string>>;
  readonly onLog: (line: FunctionLogLine) => void;
  /** Called once, when the process is gone for whatever reason. */
  readonly onGone: () => void;
}

/** A process that runs one function, one request at a time. */
export interface Instance {
  readonly pid: number | undefined;
  /** Never rejects. The time-out counts from the moment the bundle is loaded, as in Lambda. */
  invoke(eventJson: string): Promise<InvocationResult>;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
}

/** Lambda's limit of a synchronous payload, request and response each. */
export const maxPayloadBytes = 6_291_556;

const childEntry = fileURLToPath(new URL('runner-child.ts', import.meta.url));

/** Starts an instance; invoking it may begin at once, the first request waits for the bundle. */
export function startInstance(options: InstanceOptions): Instance {
  const { definition } = options;
  const child = spawn(process.execPath, [`--max-old-space-size=${definition.memoryMb}`, childEntry], {
    cwd: definition.codeDirectory,
    env: runtimeEnvironment(definition, options.environment),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
  });
  let settle: ((result: InvocationResult) => void) | undefined;
  let timedOut = false;
  const ready = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();

  let ended = false;
  const end = (how: string) => {
    if (ended) return;
    ended = true;
    const message = timedOut ? `Task timed out after ${definition.timeoutSeconds.toFixed(2)} seconds` : how;
    settle?.({ ok: false, error: timedOut ? 'timeout' : 'crashed', message });
    settle = undefined;
    ready.resolve();
    gone.resolve();
    options.onGone();
  };
  child.once('error', (error) => end(`the instance could not be started: ${error.message}`));
  child.once('exit', (code, signal) => end(`the instance ended with ${signal ?? `status ${code}`}`));
  child.on('message', (report: InstanceReport) => {
    if (report.kind === 'ready') ready.resolve();
    else settle?.(resultOf(report));
  });
  forwardLines(child.stdout, (text) => options.onLog({ functionName: definition.name, stream: 'stdout', text }));
  forwardLines(child.stderr, (text) => options.onLog({ functionName: definition.name, stream: 'stderr', text }));

  return {
    pid: child.pid,
    invoke: async (eventJson) => {
      const settled = Promise.withResolvers<InvocationResult>();
      settle = settled.resolve;
      await ready.promise;
      const timer = setTimeout(() => {
        timedOut = true;
        child.kill('SIGKILL');
      }, definition.timeoutSeconds * 1000);
      const deadlineMs = Date.now() + definition.timeoutSeconds * 1000;
      // A channel that closes under the message is reported by 'exit'.
      if (child.connected) {
        child.send({ requestId: randomUUID(), eventJson, deadlineMs } satisfies InvokeOrder, () => undefined);
      }
      const result = await settled.promise;
      clearTimeout(timer);
      settle = undefined;
      return result;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await gone.promise;
    },
  };
}

function resultOf(report: Exclude<InstanceReport, { kind: 'ready' }>): InvocationResult {
  if (report.kind === 'threw') return { ok: false, error: 'threw', message: report.message };
  const bytes = Buffer.byteLength(report.payloadJson);
  if (bytes > maxPayloadBytes) {
    const message = `Response payload size (${bytes} bytes) exceeded maximum allowed payload size (${maxPayloadBytes} bytes).`;
    return { ok: false, error: 'threw', message };
  }
  return { ok: true, payload: JSON.parse(report.payloadJson) };
}

function forwardLines(stream: Readable | null, onLine: (text: string) => void): void {
  if (stream !== null) createInterface({ input: stream }).on('line', onLine);
}

/** What the Lambda runtime provides, then what the stack adds, then the template's own variables. Nothing of this process. */
function runtimeEnvironment(
  definition: InstanceOptions['definition'],
  added: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    LANG: 'en_US.UTF-8',
    TZ: 'UTC',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_NAME: definition.name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(definition.memoryMb),
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${definition.name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: randomUUID(),
    LAMBDA_TASK_ROOT: definition.codeDirectory,
    _HANDLER: definition.handler,
    ...added,
    ...definition.environment,
  };
}

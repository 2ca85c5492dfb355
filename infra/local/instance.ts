import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { InvocationResult } from './invocation-result.ts';
import type { LocalTemplate } from './local-template.ts';
import { heapOptions, type MemoryWatch, watchMemory } from './memory-limit.ts';
import type { InstanceReport, InvokeOrder } from './runner-child.ts';
import { startTimeLimit, type TimeLimit } from './time-limit.ts';

export interface FunctionLogLine {
  readonly functionName: string;
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
}

export interface InstanceOptions {
  readonly definition: LocalTemplate['functions'][string];
  readonly environment: Readonly<Record<string, string>>;
  readonly onLog: (line: FunctionLogLine) => void;
  /** Stack traces show lines of the sources. */
  readonly sourceMaps?: boolean | undefined;
  /**
   * A debugger can attach here (127.0.0.1). A halted function takes its time, so neither timeout nor memory limit is
   * enforced.
   */
  readonly inspectPort?: number | undefined;
  readonly onGone: () => void;
}

/** Lambda limits a synchronous payload to this, request and response each. */
export const maxPayloadBytes = 6_291_556;

export const debuggedTimeoutMs = 24 * 60 * 60 * 1000;

/** Reports a slow load: the machine is busy, or the bundle hangs. */
const slowStartMs = 10_000;

const childEntry = fileURLToPath(new URL('runner-child.ts', import.meta.url));

/**
 * An instance runs one request of one function at a time. It starts when it is created; the first request waits for the
 * bundle.
 */
export class Instance {
  readonly #options: InstanceOptions;
  readonly #child: ChildProcess;
  readonly #ready = Promise.withResolvers<void>();
  readonly #gone = Promise.withResolvers<void>();
  #began: (() => void) | undefined;
  #settle: ((result: InvocationResult) => void) | undefined;
  #killedFor: InvocationResult | undefined;
  #ended = false;

  constructor(options: InstanceOptions) {
    const { definition, onLog } = options;
    this.#options = options;
    this.#child = spawn(process.execPath, [...nodeOptions(options), childEntry], {
      cwd: definition.codeDirectory,
      env: runtimeEnvironment(definition, options.environment),
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      serialization: 'advanced',
    });
    this.#child.once('error', (error) => this.#end(`the instance could not be started: ${error.message}`));
    this.#child.once('exit', (code, signal) => this.#end(`the instance ended with ${signal ?? `status ${code}`}`));
    this.#child.on('message', (report: InstanceReport) => {
      if (report.kind === 'ready') this.#ready.resolve();
      else if (report.kind === 'began') this.#began?.();
      else this.#settle?.(resultOf(report));
    });
    this.#tellSlowStart();
    for (const stream of ['stdout', 'stderr'] as const) {
      forwardLines(this.#child[stream], (text) => onLog({ functionName: definition.name, stream, text }));
    }
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /**
   * Never rejects. The timeout starts when the process begins the event, which `onBegan` reports. An answer after the
   * memory limit was passed is dropped.
   */
  async invoke(eventJson: string, onBegan?: () => void): Promise<InvocationResult> {
    const settled = Promise.withResolvers<InvocationResult>();
    this.#settle = settled.resolve;
    await this.#ready.promise;
    const { timeoutSeconds } = this.#options.definition;
    const debugged = this.#options.inspectPort !== undefined;
    const timeoutMs = debugged ? debuggedTimeoutMs : timeoutSeconds * 1000;
    const message = `Task timed out after ${timeoutSeconds.toFixed(2)} seconds`;
    let limit: TimeLimit | undefined;
    this.#began = () => {
      limit = startTimeLimit(timeoutMs, () => this.#killFor({ ok: false, error: 'timeout', message }));
      onBegan?.();
    };
    const memory = debugged ? undefined : this.#watchMemory();
    const order: InvokeOrder = { requestId: randomUUID(), eventJson, timeoutMs };
    // If the channel closes meanwhile, 'exit' reports it.
    if (this.#child.connected) this.#child.send(order, () => undefined);
    const result = await settled.promise;
    limit?.end();
    memory?.end();
    this.#began = undefined;
    this.#settle = undefined;
    if (this.#killedFor !== undefined) await this.#gone.promise;
    return this.#killedFor ?? result;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#gone.promise;
  }

  #tellSlowStart(): void {
    const { definition, onLog } = this.#options;
    const text = `has not started after ${slowStartMs / 1_000} s: this machine is busy, or what it imports has no end`;
    const timer = setTimeout(() => onLog({ functionName: definition.name, stream: 'stderr', text }), slowStartMs);
    void this.#ready.promise.then(() => clearTimeout(timer));
  }

  #watchMemory(): MemoryWatch | undefined {
    const { definition, onLog } = this.#options;
    const { name, memoryMb } = definition;
    if (this.pid === undefined) return undefined;
    return watchMemory(this.pid, memoryMb, (residentMb) => {
      const message = 'Runtime exited with error: signal: killed';
      const text = `${message} (a resident set of ${residentMb} MB passed its ${memoryMb} MB)`;
      onLog({ functionName: name, stream: 'stderr', text });
      this.#killFor({ ok: false, error: 'out_of_memory', message });
    });
  }

  #killFor(reason: InvocationResult): void {
    this.#killedFor ??= reason;
    this.#child.kill('SIGKILL');
  }

  #end(how: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#settle?.(this.#killedFor ?? { ok: false, error: 'crashed', message: how });
    this.#ready.resolve();
    this.#gone.resolve();
    this.#options.onGone();
  }
}

function resultOf(report: Exclude<InstanceReport, { kind: 'ready' | 'began' }>): InvocationResult {
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

function nodeOptions({ definition, sourceMaps, inspectPort }: InstanceOptions): string[] {
  return [
    ...heapOptions(definition.memoryMb),
    ...(sourceMaps === true ? ['--enable-source-maps'] : []),
    ...(inspectPort === undefined ? [] : [`--inspect=127.0.0.1:${inspectPort}`]),
  ];
}

/** Contains none of this process's own variables. */
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

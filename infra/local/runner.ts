import { type FunctionLogLine, Instance, maxPayloadBytes } from './instance.ts';
import { usualInstances } from './instance-limits.ts';
import type { InvocationResult } from './invocation-result.ts';
import type { LocalTemplate } from './local-template.ts';

export interface FunctionRunner {
  /**
   * Never rejects for a function's failure; throws for an unknown id. `onBegan` is called when a process begins the
   * event, on a busy machine long after the call.
   */
  invoke(functionId: string, event: unknown, onBegan?: () => void): Promise<InvocationResult>;
  /** Running and waiting requests end as crashed. */
  stop(): Promise<void>;
}

export interface ProcessRunner extends FunctionRunner {
  /** Later requests of the function run in fresh processes. */
  recycle(functionId: string): void;
  instances(): readonly { readonly functionId: string; readonly pid: number; readonly busy: boolean }[];
}

export interface RunnerOptions {
  readonly functions: LocalTemplate['functions'];
  readonly environment: Readonly<Record<string, string>>;
  readonly maximumInstances?: (functionId: string) => number;
  /** A process that is idle this long ends, unless it waits for a debugger. */
  readonly idleMs?: number | undefined;
  readonly onLog?: (line: FunctionLogLine) => void;
  readonly sourceMaps?: boolean | undefined;
  /** Runs this function in one process only, which starts at once and waits for a debugger on the port. */
  readonly inspected?: { readonly functionId: string; readonly port: number } | undefined;
}

/** A process takes some 50 MB, and half a second of processor time to start. */
const usualIdleMs = 60_000;

/**
 * Runs each function in its own processes, one request at a time each. Idle processes are reused for a minute; a fresh
 * one replaces a crash, a timeout or too much memory. Requests beyond the maximum wait in order.
 */
export function createRunner(options: RunnerOptions): ProcessRunner {
  const pools = new Map<string, Pool>();
  const poolOf = (functionId: string): Pool => {
    const definition = options.functions[functionId];
    if (definition === undefined) throw new Error(`the template has no function ${functionId}`);
    const inspected = options.inspected?.functionId === functionId ? options.inspected : undefined;
    const pool = pools.get(functionId) ?? new Pool(definition, options, inspected?.port);
    pools.set(functionId, pool);
    return pool;
  };
  if (options.inspected !== undefined) poolOf(options.inspected.functionId).warm();
  return {
    invoke: async (functionId, event, onBegan) => {
      const pool = poolOf(functionId);
      const eventJson = JSON.stringify(event);
      if (Buffer.byteLength(eventJson) > maxPayloadBytes) {
        return {
          ok: false,
          error: 'payload_too_large',
          message: 'the event exceeds the limit of the function service',
        };
      }
      return pool.run(eventJson, onBegan);
    },
    stop: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.stop()));
    },
    recycle: (functionId) => pools.get(functionId)?.recycle(),
    instances: () =>
      [...pools].flatMap(([functionId, pool]) => pool.processes().map((process) => ({ functionId, ...process }))),
  };
}

interface Waiting {
  readonly eventJson: string;
  readonly onBegan: (() => void) | undefined;
  readonly resolve: (result: InvocationResult) => void;
}

const stopped: InvocationResult = { ok: false, error: 'crashed', message: 'the local stack is stopping' };

class Pool {
  readonly #definition: LocalTemplate['functions'][string];
  readonly #options: RunnerOptions;
  readonly #alive = new Set<Instance>();
  /** Each idle instance has its end timer; the most recently used is last. */
  readonly #idle = new Map<Instance, NodeJS.Timeout | undefined>();
  /** These busy instances are not reused. */
  readonly #outdated = new Set<Instance>();
  readonly #waiting: Waiting[] = [];
  readonly #inspectPort: number | undefined;
  #stopping = false;

  constructor(definition: LocalTemplate['functions'][string], options: RunnerOptions, inspectPort?: number) {
    this.#definition = definition;
    this.#options = options;
    this.#inspectPort = inspectPort;
  }

  warm(): void {
    if (!this.#stopping && this.#alive.size === 0) this.#rest(this.#start());
  }

  recycle(): void {
    for (const instance of this.#alive) {
      if (this.#take(instance)) void this.#exchange(instance);
      else this.#outdated.add(instance);
    }
  }

  #rest(instance: Instance): void {
    const end = () => {
      if (this.#take(instance)) void instance.kill();
    };
    const idleMs = this.#options.idleMs ?? usualIdleMs;
    this.#idle.set(instance, this.#inspectPort === undefined ? setTimeout(end, idleMs).unref() : undefined);
  }

  #take(instance: Instance): boolean {
    clearTimeout(this.#idle.get(instance));
    return this.#idle.delete(instance);
  }

  async #exchange(instance: Instance): Promise<void> {
    await instance.kill();
    if (this.#inspectPort !== undefined) this.warm();
  }

  async run(eventJson: string, onBegan?: () => void): Promise<InvocationResult> {
    if (this.#stopping) return stopped;
    const { promise, resolve } = Promise.withResolvers<InvocationResult>();
    this.#waiting.push({ eventJson, onBegan, resolve });
    this.#serveNext();
    return promise;
  }

  processes(): { readonly pid: number; readonly busy: boolean }[] {
    return [...this.#alive].map((instance) => ({ pid: instance.pid ?? 0, busy: !this.#idle.has(instance) }));
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    for (const { resolve } of this.#waiting.splice(0)) resolve(stopped);
    await Promise.all([...this.#alive].map((instance) => instance.kill()));
  }

  #serveNext(): void {
    const [next] = this.#waiting;
    const instance = next === undefined || this.#stopping ? undefined : this.#availableInstance();
    if (next === undefined || instance === undefined) return;
    this.#waiting.shift();
    this.#take(instance);
    void instance.invoke(next.eventJson, next.onBegan).then((result) => {
      if (this.#outdated.delete(instance)) void this.#exchange(instance);
      else if (this.#alive.has(instance)) this.#rest(instance);
      next.resolve(this.#stopping && !result.ok ? stopped : result);
      this.#serveNext();
    });
  }

  #availableInstance(): Instance | undefined {
    // The most recently used one is taken: the others reach their idle time when there is little work.
    const idle = [...this.#idle.keys()].at(-1);
    if (idle !== undefined) return idle;
    const max =
      this.#inspectPort === undefined ? (this.#options.maximumInstances?.(this.#definition.id) ?? usualInstances) : 1;
    return this.#alive.size < max ? this.#start() : undefined;
  }

  #start(): Instance {
    const instance = new Instance({
      definition: this.#definition,
      environment: this.#options.environment,
      sourceMaps: this.#options.sourceMaps,
      inspectPort: this.#inspectPort,
      onLog: this.#options.onLog ?? (() => undefined),
      onGone: () => {
        this.#alive.delete(instance);
        this.#take(instance);
        this.#outdated.delete(instance);
        this.#serveNext();
      },
    });
    this.#alive.add(instance);
    return instance;
  }
}

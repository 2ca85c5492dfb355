import { type FunctionLogLine, type Instance, maxPayloadBytes, startInstance } from './instance.ts';
import type { LocalTemplate } from './template.ts';

export type InvocationResult =
  | { readonly ok: true; readonly payload: unknown }
  | {
      readonly ok: false;
      /** `payload_too_large` is about the request; a response that is too large is the function's error: `threw`. */
      readonly error: 'timeout' | 'crashed' | 'threw' | 'payload_too_large';
      /** The thrown error's own message when the function threw. */
      readonly message: string;
    };

/** Plays the Lambda service: runs functions by their logical id. */
export interface FunctionRunner {
  /** Never rejects for what a function does; throws for an id that the template does not have. */
  invoke(functionId: string, event: unknown): Promise<InvocationResult>;
  /** Kills every instance. Requests that were running or waiting end as crashed. */
  stop(): Promise<void>;
}

/** A runner whose processes can be looked at, so that a test can kill one. */
export interface ProcessRunner extends FunctionRunner {
  instances(): readonly { readonly functionId: string; readonly pid: number; readonly busy: boolean }[];
}

export interface RunnerOptions {
  readonly functions: LocalTemplate['functions'];
  /** Variables that every function gets beside its own, such as region, credentials and endpoints. */
  readonly environment: Readonly<Record<string, string>>;
  readonly maxInstancesPerFunction?: number;
  readonly onLog?: (line: FunctionLogLine) => void;
}

/** Small, because a laptop has few cores; requests beyond it wait in the order in which they came. */
const defaultMaxInstances = 4;

/**
 * Runs each function in processes of its own: one request at a time per process, idle ones used again, a fresh one after
 * a crash or a time-out, and never more than the cap per function.
 */
export function createRunner(options: RunnerOptions): ProcessRunner {
  const pools = new Map<string, Pool>();
  const poolOf = (functionId: string): Pool => {
    const definition = options.functions[functionId];
    if (definition === undefined) throw new Error(`the template has no function ${functionId}`);
    const pool = pools.get(functionId) ?? createPool(definition, options);
    pools.set(functionId, pool);
    return pool;
  };
  return {
    invoke: async (functionId, event) => {
      const pool = poolOf(functionId);
      const eventJson = JSON.stringify(event);
      if (Buffer.byteLength(eventJson) > maxPayloadBytes) {
        return {
          ok: false,
          error: 'payload_too_large',
          message: 'the event exceeds the limit of the function service',
        };
      }
      return pool.run(eventJson);
    },
    stop: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.stop()));
    },
    instances: () =>
      [...pools].flatMap(([functionId, pool]) => pool.processes().map((process) => ({ functionId, ...process }))),
  };
}

interface Pool {
  run(eventJson: string): Promise<InvocationResult>;
  processes(): readonly { readonly pid: number; readonly busy: boolean }[];
  stop(): Promise<void>;
}

interface Waiting {
  readonly eventJson: string;
  readonly resolve: (result: InvocationResult) => void;
}

const stopped: InvocationResult = { ok: false, error: 'crashed', message: 'the local stack is stopping' };

function createPool(definition: LocalTemplate['functions'][string], options: RunnerOptions): Pool {
  const max = options.maxInstancesPerFunction ?? defaultMaxInstances;
  const alive = new Set<Instance>();
  const idle: Instance[] = [];
  const waiting: Waiting[] = [];
  let stopping = false;

  const start = (): Instance => {
    const instance = startInstance({
      definition,
      environment: options.environment,
      onLog: options.onLog ?? (() => undefined),
      onGone: () => {
        alive.delete(instance);
        if (idle.includes(instance)) idle.splice(idle.indexOf(instance), 1);
        serveNext();
      },
    });
    alive.add(instance);
    return instance;
  };

  const serveNext = (): void => {
    if (stopping || waiting.length === 0) return;
    const instance = idle.pop() ?? (alive.size < max ? start() : undefined);
    const next = instance === undefined ? undefined : waiting.shift();
    if (instance === undefined || next === undefined) return;
    void instance.invoke(next.eventJson).then((result) => {
      if (alive.has(instance)) idle.push(instance);
      next.resolve(stopping && !result.ok ? stopped : result);
      serveNext();
    });
  };

  return {
    run: async (eventJson) => {
      if (stopping) return stopped;
      const { promise, resolve } = Promise.withResolvers<InvocationResult>();
      waiting.push({ eventJson, resolve });
      serveNext();
      return promise;
    },
    processes: () => [...alive].map((instance) => ({ pid: instance.pid ?? 0, busy: !idle.includes(instance) })),
    stop: async () => {
      stopping = true;
      for (const { resolve } of waiting.splice(0)) resolve(stopped);
      await Promise.all([...alive].map((instance) => instance.kill()));
    },
  };
}

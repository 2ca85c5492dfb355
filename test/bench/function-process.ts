import { fork } from 'node:child_process';
import { once } from 'node:events';
import * as v from 'valibot';
import { functionEnvironment } from '../../infra/local/function-environment.ts';
import type { RunningStack } from '../../infra/local/stack.ts';
import { bundleOf } from './bundles.ts';

const program = new URL('function-process.mjs', import.meta.url).pathname;

const ReplySchema = v.object({
  answer: v.object({ statusCode: v.literal(200), body: v.string() }),
  peakBytes: v.number(),
  processorMs: v.number(),
  logBytes: v.number(),
});

/** The answer of a function, the peak memory of its process so far, in bytes, and what the invocation took. */
export interface Invocation {
  readonly body: string;
  readonly peakBytes: number;
  readonly processorMs: number;
  readonly logBytes: number;
}

export interface FunctionProcess {
  readonly memoryMb: number;
  /** Rejects when the answer is not a 200, and when the process ends. */
  invoke(event: unknown): Promise<Invocation>;
  stop(): void;
}

/**
 * A built function in a process of its own, with the memory it has when deployed and its environment, changed as told:
 * `addresses` are those of the servers, `variables` what the stack sets for the function.
 */
export function startFunction(
  { addresses, template }: RunningStack,
  name: string,
  changes: {
    readonly addresses?: Readonly<Partial<RunningStack['addresses']>>;
    readonly variables?: Readonly<Record<string, string | undefined>>;
  },
): FunctionProcess {
  const definition = Object.values(template.functions).find((each) => each.name.endsWith(name));
  if (definition === undefined) throw new Error(`the template has no function ${name}`);
  const { environment, memoryMb } = definition;
  const child = fork(program, [bundleOf(name)], {
    env: {
      AWS_LAMBDA_FUNCTION_NAME: definition.name,
      ...functionEnvironment({ ...addresses, ...changes.addresses }),
      ...environment,
      ...changes.variables,
    },
    execArgv: [`--max-old-space-size=${memoryMb}`],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the function ended')));
  ended.catch(() => undefined);
  return {
    memoryMb,
    invoke: async (event) => {
      child.send(event as object);
      const [reply] = await Promise.race([once(child, 'message'), ended]);
      const { answer, ...taken } = v.parse(ReplySchema, reply);
      return { body: answer.body, ...taken };
    },
    stop: () => child.kill('SIGKILL'),
  };
}

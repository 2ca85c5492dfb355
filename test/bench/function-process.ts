import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { functionEnvironment } from '../../infra/local/function-environment.ts';
import type { RunningStack } from '../../infra/local/stack.ts';
import { bundleOf } from './bundle.ts';

const runner = new URL('function-process.mjs', import.meta.url).pathname;

const AnswerSchema = v.object({ statusCode: v.literal(200), body: v.string() });
const ReplySchema = v.object({
  answer: v.unknown(),
  peakBytes: v.number(),
  processorMs: v.number(),
  logBytes: v.number(),
});

/** The peak memory is that of the process so far. */
export interface Invocation {
  readonly answer: unknown;
  readonly peakBytes: number;
  readonly processorMs: number;
  readonly logBytes: number;
}

export interface FunctionProcess {
  readonly memoryMb: number;
  /** Rejects when the process ends. */
  run(event: unknown): Promise<Invocation>;
  /** Invokes a page. Rejects also when its answer is not a 200. */
  invoke(event: unknown): Promise<Invocation & { readonly body: string }>;
  /** The process has used so much of a processor by now, as Linux alone tells. */
  processorMs(): number;
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  stop(): void;
}

/**
 * Starts a built function in a process of its own, with its deployed memory and environment. `addresses` are those of
 * the servers, `variables` what the stack sets for the function, `program` what runs in place of its bundle.
 */
export function startFunction(
  { addresses, template }: RunningStack,
  name: string,
  changes: {
    readonly addresses?: Readonly<Partial<RunningStack['addresses']>>;
    readonly variables?: Readonly<Record<string, string | undefined>>;
    readonly program?: string;
  },
): FunctionProcess {
  const definition = Object.values(template.functions).find((each) => each.name.endsWith(name));
  if (definition === undefined) throw new Error(`the template has no function ${name}`);
  const { environment, memoryMb } = definition;
  const child = fork(runner, [changes.program ?? bundleOf(name)], {
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
  const run = async (event: unknown): Promise<Invocation> => {
    child.send(event as object);
    const [reply] = await Promise.race([once(child, 'message'), ended]);
    return v.parse(ReplySchema, reply);
  };
  return {
    memoryMb,
    run,
    invoke: async (event) => {
      const invocation = await run(event);
      return { ...invocation, body: v.parse(AnswerSchema, invocation.answer).body };
    },
    processorMs: () => processorMsOf(child.pid ?? 0),
    signal: (signal) => child.kill(signal),
    stop: () => child.kill('SIGKILL'),
  };
}

/** Linux counts processor time in hundredths of a second. */
function processorMsOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program, in brackets, may have spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

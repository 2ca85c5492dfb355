import { inject, type ProvidedContext } from 'vitest';

/** The addresses of a running stack, and the log of its functions. */
export interface StackContext {
  readonly apiUrl: string;
  readonly platformUrl: string;
  readonly dynamodbEndpoint: string;
  readonly sqsEndpoint: string;
  readonly secretsEndpoint: string;
  readonly queueUrls: Readonly<Record<string, string>>;
  /** The local receiver of events listens here (infra/local/webhook-receiver.ts). */
  readonly webhookReceiverPort: number;
  /** The file with all log lines of the functions so far. */
  readonly functionLog: string;
}

/** The data that the tests of an acceptance run receive. */
export interface AcceptanceContext {
  /** The deployed stage; undefined for a local stack. */
  readonly stage: string | undefined;
  /** Logins by the name of the demo user that each replaces. */
  readonly logins: Readonly<Record<string, { readonly username: string; readonly password: string }>>;
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** One stack for each worker of the contract tests; undefined in other projects. */
    stacks: readonly StackContext[] | undefined;
    /** The data of the acceptance run (test/acceptance); undefined in every other run. */
    acceptance: AcceptanceContext | undefined;
  }
}

/**
 * The address of a part: of this worker's stack in contract tests, of the project's emulators in adapter tests. A
 * worker runs one file at a time, so that no other file changes its simulator.
 */
export function addressOf<Name extends keyof StackContext>(name: Name): StackContext[Name] {
  const stacks = inject('stacks');
  if (stacks === undefined) return inject(name as keyof ProvidedContext) as StackContext[Name];
  const worker = Number(process.env['VITEST_POOL_ID']);
  const stack = stacks[worker - 1];
  if (stack === undefined) throw new Error(`worker ${worker} has no stack: there are ${stacks.length}`);
  return stack[name];
}

import { inject, type ProvidedContext } from 'vitest';

/** Where the parts of a running stack are, and what its functions write. */
export interface StackContext {
  readonly apiUrl: string;
  readonly platformUrl: string;
  readonly dynamodbEndpoint: string;
  readonly sqsEndpoint: string;
  readonly secretsEndpoint: string;
  readonly queueUrls: Readonly<Record<string, string>>;
  /** Where events for the local receiver are delivered (infra/local/webhook-receiver.ts). */
  readonly webhookReceiverPort: number;
  /** File with every line that a function has written so far. */
  readonly functionLog: string;
}

/** What the tests of an acceptance run are told of it. */
export interface AcceptanceContext {
  /** The deployed stage; undefined for a local stack. */
  readonly stage: string | undefined;
  /** By the name of the demo user that each stands for. */
  readonly logins: Readonly<Record<string, { readonly username: string; readonly password: string }>>;
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** One stack for each worker of the contract tests; undefined in other projects. */
    stacks: readonly StackContext[] | undefined;
    /** What the acceptance run has set up (test/acceptance); undefined in every other run. */
    acceptance: AcceptanceContext | undefined;
  }
}

/**
 * Where a part is: of the stack of this worker in contract tests, among the project's emulators in adapter tests. A
 * worker runs one file at a time, so that no other file changes what the simulator does to this one.
 */
export function addressOf<Name extends keyof StackContext>(name: Name): StackContext[Name] {
  const stacks = inject('stacks');
  if (stacks === undefined) return inject(name as keyof ProvidedContext) as StackContext[Name];
  const worker = Number(process.env['VITEST_POOL_ID']);
  const stack = stacks[worker - 1];
  if (stack === undefined) throw new Error(`worker ${worker} has no stack: there are ${stacks.length}`);
  return stack[name];
}

import { inject, type ProvidedContext } from 'vitest';

export interface StackContext {
  readonly apiUrl: string;
  readonly platformUrl: string;
  readonly dynamodbEndpoint: string;
  readonly sqsEndpoint: string;
  readonly secretsEndpoint: string;
  readonly queueUrls: Readonly<Record<string, string>>;
  /** The local receiver of events listens here (infra/local/webhook-receiver.ts). */
  readonly webhookReceiverPort: number;
  /** The file has all log lines of the functions so far. */
  readonly functionLog: string;
}

/** The tests of an acceptance run receive these data. */
export interface AcceptanceContext {
  /** A local stack has no deployed stage. */
  readonly stage: string | undefined;
  /** A key is the demo user that the login replaces. */
  readonly logins: Readonly<Record<string, { readonly username: string; readonly password: string }>>;
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** Each worker of the contract tests has a stack; other projects have none. */
    stacks: readonly StackContext[] | undefined;
    /** Only the acceptance run has these data (test/acceptance). */
    acceptance: AcceptanceContext | undefined;
  }
}

/**
 * Returns the address of a part: of this worker's stack in contract tests, of the project's emulators in adapter tests.
 * A worker runs one file at a time, so that no other file changes its simulator.
 */
export function addressOf<Name extends keyof StackContext>(name: Name): StackContext[Name] {
  const stacks = inject('stacks');
  if (stacks === undefined) return inject(name as keyof ProvidedContext) as StackContext[Name];
  const worker = Number(process.env['VITEST_POOL_ID']);
  const stack = stacks[worker - 1];
  if (stack === undefined) throw new Error(`worker ${worker} has no stack: there are ${stacks.length}`);
  return stack[name];
}

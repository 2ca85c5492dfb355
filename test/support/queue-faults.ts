/**
 * An attempt of an SDK client fails `before` it leaves, or `after` the service has carried it out, so that its reply is
 * lost. Undefined means that it succeeds.
 */
export type Fault = 'before' | 'after' | undefined;

export interface Attempt {
  readonly command: string;
  /** The number counts all attempts of this client from 1, the SDK's retries too. */
  readonly number: number;
}

interface FaultyClient {
  readonly middlewareStack: {
    addRelativeTo(
      middleware: (next: (request: never) => Promise<unknown>, context: { commandName?: string }) => unknown,
      options: { readonly relation: 'after'; readonly toMiddleware: string; readonly name: string },
    ): void;
  };
}

/**
 * Injects a fault layer below the SDK's retries; `plan` decides each attempt. It repeats faults that an emulator never
 * causes, such as a lost reply or a refused connection. Returns the attempts so far.
 */
export function injectFaults(client: unknown, plan: (attempt: Attempt) => Fault | Promise<Fault>): Attempt[] {
  const attempts: Attempt[] = [];
  (client as FaultyClient).middlewareStack.addRelativeTo(
    (next, context) => async (request: never) => {
      const attempt = { command: context.commandName ?? '', number: attempts.length + 1 };
      attempts.push(attempt);
      const fault = await plan(attempt);
      if (fault === 'before') throw lost();
      const reply = await next(request);
      if (fault === 'after') throw lost();
      return reply;
    },
    { relation: 'after', toMiddleware: 'retryMiddleware', name: 'injectedFaults' },
  );
  return attempts;
}

/** To the SDK this is a broken connection, which it retries. */
function lost(): Error {
  return Object.assign(new Error('injected fault'), { name: 'TimeoutError' });
}

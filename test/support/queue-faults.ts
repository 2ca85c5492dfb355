/**
 * Where an attempt of an SDK client fails: `before` it leaves, or `after` the service has carried it out, so that only
 * the reply is lost. Undefined lets it pass.
 */
export type Fault = 'before' | 'after' | undefined;

export interface Attempt {
  /** `SendMessageCommand` and the like. */
  readonly command: string;
  /** From 1, counted over all attempts of this client, the SDK's own retries included. */
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
 * Puts a fault layer of our own below the SDK's retries. `plan` says of each attempt how it fails; what an emulator never
 * does (lose a reply, refuse a connection half-way) becomes repeatable. Returns the attempts made so far.
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

/** Looks to the SDK like a connection that broke, which it retries. */
function lost(): Error {
  return Object.assign(new Error('injected fault'), { name: 'TimeoutError' });
}

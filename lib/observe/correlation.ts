import { AsyncLocalStorage } from 'node:async_hooks';

const current = new AsyncLocalStorage<string | undefined>();

/**
 * Does `work` in the name of one request: every log line written meanwhile, and every message queued, carries its id. The id
 * is the gateway's request id, never one that a caller sends. Messages that were queued without one have none.
 */
export function correlated<Result>(id: string | undefined, work: () => Result): Result {
  return current.run(id, work);
}

/** The id of the request on whose behalf the code that asks is running. */
export function correlationId(): string | undefined {
  return current.getStore();
}

import { AsyncLocalStorage } from 'node:async_hooks';

const current = new AsyncLocalStorage<string | undefined>();

/**
 * Runs `work` for one request: all its log lines and queued messages carry the id. It is the gateway's request id,
 * never one that a caller sends.
 */
export function correlated<Result>(id: string | undefined, work: () => Result): Result {
  return current.run(id, work);
}

export function correlationId(): string | undefined {
  return current.getStore();
}

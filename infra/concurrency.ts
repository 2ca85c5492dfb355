import { type FunctionShape, workersOf } from './function-shapes/shape.ts';
import type { Settings } from './settings.ts';

/** What is left for the endpoints, which have no number of their own. AWS keeps as much from being reserved at all. */
export const endpointConcurrency = 100;

/**
 * Refuses, in one sentence, what would throttle: a reservation below what the function's own queue may start (Lambda
 * would throttle the rest, and messages would use their deliveries up), and a sum of reservations, other workers and
 * endpoints that the account does not have.
 */
export function checkConcurrency(shapes: Readonly<Record<string, FunctionShape>>, settings: Settings): void {
  let reserved = 0;
  let others = 0;
  for (const [name, { reservedConcurrency, consumes }] of Object.entries(shapes)) {
    const workers = consumes === undefined ? 0 : workersOf(consumes, settings);
    if (reservedConcurrency === undefined) {
      others += workers;
      continue;
    }
    const share = settings[reservedConcurrency];
    if (share < workers) {
      throw new Error(
        `the context value ${reservedConcurrency} is ${share}, and the queue of ${name} may start ${workers} workers: it must be at least as many`,
      );
    }
    reserved += share;
  }
  const needed = reserved + others + endpointConcurrency;
  if (needed <= settings.accountConcurrency) return;
  throw new Error(
    `the context value accountConcurrency is ${settings.accountConcurrency}, and ${needed} are needed: ${reserved} reserved, ${others} for the workers of the other queues, ${endpointConcurrency} for the endpoints; ask Service Quotas for more concurrent executions, or lower dispatchMaximumConcurrency`,
  );
}

import { type FunctionShape, workersOf } from './function-shapes/shape.ts';
import type { Settings } from './settings.ts';

/** The endpoints, which reserve none, need this much. AWS never lets the last 100 of an account be reserved. */
export const endpointConcurrency = 100;

export interface ConcurrencyNeeds {
  readonly reserved: number;
  readonly workers: number;
  readonly endpoints: number;
  readonly total: number;
}

/**
 * Refuses, in one sentence, a sum that the account does not have, and a reservation below the workers of its queue:
 * Lambda would throttle, and messages would use up their deliveries.
 */
export function checkConcurrency(shapes: Readonly<Record<string, FunctionShape>>, settings: Settings): void {
  const { reserved, workers, total } = concurrencyNeeds(shapes, settings);
  if (total <= settings.accountConcurrency) return;
  throw new Error(
    `the context value accountConcurrency is ${settings.accountConcurrency}, and ${total} are needed: ${reserved} reserved, ${workers} for the workers of the other queues, ${endpointConcurrency} for the endpoints; ask Service Quotas for more concurrent executions, or lower dispatchMaximumConcurrency`,
  );
}

/** Throws one sentence for a reservation below the workers that its queue may start. */
export function concurrencyNeeds(
  shapes: Readonly<Record<string, FunctionShape>>,
  settings: Settings,
): ConcurrencyNeeds {
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
  const total = reserved + others + endpointConcurrency;
  return { reserved, workers: others, endpoints: endpointConcurrency, total };
}

import type { CostLimits } from '../budget/cost-limits.ts';
import type { SendTime } from '../when/send-time.ts';
import { type CostLimitPorts, reservationReleaseOf } from './cost-reservation.ts';
import { type Accepted, acceptOnce, bodyHashOf, type IdempotencyPorts } from './idempotency.ts';

export interface AcceptableRequest {
  readonly clientId: number;
  readonly did: string;
  readonly key: string | undefined;
  /** The key compares this, and the headers of a scheduled send (D9, D56). */
  readonly compared: unknown;
  readonly time: SendTime | undefined;
  readonly means: CostLimits;
  readonly remainingMs: () => number;
}

/**
 * Accepts a request under a new dispatch id, at most once per key (`acceptOnce`). When the dispatch of a dead run is
 * withdrawn, its budget reservation is released (D58).
 */
export async function acceptRequest(
  { clientId, did, key, compared, time, means, remainingMs }: AcceptableRequest,
  ports: Omit<IdempotencyPorts, 'remainingMs'> & Pick<CostLimitPorts, 'budgets'>,
  accept: (dispatchId: string) => Promise<Accepted>,
): Promise<Accepted> {
  if (key === undefined) return await accept(ports.newDispatchId());
  const timed = { ...ports, remainingMs };
  const takenBack = reservationReleaseOf(clientId, means, timed);
  const bodyHash = bodyHashOf(compared, time?.asked);
  return await acceptOnce({ clientId, did, key }, { bodyHash }, { ...timed, takenBack }, accept);
}

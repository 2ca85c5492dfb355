import type { Means } from '../budget/means.ts';
import type { SendTime } from '../when/send-time.ts';
import { giveBackOf, type MeansPorts } from './accept-within-means.ts';
import { type Accepted, acceptOnce, bodyHashOf, type IdempotencyPorts } from './idempotency.ts';

/** A request that is to be accepted, as its page has read it. */
export interface AcceptableRequest {
  readonly clientId: number;
  readonly did: string;
  /** The Idempotency-Key, where the client gave one. */
  readonly key: string | undefined;
  /** What the key compares, beside the headers of a time of its own (D9, D56). */
  readonly compared: unknown;
  readonly time: SendTime | undefined;
  readonly means: Means;
  readonly remainingMs: () => number;
}

/**
 * Accepts a request under a new job id, at most once for its key (`acceptOnce`). An answer already given is found before anything else
 * is looked at; what a run that died had reserved of a budget is given back once its job is taken back (D58).
 */
export async function acceptRequest(
  { clientId, did, key, compared, time, means, remainingMs }: AcceptableRequest,
  ports: Omit<IdempotencyPorts, 'remainingMs'> & Pick<MeansPorts, 'budgets'>,
  accept: (jobId: string) => Promise<Accepted>,
): Promise<Accepted> {
  if (key === undefined) return await accept(ports.newJobId());
  const timed = { ...ports, remainingMs };
  const takenBack = giveBackOf(clientId, means, timed);
  return await acceptOnce({ clientId, did, key }, bodyHashOf(compared, time?.asked), { ...timed, takenBack }, accept);
}

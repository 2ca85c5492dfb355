import type { CostLimits } from '../budget/cost-limits.ts';
import type { AcceptDispatchPorts } from './accept-dispatch.ts';
import { acceptWithinCostLimits, type CostLimitPorts } from './accept-within-cost-limits.ts';
import { type CheckPorts, checkSend, type Send } from './check-send.ts';
import type { Accepted } from './idempotency.ts';

export interface AcceptPorts extends CheckPorts, CostLimitPorts, Omit<AcceptDispatchPorts, 'remainingMs'> {}

/**
 * Checks a send (400, 404, 422, 502) and its cost limits (D58), hands over all of it or nothing (D25), and lists it
 * (D40).
 */
export async function acceptSend(
  send: Send & { readonly means: CostLimits; readonly remainingMs: () => number },
  ports: AcceptPorts,
): Promise<Accepted> {
  const { dispatch, warning } = await checkSend(send, ports);
  const unrated = await acceptWithinCostLimits(dispatch, send.means, { ...ports, remainingMs: send.remainingMs });
  return { dispatchId: send.dispatchId, warning: joined([warning, unrated]) };
}

function joined(sentences: readonly (string | undefined)[]): string | undefined {
  const given = sentences.filter((sentence) => sentence !== undefined);
  return given.length === 0 ? undefined : given.join('; ');
}

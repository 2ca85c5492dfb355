import { log } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import type { CostLimits } from '../budget/cost-limits.ts';
import type { WholeDispatch } from '../dispatch/whole-dispatch.ts';
import { type CheckPorts, checkSend, type Send } from './check-send.ts';
import { type CostLimitPorts, reserveCost } from './cost-reservation.ts';
import { type HandOverPorts, handOver } from './hand-over.ts';
import type { Accepted } from './idempotency.ts';

export interface AcceptPorts extends CheckPorts, CostLimitPorts, HandOverPorts {}

/**
 * Checks a send (400, 404, 422, 502), reserves what it may cost (D58), hands over all of it or nothing (D25), and lists
 * it (D40).
 */
export async function acceptSend(
  { means, ...send }: Send & { readonly means: CostLimits },
  ports: AcceptPorts,
): Promise<Accepted> {
  const { dispatch, warning } = await checkSend(send, ports);
  const unrated = await acceptChecked(dispatch, means, ports);
  const sentences = [warning, unrated].filter((sentence) => sentence !== undefined);
  return { dispatchId: send.dispatchId, warning: sentences.length === 0 ? undefined : sentences.join('; ') };
}

/** Refuses as `reserveCost` and `handOver`; returns a warning. */
export async function acceptChecked(
  checked: WholeDispatch,
  means: CostLimits,
  ports: CostLimitPorts & HandOverPorts,
): Promise<string | undefined> {
  const { dispatch, warning, refused, tell } = await reserveCost(checked, means, ports);
  const list = await handOver(dispatch, ports).catch(refused);
  const { dispatchId, clientId, total } = dispatch.head;
  count('RecipientsAccepted', total);
  log('dispatch.accepted', { dispatchId, clientId, count: total });
  await list();
  await tell();
  return warning;
}

import type { AcceptedDispatches } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import { type HandOverPorts, handOver } from '../../lib/messages/accept/hand-over.ts';
import type { WholeDispatch } from '../../lib/messages/dispatch/whole-dispatch.ts';

/** Hands a dispatch over and lists it, as acceptance does once it is checked. */
export async function acceptDispatch(dispatch: WholeDispatch, ports: HandOverPorts): Promise<void> {
  const list = await handOver(dispatch, ports);
  await list();
}

/** Begins a dispatch and lists it, unless it was withdrawn. */
export async function beginListed(
  dispatches: Pick<AcceptedDispatches, 'begin' | 'list'>,
  dispatch: Pick<WholeDispatch, 'head' | 'repeats'>,
): Promise<'begun' | 'withdrawn'> {
  const standing = await dispatches.begin(dispatch.head);
  if (standing === 'begun') await dispatches.list(dispatch);
  return standing;
}

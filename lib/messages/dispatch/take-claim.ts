import { nameOf } from '../../observe/name-of.ts';
import { type DispatchMessage, dispatchIdOf } from '../job.ts';
import type { Attempt, BatchPorts } from './batch-ports.ts';
import { type Claim, newClaim, type Settlement } from './claim.ts';
import { deliverAgain, type Ending, ended, reportSettled } from './ending.ts';
import type { ExpectedAsker } from './gathered-job-states.ts';
import { tryAgainLater } from './later.ts';
import { yieldTo } from './yield-claim.ts';

interface Claiming extends Attempt {
  readonly asker: ExpectedAsker;
  /** How the message ends, where that was known before the claim. */
  readonly settled: Settlement | undefined;
}

/** Claims a message. Undefined: it is claimed, to be sent; else how the delivery ends. */
export async function takeClaim(
  message: DispatchMessage,
  { at, delivery, asker, settled }: Claiming,
  ports: BatchPorts,
): Promise<Ending | undefined> {
  const claim = newClaim(message, at, ports.nowMs(), settled);
  let existing: Claim | undefined;
  try {
    existing = await ports.claims.take(claim);
  } catch (error) {
    ports.log('dispatch.claim_failed', { dispatchId: dispatchIdOf(message), error: nameOf(error) });
    // Past its time there is no later: it comes back until the queue gives up and the alarm rings.
    if (claim.state !== 'claimed') return deliverAgain;
    return await tryAgainLater(message, at, { pace: 'claims' }, ports);
  }
  // A claim under our own name is ours: the SDK repeated a write whose reply was lost (R16).
  if (existing !== undefined && !(existing.at === at && existing.state === 'claimed')) {
    asker.leave();
    return await yieldTo(existing, { message, delivery }, ports);
  }
  if (claim.state === 'claimed') return undefined;
  reportSettled(message, { state: claim.state, code: claim.code }, ports);
  return ended(message, claim, ports);
}

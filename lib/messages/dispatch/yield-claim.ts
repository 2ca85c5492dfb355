import { nameOf } from '../../observe/name-of.ts';
import { type DispatchMessage, dispatchIdOf } from '../job.ts';
import { type JobState, settlementOf } from '../job-state.ts';
import { hasBegun } from './begun-job.ts';
import { type Claim, claimRemainderMs, endedByStop, invocationOf, provenByReceipt } from './claim.ts';
import type { Delivery, DispatchPorts } from './dispatch-ports.ts';
import { acknowledged, deliverAgain, type Ending, ended, endedTaken, settle } from './ending.ts';
import { isProvenTaken } from './proof.ts';

/** Leaves a message to the claim of somebody else, who holds or held it: it is never sent from here. */
export async function yieldTo(
  existing: Claim,
  { message, delivery }: { readonly message: DispatchMessage; readonly delivery: Delivery },
  ports: DispatchPorts,
): Promise<Ending> {
  // Whoever claimed it may have died before the job began; or it was taken back.
  if (message.straight && !(await hasBegun(message, await stateOfJob(message, ports), ports))) return acknowledged;
  if (existing.state === 'unknown' && (await isProvenTaken(message, ports))) {
    return ended(message, provenByReceipt, ports);
  }
  if (existing.state !== 'claimed') return ended(message, existing, ports);
  const remainderMs = claimRemainderMs(existing, ports.nowMs());
  if (remainderMs > 0) {
    const seconds = Math.ceil(remainderMs / 1_000);
    await ports.queue.postpone(delivery.receiptHandle, seconds).catch((error: unknown) => {
      // It comes again earlier, and looks again.
      ports.log('dispatch.postpone_failed', { dispatchId: dispatchIdOf(message), error: nameOf(error) });
    });
    return deliverAgain;
  }
  const taken = (await ports.claims.findBatchRecord(invocationOf(existing.at)))?.[dispatchIdOf(message)];
  if (taken !== undefined) return endedTaken(message, taken, ports);
  const stop = endedByStop(existing, await stateOfJob(message, ports));
  const lost = { state: 'unknown', code: 'worker_lost' } as const;
  return await settle(message, existing.at, stop === undefined ? lost : settlementOf(stop), ports);
}

async function stateOfJob({ jobId }: DispatchMessage, { jobStates }: DispatchPorts): Promise<JobState> {
  return (await jobStates.of([jobId])).get(jobId) ?? {};
}

import { errorName } from '../../observe/error-name.ts';
import type { RoundMessage } from '../accept/round-message.ts';
import type { RoundRun } from './dispatch-rounds.ts';
import { type FanOutEnd, type FanOutPorts, Round } from './round.ts';

export type { FanOutEnd, FanOutPorts } from './round.ts';

/**
 * Turns a dispatch into chunks, in rounds (dispatch-rounds.ts), then hands it to the watcher (D41). Is idempotent by
 * claims. Throws when queue or store stay unreachable: SQS then delivers again.
 */
export async function fanOutDispatch(message: RoundMessage, owner: string, ports: FanOutPorts): Promise<FanOutEnd> {
  const { dispatchId, clientId } = message;
  const run: RoundRun = { dispatchId, round: message.round ?? 0, owner };
  const heldAtMs = ports.nowMs();
  await ports.hold();
  const dispatch = await ports.dispatches.find(dispatchId);
  if (dispatch === undefined) {
    ports.log('dispatch.never_accepted', { dispatchId, clientId });
    return 'done';
  }
  const takenAtMs = ports.nowMs();
  const taken = await ports.dispatches.take(run, takenAtMs);
  if (taken.kind === 'over') return 'done';
  if (taken.kind === 'held') {
    await ports.sendAgain(message, Math.max(1, Math.ceil((taken.untilMs - ports.nowMs()) / 1_000)));
    return 'done';
  }
  const round = new Round({ message, dispatch, run, heldAtMs, takenAtMs }, taken, ports);
  try {
    // Nothing leaves before the client can find it.
    if (run.round === 0) await ports.dispatches.list(dispatch);
    return await round.work();
  } catch (error) {
    // Without this, the next delivery would wait for the lease as a requeued message and never reach the dead-letter
    // queue.
    await ports.dispatches
      .handOver(run, round.progress, { round: run.round, dueMs: ports.nowMs() + ports.againAfterSeconds * 1_000 })
      .catch((cause: unknown) => {
        ports.log('dispatch.round_not_released', { dispatchId, clientId, error: errorName(cause) });
      });
    throw error;
  }
}

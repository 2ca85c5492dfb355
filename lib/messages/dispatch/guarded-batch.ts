import type { DispatchMessage } from '../job.ts';
import type { DispatchPorts } from './dispatch-ports.ts';
import { type GuardPorts, guardRun } from './guarded-run.ts';
import { type Placed, placedLate } from './slots.ts';

/** One batch, and the breaker of the platform. */
export interface GuardedBatch {
  /** While the platform is down: where each message waits for it. Undefined: they may be placed. */
  readonly heldBack: readonly Promise<Placed>[] | undefined;
  /** As the port; what comes of each call is remembered. */
  readonly send: DispatchPorts['send'];
  /** To be told when all calls have ended and what came of them is written. Never throws. */
  end(): Promise<void>;
}

/** As `guardRun`, of a batch of messages. Those past their time are settled whatever the platform does. */
export async function guardBatch(
  messages: readonly DispatchMessage[],
  ports: GuardPorts<DispatchMessage, DispatchMessage>,
): Promise<GuardedBatch> {
  const { heldBackSeconds, send, end } = await guardRun(messages[0], ports);
  if (heldBackSeconds === undefined) return { heldBack: undefined, send, end };
  ports.log('dispatch.platform_down', { count: messages.length });
  const heldBack = messages.map(async (message): Promise<Placed> => {
    const delaySeconds = heldBackSeconds();
    return placedLate(message, ports.nowMs()) ?? { kind: 'later', message, delaySeconds };
  });
  return { heldBack, send, end };
}

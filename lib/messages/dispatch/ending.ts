import { present } from '../../keys/present.ts';
import { count } from '../../observe/metrics.ts';
import type { ServiceEvent } from '../../webhooks/event.ts';
import { type DispatchMessage, dispatchIdOf } from '../job.ts';
import { type Claim, keyOf, provenByReceipt, type SettledState, type Settlement, type Taken } from './claim.ts';
import { completedEvent } from './completed-event.ts';
import type { DispatchPorts } from './dispatch-ports.ts';
import { type Addressed, messageEvent, outcomeEvent } from './message-event.ts';
import { isProvenTaken } from './proof.ts';

/** How one delivery ended: acknowledged or to be delivered again, what the platform took, what the client is to be told. */
export interface Ending {
  readonly acknowledged: boolean;
  readonly events: readonly ServiceEvent[];
  readonly taken?: Taken & { readonly dispatchId: string };
  /** It left, and the platform is to tell at once what becomes of it. */
  readonly receiptExpected?: true;
  /** It was taken, and its job had not sent anything since it was parked. */
  readonly endsPause?: true;
}

export const acknowledged: Ending = { acknowledged: true, events: [] };
export const deliverAgain: Ending = { acknowledged: false, events: [] };

/** Settles a claim for good, unless a receipt says that the platform has taken the message. */
export async function settle(
  message: DispatchMessage,
  at: string,
  found: Settlement,
  ports: DispatchPorts,
): Promise<Ending> {
  const proven = found.state === 'unknown' && (await isProvenTaken(message, ports));
  const settlement = proven ? provenByReceipt : found;
  const settled = await ports.claims.settle(keyOf(message), at, settlement);
  // Not settled: somebody settled or released it meanwhile; the next delivery sees what it is now.
  if (!settled) return deliverAgain;
  reportSettled(message, settlement, ports);
  // A receipt that came meanwhile has met a claim that a late batch record vouched for, and left it to whoever settles it.
  const provenNow = settlement.state === 'unknown' && (await ports.doubts.hasReceipt(keyOf(message)));
  return ended(message, provenNow ? provenByReceipt : settlement, ports);
}

const metricOf = {
  sent: 'MessagesSent',
  failed: 'MessagesFailed',
  expired: 'MessagesExpired',
  unknown: 'MessagesUnknown',
} as const satisfies Record<SettledState, string>;

/** Once for every settled outcome: by the run whose write made it one. */
export function reportSettled(
  message: DispatchMessage,
  { state, code }: { readonly state: SettledState; readonly code: string | undefined },
  ports: DispatchPorts,
): void {
  count(metricOf[state]);
  ports.log(`dispatch.${state}`, { dispatchId: dispatchIdOf(message), code });
}

/** A message whose claim says how it ended. */
export function ended(message: DispatchMessage, outcome: Settlement | Claim, ports: DispatchPorts): Ending {
  const event = outcomeEvent(addressed(message), outcome, ports.nowMs());
  return telling(message, [event, ...completed(message, outcome.state, ports)]);
}

/** A message that the platform took. */
export function endedTaken(message: DispatchMessage, { held, platformMessageId }: Taken, ports: DispatchPorts): Ending {
  const told = { timestampMs: ports.nowMs(), code: held, platformMessageId };
  const event = held === undefined ? undefined : messageEvent('message.held', addressed(message), present(told));
  return telling(message, [event, ...completed(message, held === undefined ? 'sent' : 'held', ports)]);
}

/** With a message that is alone its job has ended (D41). */
function completed(message: DispatchMessage, state: Claim['state'] | 'held', ports: DispatchPorts): ServiceEvent[] {
  return message.alone ? [completedEvent(message, { [state]: 1 }, ports.nowMs())] : [];
}

/** The events of a batch, which has messages of several requests, are queued together: each says itself whose it is. */
function telling({ correlationId }: DispatchMessage, events: readonly (ServiceEvent | undefined)[]): Ending {
  const told = events.filter((event) => event !== undefined).map((event) => ({ ...event, correlationId }));
  return { acknowledged: true, events: told };
}

function addressed(message: DispatchMessage): Addressed {
  const { to, recipient } = message.request;
  return { ...message, to: to ?? recipient };
}

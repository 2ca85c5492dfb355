import { count } from '../../observe/metrics.ts';
import type { DeliverPorts, SwitchOffReason } from './deliver-ports.ts';
import { afterRound, type DeliveryState, isHopeless, type Round, unnotifiedFailingSinceMs } from './delivery-state.ts';
import { failingEvent } from './failing-event.ts';
import { freshPending, type Pending } from './pending.ts';
import { type Failure, jointFailure } from './post-result.ts';
import { allEnded, type EndedPost, logEvent } from './posts.ts';
import { nextDueMs } from './retry.ts';

export function roundOf(ended: readonly EndedPost[], ...dues: readonly (number | undefined)[]): Round {
  const known = dues.filter((dueMs) => dueMs !== undefined);
  const failedUnder = ended.flatMap(({ verdict, receiver }) => (verdict.kind === 'failed' ? receiver.version : []));
  return {
    delivered: ended.some(({ verdict }) => verdict.kind === 'delivered'),
    failure: jointFailure(ended.flatMap(({ verdict }) => (verdict.kind === 'failed' ? verdict : []))),
    dueMs: known.length === 0 ? undefined : Math.min(...known),
    ...(failedUnder.length === 0 ? {} : { triedVersion: Math.max(...failedUnder) }),
  };
}

/** Puts each event at its next place in the backlog, or abandons it, then calls `moved`. Returns the due times. */
export async function rescheduleFailed(
  ended: readonly EndedPost[],
  moved: (pending: Pending) => void | Promise<void>,
  ports: DeliverPorts,
): Promise<readonly number[]> {
  const dues: number[] = [];
  await allEnded(
    ended.map(async ({ pending, verdict }) => {
      if (verdict.kind !== 'failed') return;
      const next = nextAttempt(pending, verdict, ports);
      if (next?.dueMs === pending.dueMs) return void dues.push(next.dueMs);
      if (next !== undefined) {
        await ports.list.put(next);
        dues.push(next.dueMs);
      }
      await moved(pending);
    }),
  );
  return dues;
}

function nextAttempt(pending: Pending, failure: Failure, ports: DeliverPorts): Pending | undefined {
  const nowMs = ports.nowMs();
  // An attempt before its time, after a PUT, is one more and does not count: the 27 hours of attempts remain (D34).
  if (pending.dueMs > nowMs) return { ...pending, dueMs: Math.max(pending.dueMs, nowMs + (failure.retryAfterMs ?? 0)) };
  const attempts = pending.attempts + 1;
  const dueMs = nextDueMs({ attempts, nowMs, ...failure }, ports.random());
  if (dueMs !== undefined) return { ...pending, attempts, dueMs };
  abandon({ ...pending, attempts }, 'attempts', ports);
  return undefined;
}

/** The event stays recorded, and an operator can send it again. */
export function abandon({ event, attempts }: Pending, code: 'attempts' | 'time', ports: DeliverPorts): void {
  count('WebhookEventsAbandoned');
  logEvent(ports, 'webhook.abandoned', event, { attempt: attempts, code });
}

/**
 * Switches off a receiver that is gone or hopeless. Returns false for others, or when the configuration has changed
 * since these posts.
 */
export async function switchOffReceiver(
  ended: readonly EndedPost[],
  state: DeliveryState,
  ports: DeliverPorts,
): Promise<boolean> {
  const gone = ended.find(({ verdict }) => verdict.kind === 'gone');
  if (gone !== undefined) return await switchOff(gone, 'gone', ports);
  const failed = ended.findLast(({ verdict }) => verdict.kind === 'failed');
  const nowMs = ports.nowMs();
  if (failed === undefined || !isHopeless(afterRound(state, roundOf(ended), nowMs), nowMs)) return false;
  return await switchOff(failed, 'failing', ports);
}

async function switchOff(
  { pending, receiver }: EndedPost,
  reason: SwitchOffReason,
  ports: DeliverPorts,
): Promise<boolean> {
  const { clientId } = pending.event;
  const off = await ports.receivers.switchOff(clientId, receiver.version, reason);
  if (off) {
    count('WebhooksSwitchedOff');
    ports.log('webhook.switched_off', { clientId, code: reason });
  }
  return off;
}

/**
 * Records and lists the event that tells a client of its failing receiver, once its run of failures is long enough. The
 * returned round notes it; only a crash before that write repeats it, with the same id.
 */
export async function notifyFailing(
  round: Round,
  { ended, state }: { readonly ended: readonly EndedPost[]; readonly state: DeliveryState },
  ports: DeliverPorts,
): Promise<Round> {
  const failed = ended.filter(({ verdict }) => verdict.kind === 'failed');
  const last = failed.at(-1);
  const nowMs = ports.nowMs();
  const sinceMs = unnotifiedFailingSinceMs(afterRound(state, round, nowMs), nowMs);
  if (sinceMs === undefined || !last?.receiver.wanted.has('webhook.failing')) return round;
  const pending = freshPending(failingEvent(last.pending.event.clientId, sinceMs), nowMs);
  const noted = { ...round, notifiedFailingSinceMs: sinceMs };
  // An earlier run crashed after it had stored the event, and this post of it has failed too.
  if (failed.some((post) => post.pending.event.id === pending.event.id)) return noted;
  // A receiver that refuses only this kind would cause the next such event with each.
  if (failed.every((post) => post.pending.event.type === pending.event.type)) return round;
  await ports.records.record(pending.event);
  await ports.list.put(pending);
  return { ...noted, dueMs: pending.dueMs };
}

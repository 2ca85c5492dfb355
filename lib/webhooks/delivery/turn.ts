import { correlated } from '../../observe/correlation.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import type { ServiceEvent } from '../event.ts';
import type { DeliverPorts, Receiver } from './deliver-ports.ts';
import { type DeliveryState, leaseMs, needsProbe, postTimeoutMs, widthOf } from './delivery-state.ts';
import { type Pending, payloadOf } from './pending.ts';
import { sign } from './signature.ts';
import { type DeliveryVerdict, verdictOn } from './verdict.ts';

export interface Waiting {
  readonly messageId: string;
  readonly pending: Pending;
}

/** The events of one client that one run may post now. */
export interface Turn {
  readonly clientId: number;
  readonly receiver: Receiver;
  readonly due: readonly Waiting[];
  readonly done: (waiting: Waiting) => void;
}

export interface EndedPost {
  readonly waiting: Waiting;
  readonly verdict: DeliveryVerdict;
}

/** What a post may still need when it is started: its time-out, and to say how it ended. */
const endingMs = postTimeoutMs + 10_000;
/** A holder starts no post that could outlast its slot. */
const startMs = leaseMs - postTimeoutMs - 2_000;

/**
 * Posts the events of a turn, which is in possession of a slot, side by side as far as the receiver is known to take that; while it
 * fails or is unknown, the first alone. None is started once one was not delivered, or when the time of the slot or of the
 * function ends. Delivered ones are done. Returns the posts that ended.
 */
export async function postDue(turn: Turn, state: DeliveryState, ports: DeliverPorts): Promise<EndedPost[]> {
  const startedMs = ports.nowMs();
  const ended: EndedPost[] = [];
  const open = turn.due.values();
  const mayStart = () =>
    ended.every(({ verdict }) => verdict.kind === 'delivered') &&
    ports.nowMs() - startedMs <= startMs &&
    ports.remainingMs() >= endingMs;
  const postNext = async (): Promise<boolean> => {
    const next = mayStart() ? open.next() : undefined;
    if (next === undefined || next.done) return false;
    const waiting = next.value;
    const verdict = await attempt(waiting.pending, turn.receiver, ports);
    ended.push({ waiting, verdict });
    if (verdict.kind === 'delivered') turn.done(waiting);
    return true;
  };
  if (needsProbe(state)) await postNext();
  await allEnded(
    Array.from({ length: widthOf(state) }, async () => {
      while (await postNext());
    }),
  );
  return ended;
}

/** Waits for all, then throws what the first of those that failed threw: nothing is under way any more. */
export async function allEnded(work: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(work);
  await Promise.all(work);
}

async function attempt(
  { event, attempts }: Pending,
  receiver: Receiver,
  ports: DeliverPorts,
): Promise<DeliveryVerdict> {
  const startedMs = ports.nowMs();
  const timestampSeconds = Math.floor(startedMs / 1_000);
  const body = payloadOf(event);
  const signed = { secrets: receiver.secrets, webhookId: event.id, timestampSeconds, body };
  const answer = await ports.post({
    url: receiver.url,
    headers: {
      'webhook-id': event.id,
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': sign(signed),
    },
    body,
    totalMs: postTimeoutMs,
  });
  const verdict = verdictOn(answer, ports.nowMs());
  count(verdict.kind === 'delivered' ? 'WebhookDeliveries' : 'WebhookFailures');
  tell(ports, `webhook.${verdict.kind}`, event, {
    attempt: attempts + 1,
    code: verdict.kind === 'failed' ? verdict.code : undefined,
    durationMs: ports.nowMs() - startedMs,
  });
  return verdict;
}

/** A log line about one event, with the id of the request that it came from. */
export function tell(ports: DeliverPorts, name: LogEvent, event: ServiceEvent, facts: LogFacts): void {
  const { clientId, id: eventId, type: eventType, correlationId } = event;
  correlated(correlationId, () => ports.log(name, { clientId, eventId, eventType, ...facts }));
}

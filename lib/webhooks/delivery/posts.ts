import { correlated } from '../../observe/correlation.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import type { ServiceEvent } from '../event.ts';
import type { DeliverPorts, Receiver } from './deliver-ports.ts';
import { type DeliveryState, needsProbe, postTimeoutMs, widthOf } from './delivery-state.ts';
import { type Pending, payloadOf } from './pending.ts';
import { type PostResult, postResultOf } from './post-result.ts';
import { sign } from './signature.ts';

/** An offered event may be posted now to its receiver. */
export interface Offer {
  readonly pending: Pending;
  readonly receiver: Receiver;
}

export interface EndedPost extends Offer {
  readonly verdict: PostResult;
}

export interface Posting {
  readonly offers: AsyncIterator<Offer>;
  readonly hasTime: () => boolean;
  readonly delivered: (pending: Pending) => void | Promise<void>;
}

/**
 * Posts concurrently, within the receiver's width; a failing or unknown receiver gets a single probe first. It stops
 * after the first undelivered post, or when time is over.
 */
export async function postConcurrently(
  { offers, hasTime, delivered }: Posting,
  state: DeliveryState,
  ports: DeliverPorts,
): Promise<{ readonly ended: readonly EndedPost[]; readonly unposted: number }> {
  const ended: EndedPost[] = [];
  let unposted = 0;
  const mayStart = () => ended.every(({ verdict }) => verdict.kind === 'delivered') && hasTime();
  const postNext = async (): Promise<boolean> => {
    const next = mayStart() ? await offers.next() : undefined;
    if (next === undefined || next.done) return false;
    const { pending, receiver } = next.value;
    // Another post may have failed during this read.
    if (!mayStart()) {
      unposted += 1;
      return false;
    }
    const verdict = await attempt(pending, receiver, ports);
    ended.push({ pending, receiver, verdict });
    if (verdict.kind === 'delivered') await delivered(pending);
    return true;
  };
  if (needsProbe(state)) await postNext();
  await allEnded(
    Array.from({ length: widthOf(state) }, async () => {
      while (await postNext());
    }),
  );
  return { ended, unposted };
}

/** Waits for all, then throws the first failure: nothing is under way any more. */
export async function allEnded(work: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(work);
  await Promise.all(work);
}

async function attempt({ event, attempts }: Pending, receiver: Receiver, ports: DeliverPorts): Promise<PostResult> {
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
  const verdict = postResultOf(answer, ports.nowMs());
  count(verdict.kind === 'delivered' ? 'WebhookDeliveries' : 'WebhookFailures');
  logEvent(ports, `webhook.${verdict.kind}`, event, {
    attempt: attempts + 1,
    code: verdict.kind === 'failed' ? verdict.code : undefined,
    durationMs: ports.nowMs() - startedMs,
  });
  return verdict;
}

export function logEvent(ports: DeliverPorts, name: LogEvent, event: ServiceEvent, facts: LogFacts): void {
  const { clientId, id: eventId, type: eventType, correlationId, data } = event;
  const dispatchId = 'dispatch_id' in data ? data.dispatch_id : undefined;
  const messageId = 'message_id' in data ? data.message_id : undefined;
  const about = { dispatchId, messageId };
  correlated(correlationId, () => ports.log(name, { clientId, eventId, eventType, ...about, ...facts }));
}

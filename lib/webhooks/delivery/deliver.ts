import { correlated } from '../../observe/correlation.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import { nameOf } from '../../observe/name-of.ts';
import type { ServiceEvent } from '../event.ts';
import type { DeliverPorts, Receiver, SwitchOffReason } from './deliver-ports.ts';
import {
  admitted,
  afterFailure,
  afterSuccess,
  type DeliveryState,
  isHopeless,
  leaseMs,
  postTimeoutMs,
  released,
} from './delivery-state.ts';
import { decodeQueued, type Pending, payloadOf } from './pending.ts';
import { deliveryLimitMs, hopSeconds, nextDueMs, yieldSeconds } from './retry.ts';
import { sign } from './signature.ts';
import { type DeliveryVerdict, type Failure, verdictOn } from './verdict.ts';

/** One delivery of a queue message. */
export interface QueueDelivery {
  readonly messageId: string;
  readonly body: string;
}

interface Waiting {
  readonly messageId: string;
  readonly pending: Pending;
}

/** What a post may still need when it is started: its time-out, and to say how it ended. */
const endingMs = postTimeoutMs + 10_000;
/** A holder starts no post that could outlast its slot. */
const startMs = leaseMs - postTimeoutMs - 2_000;

/**
 * Works off one batch of the event queue and returns the ids of what must be delivered again. Each event is recorded,
 * then posted, or put back on the queue until its time; clients beside each other, a client's events one after another.
 * No event is lost before its last attempt; a repeated one has its `webhook-id` (D34, R43).
 */
export async function deliverBatch(deliveries: readonly QueueDelivery[], ports: DeliverPorts): Promise<string[]> {
  const again: string[] = [];
  const recorded = await Promise.all(
    deliveries.map((delivery) =>
      recordedFrom(delivery, ports).catch((error: unknown) => {
        ports.log('webhook.not_recorded', { error: nameOf(error) });
        again.push(delivery.messageId);
        return undefined;
      }),
    ),
  );
  const byClient = Map.groupBy(
    recorded.filter((waiting) => waiting !== undefined),
    ({ pending }) => pending.event.clientId,
  );
  const left = await Promise.all([...byClient].map(([clientId, waiting]) => deliverTo(clientId, waiting, ports)));
  return [...again, ...left.flat()];
}

async function recordedFrom({ messageId, body }: QueueDelivery, ports: DeliverPorts): Promise<Waiting> {
  const { isFresh, pending } = decodeQueued(body, ports.nowMs());
  if (isFresh) await ports.records.record(pending.event);
  return { messageId, pending };
}

/** The events of one client: returns the messages that are not done and not back on the queue. */
async function deliverTo(clientId: number, waiting: readonly Waiting[], ports: DeliverPorts): Promise<string[]> {
  const open = new Set(waiting.map(({ messageId }) => messageId));
  const done = ({ messageId }: Waiting) => open.delete(messageId);
  try {
    const receiver = await ports.receivers.find(clientId);
    // Nothing waits for a receiver that is not there; what is recorded can be sent again by hand.
    if (receiver === undefined) return [];
    const due: Waiting[] = [];
    for (const each of waiting) {
      if (isGivenUp(each.pending, ports)) done(each);
      else if (each.pending.dueMs <= ports.nowMs()) due.push(each);
      else {
        await putBack(each.pending, ports);
        done(each);
      }
    }
    if (due.length > 0) await deliverDue({ clientId, receiver, due, done }, ports);
  } catch (error) {
    ports.log('webhook.error', { clientId, count: open.size, error: nameOf(error) });
  }
  return [...open];
}

interface Turn {
  readonly clientId: number;
  readonly receiver: Receiver;
  readonly due: readonly Waiting[];
  readonly done: (waiting: Waiting) => void;
}

async function deliverDue(turn: Turn, ports: DeliverPorts): Promise<void> {
  const { clientId, due, done } = turn;
  const owner = ports.newOwner();
  const startedMs = ports.nowMs();
  const entered = await ports.states.change(clientId, (state) => admitted(state, owner, startedMs));
  const mayStart = () => ports.nowMs() - startedMs <= startMs && ports.remainingMs() >= endingMs;
  let delivered = 0;
  let verdict: DeliveryVerdict | undefined;
  for (const next of entered.changed ? due : []) {
    if (!mayStart()) break;
    verdict = await attempt(next.pending, turn, ports);
    if (verdict.kind !== 'delivered') break;
    done(next);
    delivered += 1;
  }
  const state = entered.changed ? await leave({ clientId, owner, delivered, verdict }, ports) : entered.state;
  const rest = due.slice(delivered);
  const reason = reasonToSwitchOff(verdict, state, ports.nowMs());
  if (reason !== undefined && (await switchOff(turn, reason, ports))) {
    // They stay recorded; nothing waits for a receiver that is off.
    for (const each of rest) done(each);
    return;
  }
  if (verdict?.kind === 'failed') {
    const failed = rest.shift() as Waiting;
    await tryAgainLater(failed.pending, verdict, ports);
    done(failed);
  }
  for (const each of rest) {
    await makeWay(each.pending, state, ports);
    done(each);
  }
}

async function attempt(
  { event, attempts }: Pending,
  { receiver }: Turn,
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

interface Leaving {
  readonly clientId: number;
  readonly owner: string;
  readonly delivered: number;
  readonly verdict: DeliveryVerdict | undefined;
}

async function leave({ clientId, owner, delivered, verdict }: Leaving, ports: DeliverPorts): Promise<DeliveryState> {
  const nowMs = ports.nowMs();
  const { state } = await ports.states.change(clientId, (before) => {
    const known = delivered > 0 ? afterSuccess(before, nowMs) : before;
    return released(verdict?.kind === 'failed' ? afterFailure(known, verdict, nowMs) : known, owner);
  });
  return state;
}

function reasonToSwitchOff(
  verdict: DeliveryVerdict | undefined,
  state: DeliveryState,
  nowMs: number,
): SwitchOffReason | undefined {
  if (verdict?.kind === 'gone') return 'gone';
  return verdict?.kind === 'failed' && isHopeless(state, nowMs) ? 'failing' : undefined;
}

/** False when the configuration was changed meanwhile: the verdict was on another one. */
async function switchOff({ clientId, receiver }: Turn, reason: SwitchOffReason, ports: DeliverPorts): Promise<boolean> {
  const off = await ports.receivers.switchOff(clientId, receiver.version, reason);
  if (off) {
    count('WebhooksSwitchedOff');
    ports.log('webhook.switched_off', { clientId, code: reason });
  }
  return off;
}

async function tryAgainLater(pending: Pending, failure: Failure, ports: DeliverPorts): Promise<void> {
  const attempts = pending.attempts + 1;
  const dueMs = nextDueMs({ attempts, nowMs: ports.nowMs(), ...failure }, ports.random());
  if (dueMs === undefined) abandon({ ...pending, attempts }, 'attempts', ports);
  else await putBack({ ...pending, attempts, dueMs, yields: 0 }, ports);
}

/** No attempt was made and none is counted: back until the client's pause is over, and a little longer by chance. */
async function makeWay(pending: Pending, state: DeliveryState, ports: DeliverPorts): Promise<void> {
  const afterMs = Math.max(ports.nowMs(), state.pausedUntilMs);
  const failing = state.consecutiveFailures > 0;
  const dueMs = afterMs + yieldSeconds({ yields: pending.yields, failing }, ports.random()) * 1_000;
  await putBack({ ...pending, dueMs, yields: pending.yields + 1 }, ports);
}

async function putBack(pending: Pending, ports: DeliverPorts): Promise<void> {
  await ports.queue.sendLater(pending, hopSeconds(pending.dueMs, ports.nowMs()));
}

function isGivenUp(pending: Pending, ports: DeliverPorts): boolean {
  if (ports.nowMs() - pending.firstSeenMs < deliveryLimitMs) return false;
  abandon(pending, 'time', ports);
  return true;
}

/** It stays recorded, and can be sent again by hand. */
function abandon({ event, attempts }: Pending, code: 'attempts' | 'time', ports: DeliverPorts): void {
  count('WebhookEventsAbandoned');
  tell(ports, 'webhook.abandoned', event, { attempt: attempts, code });
}

/** A log line about one event, with the id of the request that it came from. */
function tell(ports: DeliverPorts, name: LogEvent, event: ServiceEvent, facts: LogFacts): void {
  const { clientId, id: eventId, type: eventType, correlationId } = event;
  correlated(correlationId, () => ports.log(name, { clientId, eventId, eventType, ...facts }));
}

import { count } from '../../observe/metrics.ts';
import { nameOf } from '../../observe/name-of.ts';
import type { DeliverPorts, SwitchOffReason } from './deliver-ports.ts';
import {
  admitted,
  afterFailure,
  afterSuccess,
  type DeliveryState,
  isFast,
  isHopeless,
  released,
} from './delivery-state.ts';
import { decodeQueued, type Pending } from './pending.ts';
import { deliveryLimitMs, hopSeconds, nextDueMs, yieldSeconds } from './retry.ts';
import { allEnded, type EndedPost, postDue, type Turn, tell, type Waiting } from './turn.ts';
import { type Failure, jointFailure } from './verdict.ts';

/** One delivery of a queue message. */
export interface QueueDelivery {
  readonly messageId: string;
  readonly body: string;
}

/**
 * Works off one batch of the event queue and returns the ids of what must be delivered again. Each event is recorded,
 * then posted, or put back on the queue until its time; clients beside each other, and so the events of one whose
 * receiver is well. No event is lost before its last attempt; a repeated one has its `webhook-id` (D34, R43).
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
    const early: Waiting[] = [];
    for (const each of waiting) {
      // What is no longer wanted stays recorded, as it does without a receiver.
      if (!receiver.wanted.has(each.pending.event.type) || isGivenUp(each.pending, ports)) done(each);
      else if (each.pending.dueMs <= ports.nowMs()) due.push(each);
      else early.push(each);
    }
    await allEnded(
      early.map(async (each) => {
        await putBack(each.pending, ports);
        done(each);
      }),
    );
    if (due.length > 0) await deliverDue({ clientId, receiver, due, done }, ports);
  } catch (error) {
    ports.log('webhook.error', { clientId, count: open.size, error: nameOf(error) });
  }
  return [...open];
}

async function deliverDue(turn: Turn, ports: DeliverPorts): Promise<void> {
  const { clientId, due, done } = turn;
  const owner = ports.newOwner();
  const entered = await ports.states.change(clientId, (before) => admitted(before, owner, ports.nowMs()));
  const startedMs = ports.nowMs();
  const ended = entered.changed ? await postDue(turn, entered.state, ports) : [];
  const state = entered.changed ? await leave({ clientId, owner, startedMs, ended }, ports) : entered.state;
  const failed = ended.filter((post) => post.verdict.kind === 'failed');
  const reason = reasonToSwitchOff(ended, state, ports.nowMs());
  const rest = due.filter((waiting) => !ended.some((post) => post.waiting === waiting && post.verdict.kind !== 'gone'));
  if (reason !== undefined && (await switchOff(turn, reason, ports))) {
    // They stay recorded; nothing waits for a receiver that is off.
    for (const each of due) done(each);
    return;
  }
  await allEnded([
    ...failed.map(async ({ waiting, verdict }) => {
      await tryAgainLater(waiting.pending, verdict as Failure, ports);
      done(waiting);
    }),
    ...rest.map(async (waiting) => {
      await makeWay(waiting.pending, state, ports);
      done(waiting);
    }),
  ]);
}

interface Leaving {
  readonly clientId: number;
  readonly owner: string;
  readonly startedMs: number;
  readonly ended: readonly EndedPost[];
}

async function leave({ clientId, owner, startedMs, ended }: Leaving, ports: DeliverPorts): Promise<DeliveryState> {
  const nowMs = ports.nowMs();
  const failure = jointFailure(ended.flatMap(({ verdict }) => (verdict.kind === 'failed' ? verdict : [])));
  const { state } = await ports.states.change(clientId, (before) => {
    const known = ended.some(({ verdict }) => verdict.kind === 'delivered') ? afterSuccess(before, nowMs) : before;
    const left = released(failure === undefined ? known : afterFailure(known, failure, nowMs), owner);
    return ended.length === 0 ? left : { ...left, turnMs: nowMs - startedMs };
  });
  return state;
}

function reasonToSwitchOff(
  ended: readonly EndedPost[],
  state: DeliveryState,
  nowMs: number,
): SwitchOffReason | undefined {
  if (ended.some(({ verdict }) => verdict.kind === 'gone')) return 'gone';
  return ended.some(({ verdict }) => verdict.kind === 'failed') && isHopeless(state, nowMs) ? 'failing' : undefined;
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

/**
 * No attempt was made and none is counted: back until the client's pause is over, and a little longer by chance. Beside a
 * receiver that is fast a place is free within moments, and a delay of the queue has whole seconds: back at once.
 */
async function makeWay(pending: Pending, state: DeliveryState, ports: DeliverPorts): Promise<void> {
  const nowMs = ports.nowMs();
  // It says nothing about how long the event waits, and must not lengthen the waits that come when the receiver fails.
  if (isFast(state, nowMs)) return await putBack({ ...pending, dueMs: nowMs }, ports);
  const { yields } = pending;
  const failing = state.consecutiveFailures > 0;
  const dueMs = Math.max(nowMs, state.pausedUntilMs) + yieldSeconds({ yields, failing }, ports.random()) * 1_000;
  await putBack({ ...pending, dueMs, yields: yields + 1 }, ports);
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

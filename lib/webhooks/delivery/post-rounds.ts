import { maxDelaySeconds } from '../../aws/queue-body.ts';
import type { DeliverPorts } from './deliver-ports.ts';
import { type DeliveryState, isPaused, isRestarted, type Round } from './delivery-state.ts';
import { abandon, notifyFailing, rescheduleFailed, roundOf, switchOffReceiver } from './failed-posts.ts';
import type { Pending } from './pending.ts';
import { allEnded, type Offer, postConcurrently } from './posts.ts';
import { deliveryLimitMs } from './retry.ts';

/** The holder is the run that has the lease of a client. */
export interface Holder {
  readonly clientId: number;
  readonly hasTime: () => boolean;
  /** The run calls this for each fresh event that needs no further run. */
  readonly done: (pending: Pending) => void;
}

/** Posts fresh events. Failed and unposted ones are in the list afterwards. */
export async function postFresh(
  { hasTime, done }: Holder,
  { offers, state }: { readonly offers: readonly Offer[]; readonly state: DeliveryState },
  ports: DeliverPorts,
): Promise<Round> {
  const { ended } = await postConcurrently({ offers: inOrder(offers), hasTime, delivered: done }, state, ports);
  if (await switchOffReceiver(ended, state, ports)) {
    // The events stay recorded; none waits for a receiver that is off.
    for (const { pending } of offers) done(pending);
    return roundOf(ended);
  }
  const rest = offers
    .map(({ pending }) => pending)
    .filter((pending) => !ended.some((post) => post.pending === pending && post.verdict.kind !== 'gone'));
  await allEnded(rest.map(ports.list.put));
  const dues = await rescheduleFailed(ended, done, ports);
  return await notifyFailing(roundOf(ended, ...dues, ...rest.map(({ dueMs }) => dueMs)), { ended, state }, ports);
}

async function* inOrder(offers: readonly Offer[]): AsyncGenerator<Offer, undefined> {
  yield* offers;
}

interface Walk {
  /** All that waits is offered, due or not. */
  readonly isRestarted: boolean;
  isOver: boolean;
  /** The first of the others is due then. */
  dueMs: number | undefined;
}

/**
 * Posts the due events of the list in order, after a PUT all of them. Delivered ones leave it; failed ones get their
 * next place.
 */
export async function postBacklog(holder: Holder, state: DeliveryState, ports: DeliverPorts): Promise<Round> {
  const { clientId, hasTime } = holder;
  const nowMs = ports.nowMs();
  // A pause needs a receiver: without one the list is emptied at once.
  if (isPaused(state, nowMs) && (await ports.receivers.find(clientId)) !== undefined) return roundOf([], nowMs);
  const walk: Walk = { isRestarted: isRestarted(state), isOver: false, dueMs: undefined };
  const offers = listed(holder, walk, ports);
  const { ended, unposted } = await postConcurrently({ offers, hasTime, delivered: ports.list.remove }, state, ports);
  // After a failure it is unknown whether more is due, so one more offer is read, and not posted.
  if (!walk.isOver) await offers.next();
  const isLeft = !walk.isOver || unposted > 0 || ended.some(({ verdict }) => verdict.kind === 'gone');
  if (await switchOffReceiver(ended, state, ports)) return roundOf(ended, nowMs);
  const dues = await rescheduleFailed(ended, ports.list.remove, ports);
  const round = roundOf(ended, ...dues, walk.dueMs, isLeft ? nowMs : undefined);
  const tried = isLeft || round.triedVersion !== undefined ? round : { ...round, triedVersion: state.seenVersion };
  return await notifyFailing(tried, { ended, state }, ports);
}

/**
 * Yields the events of a client's list that the walk offers, with its configuration read for each page. Removes
 * unwanted and expired events.
 */
async function* listed(
  { clientId, hasTime }: Holder,
  walk: Walk,
  ports: DeliverPorts,
): AsyncGenerator<Offer, undefined> {
  for await (const page of ports.list.pages(clientId)) {
    if (!hasTime()) return;
    const receiver = await ports.receivers.find(clientId);
    const nowMs = ports.nowMs();
    const readable = page.filter((pending) => pending !== undefined);
    if (readable.length < page.length) {
      ports.log('webhook.error', { clientId, count: page.length - readable.length, error: 'Unreadable' });
      walk.dueMs = nowMs + maxDelaySeconds * 1_000;
    }
    const wanted = readable.filter(({ event }) => receiver?.wanted.has(event.type));
    const isEarly = ({ dueMs }: Pending) => !walk.isRestarted && dueMs > nowMs;
    const due = wanted.filter((pending) => !isEarly(pending));
    const late = due.filter(({ firstSeenMs }) => nowMs - firstSeenMs >= deliveryLimitMs);
    for (const pending of late) abandon(pending, 'time', ports);
    const unwanted = readable.filter((pending) => !wanted.includes(pending));
    await allEnded([...unwanted, ...late].map(ports.list.remove));
    if (receiver !== undefined) {
      for (const pending of due) if (!late.includes(pending)) yield { pending, receiver };
    }
    const early = wanted.find(isEarly);
    if (early !== undefined) {
      walk.dueMs = Math.min(early.dueMs, walk.dueMs ?? early.dueMs);
      break;
    }
  }
  walk.isOver = true;
}

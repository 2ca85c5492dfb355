import { count } from '../../observe/metrics.ts';
import type { ServiceEvent } from '../../webhooks/event.ts';
import { aboutDispatch } from '../dispatch/head.ts';
import type { DispatchStop } from '../dispatch/item.ts';
import { endOfTry } from '../dispatch/item-state.ts';
import { slicesIn } from '../dispatch/slice.ts';
import { messageEvent } from '../send/message-event.ts';
import { letWait } from './damaged-slices.ts';
import type { DispatchInHand } from './dispatch-in-hand.ts';
import { floorOf } from './entry-progress.ts';
import type { OpenSlice } from './open-slice.ts';
import type { SenderPorts } from './sender-ports.ts';

/** So many are told before the floor moves, by requests side by side: ten thousand within two seconds. */
const slicesAtOnce = 200;
const eventsAtOnce = 500;
const metricOf = { failed: 'MessagesFailed', expired: 'MessagesExpired' } as const;

/**
 * Tells the rest of a stopped dispatch, without writes of slices: the stop has ended all that is not under way
 * (item-writes.ts, `reckon`). Slices under way stay open. `moved` follows each part.
 */
export async function tellStoppedRest(
  hand: DispatchInHand,
  moved: () => Promise<void>,
  ports: SenderPorts,
): Promise<void> {
  const { dispatchId, dispatch } = hand;
  const { slicesFrom, reckon } = ports.dispatches;
  const slices = await slicesFrom(dispatchId, floorOf(hand.entry), slicesIn(dispatch.head));
  const claimed = slices.filter(({ state }) => state === 'claimed');
  const underWay = await reckon(dispatchId, Object.fromEntries(claimed.map((each) => [each.key.slice, each.try])));
  const state = { ...hand.state, underWay };
  hand.state = state;
  const found = new Map(slices.map((slice) => [slice.key.slice, slice]));
  // A slice that has ended for good is met by a run of its own, which tells it.
  const rest = hand.idle.filter(({ slice, try: tried }) => {
    const known = found.get(slice);
    if (known?.state === 'claimed' || (known !== undefined && known.try >= tried)) return false;
    return endOfTry(state, { slice, try: tried }) !== undefined;
  });
  for (let at = 0; at < rest.length; at += slicesAtOnce) {
    hand.over(await told(hand, rest.slice(at, at + slicesAtOnce), ports));
    await moved();
  }
}

/** Returns which slices are told: all but those whose recipients cannot be read. */
async function told(hand: DispatchInHand, slices: readonly OpenSlice[], ports: SenderPorts): Promise<number[]> {
  const { stop } = hand.state;
  if (stop === undefined) return [];
  const read: number[] = [];
  const events: ServiceEvent[] = [];
  for (const open of slices) {
    try {
      const own: ServiceEvent[] = [];
      for (const index of hand.indexesOf(open)) own.push(await eventOf(hand, { index, stop }, ports));
      events.push(...own);
      read.push(open.slice);
    } catch (error) {
      if (!letWait(hand, open, error, ports.process)) throw error;
    }
  }
  const lots = Math.ceil(events.length / eventsAtOnce);
  const lotAt = (at: number) => events.slice(at * eventsAtOnce, (at + 1) * eventsAtOnce);
  await Promise.all(Array.from({ length: lots }, (_, at) => ports.events.send(lotAt(at))));
  for (const _ of events) count(metricOf[stop.state]);
  return read;
}

async function eventOf(
  hand: DispatchInHand,
  { index, stop }: { readonly index: number; readonly stop: DispatchStop },
  ports: SenderPorts,
): Promise<ServiceEvent> {
  const { dispatchId, clientId, acceptedAtMs, correlationId } = hand.dispatch.head;
  const isErased = hand.state.erased?.has(index) === true;
  const { to } = isErased ? {} : await hand.recipient(index, ports);
  const message = { dispatchId, index, clientId, acceptedAtMs, about: aboutDispatch(hand.dispatch.head), to };
  const { state, code, reason } = stop;
  const facts = { timestampMs: ports.process.nowMs(), code, reason };
  return { ...messageEvent(`message.${state}`, message, facts), correlationId };
}

import { forEachConcurrently } from '../../aws/concurrently.ts';
import { count } from '../../observe/metrics.ts';
import type { EventSink, ServiceEvent } from '../../webhooks/event.ts';
import { aboutDispatch, type StoredRecipient } from '../dispatch/head.ts';
import type { Settlement } from '../dispatch/item.ts';
import { type Outcome, type Recorded, type Slice, sliceOf, sliceSize } from '../dispatch/slice.ts';
import type { Slices } from '../dispatch/slice-store.ts';
import type { StoredDispatch } from '../dispatch/whole-dispatch.ts';
import { messageEvent } from '../send/message-event.ts';
import type { DispatchRounds } from './dispatch-rounds.ts';

export interface EndPorts {
  readonly slices: Pick<Slices, 'endUncalled'>;
  readonly dispatches: Pick<DispatchRounds, 'recipientsFrom'>;
  readonly events: EventSink;
  readonly nowMs: () => number;
}

/** The owner is the same in every run, so that a repeated run finds its own endings and emits them again. */
const owner = 'fan-out';
const slicesAtOnce = 10;

/**
 * Recipients of a stopped dispatch end as it was stopped (D46, D53), without another opening `expired` (D56). Emits
 * their events first. A claimed slice stays with its worker.
 */
export async function endUnqueued(
  dispatch: StoredDispatch,
  { from, until, settlement }: { readonly from: number; readonly until: number; readonly settlement: Settlement },
  ports: EndPorts,
): Promise<void> {
  const addresses = await addressesOf(dispatch.head.dispatchId, { from, until }, ports);
  const firsts = Array.from({ length: Math.ceil((until - from) / sliceSize) }, (_, at) => from + at * sliceSize);
  await forEachConcurrently(firsts, slicesAtOnce, async (first) => {
    const ended = await endedSlice(dispatch, first, { settlement, nowMs: ports.nowMs() }, ports);
    if (ended === undefined) return;
    const endings = ended.outcomes.filter(isEnding);
    for (const { state } of endings) count(metricOf[state]);
    await ports.events.send(eventsOf(dispatch, ended, { addresses, nowMs: ports.nowMs() }));
  });
}

async function addressesOf(dispatchId: string, { from, until }: { from: number; until: number }, ports: EndPorts) {
  const addresses = new Map<number, string>();
  for (let index = from; index < until; ) {
    const recipients: readonly StoredRecipient[] = await ports.dispatches.recipientsFrom(dispatchId, index);
    if (recipients.length === 0) throw new Error('recipients of the dispatch are gone');
    for (const { to } of recipients) {
      if (to !== undefined) addresses.set(index, to);
      index += 1;
    }
  }
  return addresses;
}

async function endedSlice(
  { head }: StoredDispatch,
  first: number,
  { settlement, nowMs }: { readonly settlement: Settlement; readonly nowMs: number },
  { slices }: EndPorts,
): Promise<Slice | undefined> {
  const { dispatchId, total, keptUntilMs } = head;
  const size = Math.min(sliceSize, total - first);
  const key = sliceOf({ dispatchId, index: first });
  const claim = { key, try: 0, owner, atMs: nowMs, size, keptUntilMs };
  const outcomes = new Map(Array.from({ length: size }, (_, place): [number, Outcome] => [place, settlement]));
  return await slices.endUncalled(claim, outcomes);
}

const metricOf = { failed: 'MessagesFailed', expired: 'MessagesExpired' } as const;

type Ended = Extract<Recorded, { readonly state: 'failed' | 'expired' }>;

function isEnding(outcome: Recorded | undefined): outcome is Ended {
  return outcome?.state === 'failed' || outcome?.state === 'expired';
}

/** Emits the recorded outcome: a slice that ended `expired` may be met again after a stop. */
function eventsOf(
  { head }: StoredDispatch,
  { key, outcomes }: Slice,
  { addresses, nowMs }: { readonly addresses: ReadonlyMap<number, string>; readonly nowMs: number },
): ServiceEvent[] {
  const { dispatchId, clientId, acceptedAtMs, correlationId } = head;
  return outcomes.flatMap((outcome, place) => {
    if (!isEnding(outcome)) return [];
    const { state, code, reason } = outcome;
    const index = key.slice * sliceSize + place;
    const message = { dispatchId, index, clientId, acceptedAtMs, about: aboutDispatch(head), to: addresses.get(index) };
    const facts = { timestampMs: nowMs, code, reason };
    return [{ ...messageEvent(`message.${state}`, message, facts), correlationId }];
  });
}

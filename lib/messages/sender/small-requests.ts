import { correlated } from '../../observe/correlation.ts';
import { errorName } from '../../observe/error-name.ts';
import type { StraightDispatch } from '../accept/accepted-dispatches-store.ts';
import type { ComposePorts } from '../accept/composed-recipient.ts';
import type { CallFacts } from '../dispatch/call-facts.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import type { WakeSenders } from '../dispatch/sender-wake-queue.ts';
import type { Slice } from '../dispatch/slice.ts';
import { decodeSmallRequest, type SmallRequest } from '../dispatch/small-request-message.ts';
import type { RunHolds } from '../holds/run-holds.ts';
import { learningPace } from '../pace/learning-pace.ts';
import { batchLog } from '../send/batch-log.ts';
import { type GuardedRun, guardRun } from '../send/circuit-breaker-run.ts';
import { sendBudgetMs } from '../send/deadlines.ts';
import { partOf } from './entry-progress.ts';
import { sendersOf } from './number-parts.ts';
import type { LookAtNumber, NumberSight } from './number-sight-store.ts';
import { NumberView } from './number-view.ts';
import { PlaceTurns } from './place-turns.ts';
import type { Places } from './places-store.ts';
import type { SenderPorts, SliceHolds, SliceTryPorts } from './sender-ports.ts';
import { SliceRun } from './slice-run.ts';
import { notingSilence } from './slow-answers.ts';
import { type SmallRequestPorts, sendSmallRequest } from './small-request.ts';
import { SmallRequestInHand } from './small-request-in-hand.ts';
import { placesFor } from './small-request-places.ts';
import type { SmallRequestStore } from './small-request-store.ts';

export interface SmallRequestDelivery {
  readonly messageId: string;
  readonly body: string;
}

/** Every read and write rejects when the store cannot be reached. */
export interface SmallRequestsPorts extends SliceTryPorts, Pick<ComposePorts, 'compose'> {
  readonly dispatches: SliceTryPorts['dispatches'] &
    SmallRequestStore & {
      /** Begins a stored dispatch unless it was withdrawn. */
      begin(head: DispatchHead): Promise<'begun' | 'withdrawn'>;
      /** Lists and begins one that is claimed; is idempotent. */
      beginStraight(dispatch: StraightDispatch): Promise<unknown>;
    };
  readonly lookAt: LookAtNumber;
  readonly holds: SliceHolds;
  readonly paces: SenderPorts['paces'];
  readonly places: Pick<Places, 'take'>;
  readonly wake: WakeSenders;
  /** Counts the cost of an end that no receipt will report (D58). Is idempotent. */
  readonly countEnded: (facts: CallFacts, ended: readonly Slice[]) => Promise<void>;
}

interface Queued {
  readonly messageId: string;
  readonly hand: SmallRequestInHand;
  readonly size: number;
  /** Is unique for each run and delivery. */
  readonly owner: string;
}

interface NumberInHand {
  readonly view: NumberView;
  readonly senders: number;
  readonly guarded: GuardedRun;
  readonly holds: RunHolds;
}

/** The platform may take all of its time after the last call, and the outcome is written. */
const lastCallBeforeEndMs = sendBudgetMs + 2_000;

/**
 * Sends the requests of a batch, each at its places or by its number's sender. Returns the ids to deliver again (R18):
 * what is acknowledged has ended and is told, or is in the backlog.
 */
export async function sendSmallRequests(
  deliveries: readonly SmallRequestDelivery[],
  given: SmallRequestsPorts,
): Promise<string[]> {
  const lines = batchLog(given.process);
  const ports = { ...given, process: { ...given.process, log: lines.log } };
  const queued = deliveries.flatMap(({ messageId, body }, at): Queued[] => {
    const request = requestIn(body, ports);
    if (request === undefined) return [];
    const owner = `${ports.process.invocation}/${at}`;
    return [{ messageId, hand: new SmallRequestInHand(request), size: request.head.total, owner }];
  });
  const numbers = Map.groupBy(queued, ({ hand }) => hand.facts.phoneNumberId);
  const acknowledged = new Set<string>();
  await Promise.all([...numbers].map(([number, requests]) => sendOfNumber(number, requests, acknowledged, ports)));
  lines.end(deliveries.length);
  return deliveries.map(({ messageId }) => messageId).filter((messageId) => !acknowledged.has(messageId));
}

function requestIn(body: string, { process }: SmallRequestsPorts): SmallRequest | undefined {
  try {
    return decodeSmallRequest(body);
  } catch (error) {
    process.log('send.error', { error: errorName(error) });
    return undefined;
  }
}

/** Adds the ids of the messages that are done with to `acknowledged`. Never rejects. */
async function sendOfNumber(
  phoneNumberId: string,
  requests: readonly Queued[],
  acknowledged: Set<string>,
  ports: SmallRequestsPorts,
): Promise<void> {
  const [first] = requests;
  if (first === undefined) return;
  const limitPerSecond = Math.min(...requests.map(({ hand }) => hand.request.limitPerSecond));
  const senders = sendersOf(limitPerSecond);
  const wabaIds = [...new Set(requests.map(({ hand }) => hand.facts.wabaId))];
  let sight: NumberSight;
  try {
    sight = await ports.lookAt({ phoneNumberId, wabaIds, senders });
  } catch (error) {
    ports.process.log('send.dispatch_not_read', { error: errorName(error) });
    return;
  }
  const view = viewOf(sight, limitPerSecond, ports);
  const holds = ports.holds.ofSlice((wabaId, seen) => view.saw(wabaId, seen));
  for (const [wabaId, seen] of sight.holds) holds.saw(wabaId, seen);
  const guarded = await guardedBy(first, { sight, view, holds }, ports);
  if (guarded.outage !== undefined) ports.process.log('send.platform_down', { count: requests.length });
  const places = await placesFor(requests, { ...sight, isDown: guarded.outage !== undefined, limitPerSecond }, ports);
  const number = { view, senders, guarded, holds };
  const ends = await Promise.all(
    requests.map((request) => {
      const sent = () => sendSmallRequest(places.get(request), requestPorts(request, number, ports));
      return correlated(request.hand.facts.correlationId, sent);
    }),
  );
  await guarded.end();
  for (const [at, { messageId }] of requests.entries()) if (ends[at] === 'acknowledged') acknowledged.add(messageId);
}

function viewOf({ pace, breaker, holds }: NumberSight, limitPerSecond: number, { paces }: SmallRequestsPorts) {
  const view = new NumberView(paces);
  view.pace = pace;
  view.breaker = breaker;
  view.limitPerSecond = limitPerSecond;
  for (const [wabaId, seen] of holds) view.saw(wabaId, seen);
  return view;
}

async function guardedBy(
  { hand }: Queued,
  { sight, view, holds }: Pick<NumberInHand, 'view' | 'holds'> & { readonly sight: NumberSight },
  ports: SmallRequestsPorts,
): Promise<GuardedRun> {
  const breakers = { ...ports.holds.breakers, find: async () => sight.breaker };
  const guarded = await guardRun(hand.facts, { ...ports.process, ...ports.platform, holds, breakers });
  const learning = learningPace({ ...ports.process, paces: view.paces });
  return { ...guarded, send: notingSilence(guarded.send, { ...ports.process, learning }) };
}

function requestPorts(
  { hand, owner }: Queued,
  { view, senders, guarded, holds }: NumberInHand,
  ports: SmallRequestsPorts,
): SmallRequestPorts {
  const { dispatches, process, wake } = ports;
  const { head, limitPerSecond: _limit, ...rest } = hand.request;
  const { dispatchId, phoneNumberId } = head;
  return {
    tryOnce: (places) => {
      void ports.platform.ready(hand.facts);
      const turns = new PlaceTurns(places, process);
      const lastCallMs = Math.min(turns.lastMs, process.nowMs() + process.remainingMs() - lastCallBeforeEndMs);
      const recipients = hand.recipients({ ...ports, log: process.log });
      const own = { open: { slice: 0, try: 0, dueMs: 0 }, recipients, owner, isFront: false };
      const tried = { ...ports, dispatches: begunBeforeCalls(hand, dispatches) };
      const shared = { invocation: process.invocation, turns, number: view, lastCallMs, ports: tried };
      return new SliceRun(hand, own, { send: guarded.send, holds }, shared).run();
    },
    countEnded: (ended) => ports.countEnded(hand.facts, [ended]),
    store: () => dispatches.store({ head, ...rest }),
    begin: () => dispatches.begin(head),
    enter: () => dispatches.enter(head),
    wake: () => wake([{ phoneNumberId, dispatchId, part: partOf(dispatchId, senders), of: senders, delaySeconds: 0 }]),
  };
}

/** A claim stands for the beginning, so the worker that made it begins the dispatch: acceptance may have died before. */
function begunBeforeCalls(
  { request, dispatchId }: SmallRequestInHand,
  { look, beginStraight }: SmallRequestsPorts['dispatches'],
): SliceTryPorts['dispatches'] {
  return {
    look: async (asked) => {
      const seen = await look(asked);
      const { begun, erased } = seen.dispatches.get(dispatchId) ?? {};
      // The operator may have erased someone since an earlier delivery stored them (D60).
      const recipients = request.recipients.map(({ to }, index) => (erased?.has(index) ? {} : { to }));
      if (!begun) await beginStraight({ head: request.head, recipients });
      return seen;
    },
  };
}

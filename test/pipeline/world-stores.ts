import { clocksApartMs } from '../../lib/aws/leased-run.ts';
import type { AcceptedDispatches } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import { standingIn, stateOf } from '../../lib/messages/dispatch/item.ts';
import type { DispatchItemStates } from '../../lib/messages/dispatch/item-store.ts';
import { dispatchWrites } from '../../lib/messages/dispatch/item-writes.ts';
import { sliceOf } from '../../lib/messages/dispatch/slice.ts';
import type { WholeDispatch } from '../../lib/messages/dispatch/whole-dispatch.ts';
import type { HoldsOfWabas } from '../../lib/messages/holds/hold-store.ts';
import type { RunHoldsPorts } from '../../lib/messages/holds/run-holds.ts';
import type { ReceiptPorts } from '../../lib/messages/receipts/receipt-ports.ts';
import { outcomeOf } from '../../lib/messages/report/outcome.ts';
import type { SenderKey, SenderPorts } from '../../lib/messages/sender/sender-ports.ts';
import type { SmallRequestsPorts } from '../../lib/messages/sender/small-requests.ts';
import { announcedStop, type NewsBacklog } from '../../lib/messages/sender/stop-news.ts';
import type { SweepPorts } from '../../lib/messages/sender/sweep.ts';
import type { DispatchProgress } from '../../lib/messages/sender/tell-end.ts';
import type { OptOutPorts } from '../../lib/opt-outs/record-opt-out.ts';
import type { MemoryBreaker } from '../support/memory-breaker.ts';
import type { MemoryHolds } from '../support/memory-holds.ts';
import type { MemoryOptOuts } from '../support/memory-opt-outs.ts';
import type { MemoryPaces } from '../support/memory-paces.ts';
import type { MemoryPlaces } from '../support/memory-places.ts';
import { written } from '../support/messages-table/dispatch-item.ts';
import type { MemoryBacklog } from '../support/messages-table/memory-backlog.ts';
import type { MemoryTable } from '../support/messages-table/memory-table.ts';
import type { Run } from './runs.ts';

type NowMs = () => number;

/** What a try of a slice needs of the table: a sender makes it, or a worker of small requests. */
type TryStores = Pick<SenderPorts, 'slices' | 'unknowns' | 'paces'> &
  Pick<RunHoldsPorts, 'states' | 'wabas'> & {
    readonly states: SenderPorts['states'];
    readonly breakers: SenderPorts['holds']['breakers'];
    readonly stoppedAmong: SenderPorts['people']['stoppedAmong'];
  };

/** The runs of each function of a world see the messages table through these. */
export interface WorldStores {
  ofAcceptance(run: Run): Pick<AcceptedDispatches, 'store' | 'withdraw' | 'list' | 'begin' | 'beginStraight'>;
  ofSender(run: Run): TryStores &
    Pick<SenderPorts, 'statesOf' | 'backlog' | 'dispatches' | 'places'> & {
      readonly progressOf: (dispatchId: string) => Promise<DispatchProgress | undefined>;
    };
  ofSmallRequests(run: Run, nowMs: NowMs): TryStores & Pick<SmallRequestsPorts, 'dispatches' | 'lookAt' | 'places'>;
  ofSweep(run: Run): Pick<SweepPorts, 'backlog' | 'holds' | 'breakers' | 'stateOf'>;
  ofCancellation(run: Run): Pick<DispatchItemStates, 'stop'> & { readonly backlog: NewsBacklog };
  ofReceipts(run: Run): Pick<ReceiptPorts, 'records' | 'slices' | 'addressesOf' | 'changeHolds'>;
  ofHearing(run: Run): OptOutPorts;
  /** Returns whether a request is open that takes no virtual time; meanwhile the clock stands still. */
  isBusy(): boolean;
}

interface Parts {
  readonly time: { readonly nowMs: number };
  readonly table: MemoryTable;
  readonly backlog: MemoryBacklog;
  readonly paces: MemoryPaces;
  readonly places: MemoryPlaces;
  readonly breaker: MemoryBreaker;
  readonly holds: MemoryHolds;
  readonly optOuts: MemoryOptOuts;
  readonly dispatches: ReadonlyMap<string, WholeDispatch>;
  readonly rules: { readonly random: () => number };
}

/** Builds the table in memory. Every call passes the run, which counts it, delays it and may fail it. */
export function memoryStores(parts: Parts): WorldStores {
  const { table, backlog, paces, places, breaker, holds, optOuts, rules } = parts;
  const wabasOf = (run: Run): HoldsOfWabas => ({
    find: (wabaId) => run.call('findHolds', () => holds.of(wabaId)),
    change: (wabaId, rule) => run.call('changeHolds', () => holds.change(wabaId, rule)),
    takeProbe: (wabaId, message) => run.call('askHolds', () => holds.takeProbe(wabaId, message)),
  });
  const look =
    (run: Run): SenderPorts['dispatches']['look'] =>
    ({ wabaId, dispatchIds, optOutsOf }) =>
      run.call('lookAtDispatch', () => ({
        holds: holds.of(wabaId),
        dispatches: table.statesOf(dispatchIds),
        anyStops: optOuts.anyFor(optOutsOf),
      }));
  const statesOf = (run: Run): DispatchItemStates => {
    const states = table.ofStates(run);
    return { ...states, stop: announcedStop(states.stop, backlog.ofNews(run)) };
  };
  const ofTry = (run: Run): TryStores => ({
    slices: table.ofSlices(run),
    unknowns: table.ofDoubts(run),
    paces: paces.ofRun(run),
    states: statesOf(run),
    wabas: wabasOf(run),
    stoppedAmong: (sender, recipients) => run.call('stoppedAmong', () => optOuts.stoppedAmong(sender, recipients)),
    breakers: {
      find: () => run.call('findBreaker', () => breaker.find()),
      change: (seen, rule) => run.call('changeBreaker', () => breaker.change(seen, rule)),
    },
  });
  return {
    ofAcceptance: (run) => ({
      ...table.ofAcceptance(run),
      // Items of a batch are written in any order, and some of them may be missing.
      store: async (dispatch) => {
        const writes = [
          () => run.call('store', () => table.store(dispatch)),
          () => run.call('enter', () => backlog.enter(dispatch.head)),
        ];
        for (const write of rules.random() < 0.5 ? writes : writes.toReversed()) await write();
      },
      beginStraight: ({ head }) => run.call('beginAccepted', () => table.begin(head)),
    }),
    ofSender: (run) => ({
      ...ofTry(run),
      statesOf: (key) => backlog.statesOf(run, leaseOf(key)),
      backlog: backlog.ofSender(run),
      places: places.ofRun(run),
      dispatches: { ...dispatchesOf(run, parts), look: look(run) },
      progressOf: (dispatchId) => run.call('progressOf', () => progressIn(parts, dispatchId)),
    }),
    ofSmallRequests: (run, nowMs) => ({
      ...ofTry(run),
      places: places.ofRun(run),
      lookAt: ({ phoneNumberId, wabaIds, senders }) =>
        run.call('lookAtNumber', async () => ({
          pace: paces.of(phoneNumberId),
          breaker: await breaker.find(),
          holds: new Map(wabaIds.map((wabaId) => [wabaId, holds.of(wabaId)])),
          isSending: Array.from({ length: senders }, (_, part) => leaseOf({ phoneNumberId, part })).some(
            (key) => (backlog.states.get(key)?.state.lease?.untilMs ?? 0) + clocksApartMs > nowMs(),
          ),
        })),
      dispatches: {
        look: look(run),
        store: (dispatch) => run.call('storeSmall', () => table.store(dispatch)),
        enter: (head) => run.call('enterSmall', () => backlog.enter(head, head.urgent === true ? { front: true } : {})),
        begin: (head) => run.call('beginSmall', () => table.begin(head)),
        beginStraight: ({ head }) => run.call('beginStraight', () => table.begin(head)),
      },
    }),
    ofSweep: (run) => ({
      backlog: {
        due: async function* (atMs: number) {
          const entries = await run.call('sweep', () => backlog.dueBefore(atMs));
          const items = entries.map((entry) => ({ entry, item: storedItem(parts, entry.dispatchId) }));
          yield { entries: items, unreadable: [] };
        },
      },
      holds: wabasOf(run),
      breakers: { find: () => run.call('findBreaker', () => breaker.find()) },
      stateOf: (key) => run.call('findLease', () => backlog.states.get(leaseOf(key))?.state ?? { wakeAtMs: 0 }),
    }),
    ofCancellation: (run) => ({ stop: table.ofStates(run).stop, backlog: backlog.ofNews(run) }),
    ofReceipts: (run) => ({
      ...table.ofReceipts(run),
      addressesOf: async () => new Map(),
      changeHolds: wabasOf(run).change,
    }),
    ofHearing: (run) => optOuts.writer(run),
    isBusy: () => false,
  };
}

function leaseOf({ phoneNumberId, part }: Pick<SenderKey, 'phoneNumberId' | 'part'>): string {
  return `${phoneNumberId} ${part}`;
}

function dispatchesOf(run: Run, { table }: Parts): Omit<SenderPorts['dispatches'], 'look'> {
  const { find, recipientsFrom } = table.ofStored(run);
  return {
    find: async (dispatchId) => {
      const item = await run.call('findItem', () => table.dispatches.get(dispatchId) ?? {});
      const dispatch = await find(dispatchId);
      return { standing: standingIn(item), state: stateOf(item), dispatch };
    },
    recipientsFrom,
    slicesFrom: (dispatchId, from, until) =>
      run.call('findSlices', () =>
        Array.from({ length: until - from }, (_, at) => table.find({ dispatchId, slice: from + at })).filter(
          (each) => each !== undefined,
        ),
      ),
    withdraw: (dispatchId) => table.ofAcceptance(run).withdraw(dispatchId),
    list: () => run.call('list', () => undefined),
    reckon: (dispatchId, underWay) =>
      run.call('reckon', () => {
        const { item, value } = written(table.dispatches.get(dispatchId), dispatchWrites.reckon(dispatchId, underWay));
        if (item !== undefined) table.dispatches.set(dispatchId, item);
        return value;
      }),
  };
}

/** The item in memory has a short head (dispatch-item.ts). */
function storedItem({ table }: Parts, dispatchId: string): unknown {
  const item = table.dispatches.get(dispatchId);
  const head = table.heads.get(dispatchId);
  return head === undefined ? item : { ...item, head: JSON.stringify(head) };
}

/** As the report counts it: the counts are there once nothing is pending. */
function progressIn({ table, dispatches, time }: Parts, dispatchId: string): DispatchProgress | undefined {
  const { head, lots, recipients = [] } = dispatches.get(dispatchId) ?? {};
  if (head === undefined) return undefined;
  const dispatch = { ...table.states.get(dispatchId), lots };
  const counts: Record<string, number> = {};
  for (const index of recipients.keys()) {
    const { state } = outcomeOf(index, { slice: table.find(sliceOf({ dispatchId, index })), dispatch }, time.nowMs);
    counts[state] = (counts[state] ?? 0) + 1;
  }
  return { head, ...(counts['pending'] === undefined ? { counts } : {}) };
}

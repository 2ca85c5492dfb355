import type { AcceptedDispatches } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import { headOfChunk } from '../../lib/messages/dispatch/chunk.ts';
import type { DispatchItemStates } from '../../lib/messages/dispatch/item-store.ts';
import type { LookPorts } from '../../lib/messages/fan-out/backlog-look.ts';
import type { FanOutPorts } from '../../lib/messages/fan-out/fan-out-dispatch.ts';
import type { HoldsOfWabas } from '../../lib/messages/holds/hold-store.ts';
import type { RunHoldsPorts } from '../../lib/messages/holds/run-holds.ts';
import type { ReceiptPorts } from '../../lib/messages/receipts/receipt-ports.ts';
import type { WorkerOptOuts } from '../../lib/messages/send/chunk-ports.ts';
import type { OptOutPorts } from '../../lib/opt-outs/record-opt-out.ts';
import type { FlatPorts } from '../support/flat-ports.ts';
import type { MemoryBreaker } from '../support/memory-breaker.ts';
import type { MemoryHolds } from '../support/memory-holds.ts';
import type { MemoryNumbers } from '../support/memory-numbers.ts';
import type { MemoryOptOuts } from '../support/memory-opt-outs.ts';
import type { MemoryTable } from '../support/messages-table/memory-table.ts';
import type { Run } from './runs.ts';

type NowMs = () => number;

/** The runs of each function of a world see the messages table through these. */
export interface WorldStores {
  ofAcceptance(run: Run): Pick<AcceptedDispatches, 'store' | 'withdraw' | 'list' | 'begin' | 'beginStraight'>;
  ofLook(run: Run): Pick<LookPorts, 'backlog' | 'withdraw'>;
  ofFanOut(run: Run, nowMs: NowMs): Pick<FanOutPorts, 'dispatches' | 'states' | 'slices' | 'paces'>;
  ofWorker(
    run: Run,
    nowMs: NowMs,
  ): Pick<FlatPorts, 'slices' | 'unknowns' | 'urgentCapacity' | 'look' | 'beginStraight' | 'breakers' | 'paces'> &
    Pick<RunHoldsPorts, 'states' | 'wabas'> &
    Pick<WorkerOptOuts, 'stoppedAmong'>;
  ofWatcher(run: Run): {
    readonly states: Pick<DispatchItemStates, 'of' | 'stop' | 'resume' | 'endPause'>;
    readonly holds: Pick<HoldsOfWabas, 'find' | 'change'>;
    readonly isDown: () => Promise<boolean>;
  };
  ofReceipts(run: Run): Pick<ReceiptPorts, 'records' | 'slices' | 'addressesOf' | 'changeHolds'>;
  ofHearing(run: Run): OptOutPorts;
  /** Returns whether a request is open that takes no virtual time; meanwhile the clock stands still. */
  isBusy(): boolean;
}

/** Builds the table in memory. Every call passes the run, which counts it, delays it and may fail it. */
export function memoryStores(parts: {
  readonly table: MemoryTable;
  readonly numbers: MemoryNumbers;
  readonly breaker: MemoryBreaker;
  readonly holds: MemoryHolds;
  readonly optOuts: MemoryOptOuts;
}): WorldStores {
  const { table, numbers, breaker, holds, optOuts } = parts;
  const wabasOf = (run: Run): HoldsOfWabas => ({
    find: (wabaId) => run.call('findHolds', () => holds.of(wabaId)),
    change: (wabaId, rule) => run.call('changeHolds', () => holds.change(wabaId, rule)),
    takeProbe: (wabaId, message) => run.call('askHolds', () => holds.takeProbe(wabaId, message)),
  });
  return {
    ofAcceptance: (run) => ({
      ...table.ofAcceptance(run),
      beginStraight: (chunk) => run.call('beginAccepted', () => table.begin(headOfChunk(chunk))),
    }),
    ofLook: (run) => ({ backlog: table.ofLook(run), withdraw: table.ofAcceptance(run).withdraw }),
    ofFanOut: (run, nowMs) => ({
      dispatches: table.ofRounds(run),
      states: table.ofStates(run),
      slices: table.ofSlices(run),
      // A dispatch can wait: a hundred may begin at once, and one reserves at a time.
      paces: numbers.paces(run, nowMs, 100),
    }),
    ofWorker: (run, nowMs) => ({
      slices: table.ofSlices(run),
      unknowns: table.ofDoubts(run),
      paces: numbers.paces(run, nowMs),
      urgentCapacity: numbers.urgentCapacity(run),
      states: table.ofStates(run),
      wabas: wabasOf(run),
      look: ({ wabaId, phoneNumberId, dispatchIds, optOutsOf }) =>
        run.call(phoneNumberId === undefined ? 'lookAtDispatch' : 'look', () => ({
          pace: numbers.paceOf(phoneNumberId ?? ''),
          holds: holds.of(wabaId),
          dispatches: table.statesOf(dispatchIds),
          anyStops: optOuts.anyFor(optOutsOf),
        })),
      stoppedAmong: (sender, recipients) => run.call('stoppedAmong', () => optOuts.stoppedAmong(sender, recipients)),
      beginStraight: (chunk) => run.call('beginStraight', () => void table.begin(headOfChunk(chunk))),
      breakers: {
        find: () => run.call('findBreaker', () => breaker.find()),
        change: (seen, rule) => run.call('changeBreaker', () => breaker.change(seen, rule)),
      },
    }),
    ofWatcher: (run) => ({
      states: table.ofStates(run),
      holds: wabasOf(run),
      isDown: () => run.call('findBreaker', async () => (await breaker.find()).open !== undefined),
    }),
    ofReceipts: (run) => ({
      ...table.ofReceipts(run),
      addressesOf: async () => new Map(),
      changeHolds: wabasOf(run).change,
    }),
    ofHearing: (run) => optOuts.writer(run),
    isBusy: () => false,
  };
}

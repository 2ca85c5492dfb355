import { log } from '../../observe/log.ts';
import { deployedKnownRates } from '../../pricing/deployed.ts';
import type { ReceiptPorts } from '../receipts/receipt-ports.ts';
import type { SmallRequestsPorts } from '../sender/small-requests.ts';
import { type CountPorts, countDispatches } from '../spend/count-dispatches.ts';
import { endIsCounted } from '../spend/count-ended.ts';
import { countMarksStore, statedCosts } from '../spend/count-marks-store.ts';
import { countReceipts } from '../spend/count-receipts.ts';
import { type CountingPorts, countWhenDue, laterCounts } from '../spend/later-counts.ts';
import { spendStore } from '../spend/spend-store.ts';
import { messagesTable } from './messages-table.ts';
import { deployedCounts } from './sending.ts';

function deployedLedger() {
  return spendStore(messagesTable());
}

export function deployedCount(
  how: Pick<CountPorts, 'readsSlices'> = {},
): (dispatchIds: readonly string[]) => Promise<void> {
  const ports = { ledger: deployedLedger(), rates: deployedKnownRates(), nowMs: Date.now, ...how };
  return (dispatchIds) => countDispatches(dispatchIds, ports);
}

/** Queues a later count of everything written by now. */
export function deployedCountLater() {
  const table = messagesTable();
  return laterCounts({ marks: countMarksStore(table), queue: deployedCounts(), nowMs: table.nowMs });
}

export function deployedCounting(): CountingPorts {
  const queue = deployedCounts();
  // A stored dispatch of up to ten is counted at its end alone, unless a receipt comes: what the platform refuses, none
  // tells.
  const count = deployedCount({ readsSlices: true });
  return {
    count: (message) => countWhenDue(message, { queue, nowMs: Date.now, count: (dispatchId) => count([dispatchId]) }),
    log,
  };
}

export function deployedCountReceipts(): ReceiptPorts['countCost'] {
  const stated = statedCosts(messagesTable());
  const countLater = deployedCountLater();
  const count = deployedCount();
  return (dispatches) => countReceipts(dispatches, { stated, count, countLater });
}

export function deployedCountEnded(): SmallRequestsPorts['countEnded'] {
  const count = deployedCount({ readsSlices: true });
  return async (callFacts, ended) => {
    if (endIsCounted(callFacts, ended)) await count([callFacts.dispatchId]);
  };
}

import { log } from '../../observe/log.ts';
import { deployedKnownRates } from '../../pricing/deployed.ts';
import { dispatchItemStore } from '../dispatch/item-store.ts';
import { dispatchStatusStore } from '../find/dispatch-status-store.ts';
import { dispatchesStore } from '../report/dispatches-store.ts';
import { reportStore } from '../report/report-store.ts';
import { messagesTable } from './messages-table.ts';
import { deployedCount } from './spend.ts';

export function deployedReport() {
  return reportStore(messagesTable());
}

function deployedStops() {
  const table = messagesTable();
  const count = deployedCount({ readsSlices: true });
  const countNow = (dispatchId: string) => count([dispatchId]);
  return { report: deployedReport(), states: dispatchItemStore(table), countNow, nowMs: table.nowMs, log };
}

export function deployedCancellation() {
  return { ...deployedStops(), rates: deployedKnownRates() };
}

export function deployedDispatches() {
  return dispatchesStore(messagesTable());
}

export function deployedFinding() {
  return { dispatches: deployedDispatches(), standings: dispatchStatusStore(messagesTable()) };
}

export function deployedCampaignCancellation() {
  return { ...deployedStops(), dispatches: deployedDispatches() };
}

import { log } from '../../observe/log.ts';
import { knownRates } from '../../pricing/current-rates.ts';
import { deployedRates } from '../../pricing/deployed.ts';
import { shippedRates } from '../../pricing/rates.ts';
import { dispatchStatusStore } from '../find/dispatch-status-store.ts';
import { jobStateStore } from '../job-state-store.ts';
import { dispatchesStore } from '../report/dispatches-store.ts';
import { reportStore } from '../report/report-store.ts';
import { messagesTable } from './messages-table.ts';

export function deployedReport() {
  return reportStore(messagesTable());
}

/** Returns the rates for reported cost (D58): those in the bundle, and those read since. */
export function deployedKnownRates() {
  return knownRates(deployedRates().find, shippedRates, Date.now);
}

function deployedStops() {
  const { client, table, nowMs } = messagesTable();
  return { report: deployedReport(), states: jobStateStore(client, table), nowMs, log };
}

export function deployedCancellation() {
  return { ...deployedStops(), rates: deployedKnownRates() };
}

export function deployedDispatches() {
  const { client, table, nowMs } = messagesTable();
  return dispatchesStore(client, table, nowMs);
}

export function deployedFinding() {
  const { client, table, nowMs } = messagesTable();
  return { dispatches: deployedDispatches(), standings: dispatchStatusStore(client, table, nowMs) };
}

export function deployedCampaignCancellation() {
  return { ...deployedStops(), dispatches: deployedDispatches() };
}

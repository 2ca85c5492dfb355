import { log } from '../../observe/log.ts';
import { knownRates } from '../../pricing/current-rates.ts';
import { deployedRates } from '../../pricing/deployed.ts';
import { shippedRates } from '../../pricing/rates.ts';
import { standingsStore } from '../find/standings-store.ts';
import { jobStateStore } from '../job-state-store.ts';
import { dispatchesStore } from '../report/dispatches-store.ts';
import { reportStore } from '../report/report-store.ts';
import { messagesTable } from './messages-table.ts';

/** What reports read. */
export function deployedReport() {
  return reportStore(messagesTable());
}

/** The rates by which cost is told (D58): those that come with the service, and those that were read since. */
export function deployedKnownRates() {
  return knownRates(deployedRates().find, shippedRates, Date.now);
}

/** What stopping a job takes. */
function deployedStops() {
  const { client, table, nowMs } = messagesTable();
  return { report: deployedReport(), states: jobStateStore(client, table), nowMs, log };
}

/** What cancelling a job takes, with the cost that is answered. */
export function deployedCancellation() {
  return { ...deployedStops(), rates: deployedKnownRates() };
}

/** The list of dispatches. */
export function deployedDispatches() {
  const { client, table, nowMs } = messagesTable();
  return dispatchesStore(client, table, nowMs);
}

/** What finding dispatches across DIDs reads. */
export function deployedFinding() {
  const { client, table, nowMs } = messagesTable();
  return { dispatches: deployedDispatches(), standings: standingsStore(client, table, nowMs) };
}

/** What cancelling the dispatches of a campaign takes. */
export function deployedCampaignCancellation() {
  return { ...deployedStops(), dispatches: deployedDispatches() };
}

import { log } from '../../observe/log.ts';
import { currentRates } from '../../pricing/current-rates.ts';
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
  const inForce = currentRates(deployedRates().find, shippedRates, Date.now);
  return async () => [shippedRates, await inForce()] as const;
}

/** What cancelling a job takes. */
export function deployedCancellation() {
  const { client, table, nowMs } = messagesTable();
  const states = jobStateStore(client, table);
  return { report: deployedReport(), rates: deployedKnownRates(), states, nowMs, log };
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
  return { ...deployedCancellation(), dispatches: deployedDispatches() };
}

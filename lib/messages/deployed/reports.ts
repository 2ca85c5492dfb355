import { log } from '../../observe/log.ts';
import { standingsStore } from '../find/standings-store.ts';
import { jobStateStore } from '../job-state-store.ts';
import { dispatchesStore } from '../report/dispatches-store.ts';
import { reportStore } from '../report/report-store.ts';
import { messagesTable } from './messages-table.ts';

/** What reports read. */
export function deployedReport() {
  return reportStore(messagesTable());
}

/** What cancelling a job takes. */
export function deployedCancellation() {
  const { client, table, nowMs } = messagesTable();
  return { report: deployedReport(), states: jobStateStore(client, table), nowMs, log };
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

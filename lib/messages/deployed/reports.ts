import { deployedChannels } from '../../channels/deployed.ts';
import { log } from '../../observe/log.ts';
import { deployedKnownRates } from '../../pricing/deployed.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import { dispatchStatusStore } from '../find/dispatch-status-store.ts';
import { limitOfDispatch } from '../pace/limit-of-dispatch.ts';
import { dispatchesStore } from '../report/dispatches-store.ts';
import { reportStore } from '../report/report-store.ts';
import { wakeForStopped } from '../sender/wake-accepted.ts';
import { deployedDispatchStates } from './dispatch-states.ts';
import { messagesTable } from './messages-table.ts';
import { deployedSenderWakes } from './sending.ts';
import { deployedCount } from './spend.ts';

export function deployedReport() {
  return reportStore(messagesTable());
}

function deployedStops() {
  const count = deployedCount({ readsSlices: true });
  const countNow = (dispatchId: string) => count([dispatchId]);
  const wake = deployedSenderWakes();
  const limitOf = limitOfDispatch({ channels: deployedChannels(), log });
  return {
    report: deployedReport(),
    states: deployedDispatchStates(),
    wakeNumber: (head: DispatchHead) => wakeForStopped(head, { limitOf, wake }),
    countNow,
    nowMs: Date.now,
    log,
  };
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

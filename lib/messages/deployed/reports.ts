import { deployedChannels } from '../../channels/deployed.ts';
import { log } from '../../observe/log.ts';
import { deployedKnownRates } from '../../pricing/deployed.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import { dispatchItemStore } from '../dispatch/item-store.ts';
import { dispatchStatusStore } from '../find/dispatch-status-store.ts';
import { limitOfDispatch } from '../pace/limit-of-dispatch.ts';
import { dispatchesStore } from '../report/dispatches-store.ts';
import { reportStore } from '../report/report-store.ts';
import { backlogStore } from '../sender/backlog-store.ts';
import { sendersOf } from '../sender/number-parts.ts';
import { tellSenders as tellNews } from '../sender/stop-news.ts';
import { messagesTable } from './messages-table.ts';
import { deployedSenderWakes } from './sending.ts';
import { deployedCount } from './spend.ts';

export function deployedReport() {
  return reportStore(messagesTable());
}

function deployedStops() {
  const table = messagesTable();
  const count = deployedCount({ readsSlices: true });
  const countNow = (dispatchId: string) => count([dispatchId]);
  const { nowMs } = table;
  const wake = deployedSenderWakes();
  const limitOf = limitOfDispatch({ channels: deployedChannels(), log });
  const tellSenders = async (head: DispatchHead) => {
    // The first part wakes the others.
    const of = sendersOf(await limitOf(head));
    await tellNews(head, {
      ...{ backlog: backlogStore(table), nowMs, log },
      wake: (key, delaySeconds) => wake({ ...key, of }, delaySeconds),
    });
  };
  return { report: deployedReport(), states: dispatchItemStore(table), tellSenders, countNow, nowMs, log };
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

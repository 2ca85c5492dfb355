import type { PlatformLimits } from '../../platform/deployed.ts';
import { reportStore } from '../report/report-store.ts';
import { retryMarksStore } from '../retry/retry-marks-store.ts';
import { deployedAcceptance } from './acceptance.ts';
import { messagesTable } from './messages-table.ts';

/** What retrying a dispatch takes: all that accepting a send does, what became of the dispatch, and who is retried (D57). */
export function deployedRetry(limits: PlatformLimits) {
  const { client, table, nowMs } = messagesTable();
  return {
    ...deployedAcceptance(limits),
    // Who has just been told of a delivery is not written to once more.
    report: reportStore({ client, table, nowMs, consistent: true }),
    marks: retryMarksStore(client, table),
  };
}

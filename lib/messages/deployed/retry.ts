import type { PlatformLimits } from '../../platform/deployed.ts';
import { reportStore } from '../report/report-store.ts';
import { deployedAcceptance } from './acceptance.ts';
import { messagesTable } from './messages-table.ts';

export function deployedRetry(limits: PlatformLimits) {
  return {
    ...deployedAcceptance(limits),
    // The reads are strongly consistent, so that a recipient with a fresh receipt is not retried.
    report: reportStore(messagesTable(), { consistent: true }),
  };
}

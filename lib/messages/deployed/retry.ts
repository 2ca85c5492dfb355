import type { PlatformLimits } from '../../platform/deployed.ts';
import { parameterStore } from '../accept/parameter-store.ts';
import { reportStore } from '../report/report-store.ts';
import { deployedAcceptance } from './acceptance.ts';
import { messagesTable } from './messages-table.ts';

export function deployedRetry(limits: PlatformLimits) {
  return {
    ...deployedAcceptance(limits),
    parameters: parameterStore(messagesTable()),
    // The reads are strongly consistent, so that a recipient with a fresh receipt is not retried.
    report: reportStore(messagesTable(), { consistent: true }),
  };
}

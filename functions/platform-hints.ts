import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { deployed, deployedDirectory } from '../lib/access/deployed.ts';
import { deployedHints } from '../lib/hints/deployed.ts';
import { type HintPorts, processHints } from '../lib/hints/process-hints.ts';
import { deployedAccountUpdates, deployedTemplateHolds } from '../lib/messages/deployed/account-updates.ts';
import { metered } from '../lib/observe/metrics.ts';
import { deployedPlatform } from '../lib/platform/deployed.ts';

/**
 * Consumes the hint queue: reads again what the platform has changed (D42), holds or releases WABAs on its word (D46),
 * and reports messages to redeliver.
 */
export function platformHints(ports: Omit<HintPorts, 'remainingMs'>) {
  return async (event: SQSEvent, context: Pick<Context, 'getRemainingTimeInMillis'>): Promise<SQSBatchResponse> => {
    const remainingMs = () => context.getRemainingTimeInMillis();
    const failedIds = await metered(() => processHints(event.Records, { ...ports, remainingMs }));
    return { batchItemFailures: failedIds.map((itemIdentifier) => ({ itemIdentifier })) };
  };
}

export const handler = deployed(() => {
  const platform = deployedPlatform({ timeoutMs: 10_000, maxReplyBytes: 4_000_000 });
  return platformHints({
    ...deployedDirectory(),
    ...deployedHints(platform),
    ...deployedAccountUpdates(),
    ...deployedTemplateHolds(),
  });
});

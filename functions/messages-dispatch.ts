import { deployed, environmentVariable } from '../lib/aws/deployed.ts';
import { messagesDispatch } from '../lib/messages/chunks/chunk-handler.ts';
import { deployedWorker } from '../lib/messages/deployed/worker.ts';

/** Consumer of the dispatch queue: the chunks of jobs. */
export const handler = deployed(() =>
  messagesDispatch(deployedWorker(environmentVariable('DISPATCH_QUEUE_URL'), { isOfSmallRequests: false })),
);

import { deployed, environmentVariable } from '../lib/aws/deployed.ts';
import { deployedWorker } from '../lib/messages/deployed/worker.ts';
import { messagesDispatch } from '../lib/messages/send/chunk-handler.ts';

/** Consumes the dispatch queue: the chunks of dispatches. */
export const handler = deployed(() =>
  messagesDispatch(deployedWorker(environmentVariable('DISPATCH_QUEUE_URL'), { isOfSmallRequests: false })),
);

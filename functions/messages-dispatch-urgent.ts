import { deployed, environmentVariable } from '../lib/aws/deployed.ts';
import { deployedWorker } from '../lib/messages/deployed/worker.ts';
import { messagesDispatch } from '../lib/messages/send/chunk-handler.ts';

/** Consumes the queue of small requests, mostly one-time codes, which wait behind no dispatch (D44). */
export const handler = deployed(() =>
  messagesDispatch(deployedWorker(environmentVariable('URGENT_QUEUE_URL'), { isOfSmallRequests: true })),
);

import { deployed, environmentVariable } from '../lib/aws/deployed.ts';
import { deployedHandover } from '../lib/messages/deployed.ts';
import { messagesDispatch } from '../lib/messages/dispatch/dispatch-handler.ts';
import { firstHoldMs } from '../lib/messages/dispatch/held-deliveries.ts';

/** Consumer of the queue of one-time codes, which wait for nothing else (D44). */
export const handler = deployed(() =>
  messagesDispatch(deployedHandover(environmentVariable('URGENT_QUEUE_URL')), firstHoldMs.urgent),
);

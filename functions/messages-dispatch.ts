import { deployed, environmentVariable } from '../lib/aws/deployed.ts';
import { deployedHandover } from '../lib/messages/deployed.ts';
import { messagesDispatch } from '../lib/messages/dispatch/dispatch-handler.ts';

/** Consumer of the dispatch queue: everything but one-time codes. */
export const handler = deployed(() => messagesDispatch(deployedHandover(environmentVariable('DISPATCH_QUEUE_URL'))));

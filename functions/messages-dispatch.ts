import { deployed } from '../lib/aws/deployed.ts';
import { deployedSender } from '../lib/messages/deployed/sender.ts';
import { senderHandler } from '../lib/messages/sender/wake-handler.ts';

/** Consumes the dispatch queue: the wakes of numbers, each of which has one sender at a time. */
export const handler = deployed(() => senderHandler(deployedSender()));

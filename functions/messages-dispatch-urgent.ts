import { deployed } from '../lib/aws/deployed.ts';
import { deployedSmallRequests } from '../lib/messages/deployed/small-requests.ts';
import { smallRequestsHandler } from '../lib/messages/sender/small-request-handler.ts';

/** Consumes the queue of small requests, mostly one-time codes, which wait behind no dispatch (D44). */
export const handler = deployed(() => smallRequestsHandler(deployedSmallRequests()));

import { environmentVariable, queues } from '../../aws/deployed.ts';
import { deployedOptOutWriter } from '../../opt-outs/deployed.ts';
import { inboundQueue } from '../inbound/inbound-queue.ts';

/** Where what becomes known of people waits. */
export function deployedInbound() {
  return inboundQueue(queues(), environmentVariable('INBOUND_QUEUE_URL'));
}

/** What hearing people takes. */
export function deployedHearing() {
  return { optOuts: deployedOptOutWriter() };
}

import { environmentVariable, queues } from '../../aws/deployed.ts';
import { holdOf, visibilityOf } from '../../aws/sqs-visibility.ts';
import { itemsWithout } from '../erase/erased-items-store.ts';
import { snapshotStore } from '../send/snapshot-store.ts';
import { numberSightStore } from '../sender/number-sight-store.ts';
import type { DeployedSmallRequests } from '../sender/small-request-handler.ts';
import { smallRequestStore } from '../sender/small-request-store.ts';
import { messagesTable } from './messages-table.ts';
import { deployedAcceptedDispatches, deployedSenderWakes } from './sending.ts';
import { deployedSliceTry } from './slice-try.ts';
import { deployedCountEnded } from './spend.ts';

export function deployedSmallRequests(): DeployedSmallRequests {
  const table = messagesTable();
  const { begin, beginStraight } = deployedAcceptedDispatches();
  const queueUrl = environmentVariable('URGENT_QUEUE_URL');
  return {
    ...deployedSliceTry(),
    dispatches: {
      ...smallRequestStore(table, itemsWithout),
      look: snapshotStore(table),
      begin: (head) => begin(head),
      beginStraight: (request) => beginStraight(request),
    },
    lookAt: numberSightStore(table),
    countEnded: deployedCountEnded(),
    wake: deployedSenderWakes(),
    queue: { postpone: visibilityOf(queues(), queueUrl), hold: holdOf(queues(), queueUrl) },
  };
}

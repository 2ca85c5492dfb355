import { deployedDirectory } from '../../access/deployed.ts';
import { documents, environmentVariable, queues } from '../../aws/deployed.ts';
import { log } from '../../observe/log.ts';
import { deployedOptOutLook } from '../../opt-outs/deployed.ts';
import { deployedPlatform } from '../../platform/deployed.ts';
import { templateStore } from '../../templates/model/template-store.ts';
import { parameterStore } from '../accept/parameter-store.ts';
import { dispatchItemStore } from '../dispatch/item-store.ts';
import { type RecomposePorts, recomposedChunk } from '../fan-out/recompose-chunk.ts';
import { breakerStore } from '../holds/breaker-store.ts';
import { holdStore } from '../holds/hold-store.ts';
import { type RunHoldsPorts, runHolds } from '../holds/run-holds.ts';
import { urgentStore } from '../pace/urgent-store.ts';
import { unknownOutcomesStore } from '../receipts/unknown-outcomes-store.ts';
import { composeMessage } from '../request/compose.ts';
import type { DeployedWorker } from '../send/chunk-handler.ts';
import { chunkQueue } from '../send/chunk-queue.ts';
import { platformCallTimeoutMs } from '../send/deadlines.ts';
import { platformMessages, readyToCall } from '../send/platform-messages.ts';
import { platformProbe } from '../send/platform-probe.ts';
import { snapshotStore } from '../send/snapshot-store.ts';
import { firstParkedLookSeconds, parkedWatchOf } from '../watch/watch-message.ts';
import { deployedInbound } from './inbound.ts';
import { messagesTable } from './messages-table.ts';
import { deployedNoteSent } from './replies.ts';
import { deployedAcceptedDispatches, deployedPaces, deployedSending, deployedWatches } from './sending.ts';
import { deployedCountEnded } from './spend.ts';

export function deployedWorker(
  queueUrl: string,
  { isOfSmallRequests }: Pick<DeployedWorker, 'isOfSmallRequests'>,
): DeployedWorker {
  const { call, credentialOf } = deployedPlatform({ timeoutMs: platformCallTimeoutMs });
  const table = messagesTable();
  const { nowMs } = table;
  const states = dispatchItemStore(table);
  const dispatches = deployedAcceptedDispatches();
  const watch = deployedWatches();
  const watchParked: RunHoldsPorts['watchParked'] = (chunk, sinceMs) =>
    watch.sendLater(parkedWatchOf(chunk, sinceMs), firstParkedLookSeconds);
  const wabas = holdStore(table);
  const { slices, events, ...process } = deployedSending();
  const templates = templateStore(documents(), environmentVariable('TEMPLATES_TABLE'));
  const judging: RecomposePorts = {
    ...{ ...deployedDirectory(), templates, compose: composeMessage, nowMs, log },
    dispatches: { find: dispatches.find, recipientsFrom: parameterStore(table).read },
  };
  return {
    isOfSmallRequests,
    slices,
    unknowns: unknownOutcomesStore(table),
    dispatches: {
      look: snapshotStore(table),
      beginStraight: async (chunk) => void (await dispatches.beginStraight(chunk)),
    },
    judgeAgain: (chunk) => recomposedChunk(chunk, judging),
    numbers: { paces: deployedPaces(), urgentCapacity: urgentStore(table) },
    holds: {
      ofRun: () => runHolds({ states, wabas, watchParked, nowMs, log }),
      breakers: breakerStore(table),
    },
    platform: {
      ready: readyToCall(credentialOf),
      send: platformMessages(call, credentialOf),
      probe: platformProbe(call, credentialOf),
    },
    people: { ...deployedOptOutLook(), inbound: deployedInbound() },
    queue: chunkQueue(queues(), { own: queueUrl, dispatch: environmentVariable('DISPATCH_QUEUE_URL') }),
    events,
    noteSent: deployedNoteSent(),
    countEnded: deployedCountEnded(),
    process,
  };
}

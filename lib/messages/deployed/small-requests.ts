import { environmentVariable, queues } from '../../aws/deployed.ts';
import { holdOf, visibilityOf } from '../../aws/sqs-visibility.ts';
import { log } from '../../observe/log.ts';
import { deployedOptOutLook } from '../../opt-outs/deployed.ts';
import { deployedPlatform } from '../../platform/deployed.ts';
import { dispatchItemStore } from '../dispatch/item-store.ts';
import { itemsWithout } from '../erase/erased-items-store.ts';
import { breakerStore } from '../holds/breaker-store.ts';
import { holdStore } from '../holds/hold-store.ts';
import { type RunHoldsPorts, runHolds } from '../holds/run-holds.ts';
import { unknownOutcomesStore } from '../receipts/unknown-outcomes-store.ts';
import { composeMessage } from '../request/compose.ts';
import { platformCallTimeoutMs } from '../send/deadlines.ts';
import { platformMessages, readyToCall } from '../send/platform-messages.ts';
import { platformProbe } from '../send/platform-probe.ts';
import { snapshotStore } from '../send/snapshot-store.ts';
import { numberSightStore } from '../sender/number-sight-store.ts';
import { placesStore } from '../sender/places-store.ts';
import { seenHolds } from '../sender/seen-holds.ts';
import type { DeployedSmallRequests } from '../sender/small-request-handler.ts';
import { smallRequestStore } from '../sender/small-request-store.ts';
import { firstParkedLookSeconds, parkedWatchOf } from '../watch/watch-message.ts';
import { deployedInbound } from './inbound.ts';
import { messagesTable } from './messages-table.ts';
import { deployedNoteSent } from './replies.ts';
import {
  deployedAcceptedDispatches,
  deployedKnownPaces,
  deployedSenderWakes,
  deployedSending,
  deployedWatches,
} from './sending.ts';
import { deployedCountEnded } from './spend.ts';

export function deployedSmallRequests(): DeployedSmallRequests {
  const { call, credentialOf } = deployedPlatform({ timeoutMs: platformCallTimeoutMs });
  const table = messagesTable();
  const { nowMs } = table;
  const { slices, events, ...process } = deployedSending();
  const states = dispatchItemStore(table);
  const wabas = holdStore(table);
  const { begin, beginStraight } = deployedAcceptedDispatches();
  const watch = deployedWatches();
  const watchParked: RunHoldsPorts['watchParked'] = (callFacts, sinceMs) =>
    watch.sendLater(parkedWatchOf(callFacts, sinceMs), firstParkedLookSeconds);
  const queueUrl = environmentVariable('URGENT_QUEUE_URL');
  return {
    ...{ slices, events, process },
    unknowns: unknownOutcomesStore(table),
    dispatches: {
      ...smallRequestStore(table, itemsWithout),
      look: snapshotStore(table),
      begin: (head) => begin(head),
      beginStraight: (request) => beginStraight(request),
    },
    lookAt: numberSightStore(table),
    holds: {
      breakers: breakerStore(table),
      ofSlice: (saw) => runHolds({ states, wabas: seenHolds(wabas, saw), watchParked, nowMs, log }),
    },
    paces: deployedKnownPaces(),
    places: placesStore(table),
    platform: {
      ready: readyToCall(credentialOf),
      send: platformMessages(call, credentialOf),
      probe: platformProbe(call, credentialOf),
    },
    people: { ...deployedOptOutLook(), inbound: deployedInbound() },
    noteSent: deployedNoteSent(),
    compose: composeMessage,
    countEnded: deployedCountEnded(),
    wake: deployedSenderWakes(),
    queue: { postpone: visibilityOf(queues(), queueUrl), hold: holdOf(queues(), queueUrl) },
  };
}

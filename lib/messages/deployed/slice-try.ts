import { log } from '../../observe/log.ts';
import { deployedOptOutLook } from '../../opt-outs/deployed.ts';
import { deployedPlatform } from '../../platform/deployed.ts';
import { breakerStore } from '../holds/breaker-store.ts';
import { holdStore } from '../holds/hold-store.ts';
import { runHolds } from '../holds/run-holds.ts';
import { unknownOutcomesStore } from '../receipts/unknown-outcomes-store.ts';
import { composeMessage } from '../request/compose.ts';
import { platformCallTimeoutMs } from '../send/deadlines.ts';
import { platformMessages, platformProbe, readyToCall } from '../send/platform-messages.ts';
import { placesStore } from '../sender/places-store.ts';
import { seenHolds } from '../sender/seen-holds.ts';
import type { SliceHolds } from '../sender/sender-ports.ts';
import { deployedDispatchStates } from './dispatch-states.ts';
import { deployedInbound } from './inbound.ts';
import { messagesTable } from './messages-table.ts';
import { deployedNoteSent } from './replies.ts';
import { deployedKnownPaces, deployedSending } from './sending.ts';

/** What both functions that call the platform make a try of a slice with: the sender, and the worker of small requests. */
export function deployedSliceTry() {
  const { call, credentialOf } = deployedPlatform({ timeoutMs: platformCallTimeoutMs });
  const table = messagesTable();
  const { nowMs } = table;
  const { slices, events, ...process } = deployedSending();
  const states = deployedDispatchStates();
  const wabas = holdStore(table);
  const ofSlice: SliceHolds['ofSlice'] = (saw) => runHolds({ states, wabas: seenHolds(wabas, saw), nowMs, log });
  return {
    ...{ slices, events, process },
    unknowns: unknownOutcomesStore(table),
    holds: { breakers: breakerStore(table), ofSlice },
    paces: deployedKnownPaces(),
    places: placesStore(table),
    platform: {
      ready: readyToCall(credentialOf),
      send: platformMessages(call, credentialOf),
      probe: platformProbe(call, credentialOf),
    },
    people: { ...deployedOptOutLook(), inbound: deployedInbound() },
    states,
    noteSent: deployedNoteSent(),
    compose: composeMessage,
  };
}

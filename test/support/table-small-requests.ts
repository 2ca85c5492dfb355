import { randomUUID } from 'node:crypto';
import { tableOf } from '../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import { dispatchItemStore } from '../../lib/messages/dispatch/item-store.ts';
import { senderWakeQueue } from '../../lib/messages/dispatch/sender-wake-queue.ts';
import { sliceStore } from '../../lib/messages/dispatch/slice-store.ts';
import { itemsWithout } from '../../lib/messages/erase/erased-items-store.ts';
import { breakerStore } from '../../lib/messages/holds/breaker-store.ts';
import { holdStore } from '../../lib/messages/holds/hold-store.ts';
import { runHolds } from '../../lib/messages/holds/run-holds.ts';
import { knownPaceStore } from '../../lib/messages/pace/known-pace-store.ts';
import { unknownOutcomesStore } from '../../lib/messages/receipts/unknown-outcomes-store.ts';
import { composeMessage } from '../../lib/messages/request/compose.ts';
import { snapshotStore } from '../../lib/messages/send/snapshot-store.ts';
import { numberSightStore } from '../../lib/messages/sender/number-sight-store.ts';
import { placesStore } from '../../lib/messages/sender/places-store.ts';
import { seenHolds } from '../../lib/messages/sender/seen-holds.ts';
import type { SenderPorts } from '../../lib/messages/sender/sender-ports.ts';
import type { DeployedSmallRequests } from '../../lib/messages/sender/small-request-handler.ts';
import { smallRequestStore } from '../../lib/messages/sender/small-request-store.ts';
import { noStops } from './memory-opt-outs.ts';
import { noCosts } from './no-costs.ts';
import type { SenderWorld } from './table-senders.ts';
import { eachCall, type TableWorkers, type Through } from './table-workers.ts';

interface Given extends Pick<SenderPorts, 'events'> {
  readonly send: SenderPorts['platform']['send'];
  readonly probe?: SenderPorts['platform']['probe'];
  readonly random?: () => number;
  readonly log?: SenderPorts['process']['log'];
}

/** Returns what the function of small requests is wired with, over the real stores and queue, in virtual time. */
export function tableSmallRequests(
  { client, table, queue, queueUrl }: SenderWorld,
  { events, send, probe = async () => ({ maySend: true }), random = () => 0, log = () => undefined }: Given,
  { workers, living }: { readonly workers: TableWorkers; readonly living: Through },
): DeployedSmallRequests {
  const nowMs = () => workers.time.nowMs;
  const pause = async () => undefined;
  const through: Through = (call) => living(() => workers.ask(call));
  const outside = <Store extends object>(store: Store) => eachCall(store, through);
  const access = tableOf(client, table, { nowMs, pause });
  const states = outside(dispatchItemStore(access));
  const wabas = outside(holdStore(access, { pause }));
  const { begin, beginStraight } = outside(acceptedDispatchesStore(access, pause));
  const { store, enter } = outside(smallRequestStore(access, itemsWithout));
  const { look, lookAt } = outside({ look: snapshotStore(access), lookAt: numberSightStore(access) });
  return {
    slices: outside(sliceStore(access)),
    unknowns: outside(unknownOutcomesStore(access)),
    dispatches: {
      look,
      store,
      enter,
      begin: (head) => begin(head),
      beginStraight: (request) => beginStraight(request),
    },
    lookAt,
    holds: {
      breakers: outside(breakerStore(access)),
      ofSlice: (saw) =>
        runHolds({ states, wabas: seenHolds(wabas, saw), watchParked: async () => undefined, nowMs, log }),
    },
    paces: outside(knownPaceStore(access, { newWriter: randomUUID, pause })),
    places: outside(placesStore(access)),
    platform: outside({ ready: async () => undefined, send, probe }),
    people: noStops,
    events: outside(events),
    noteSent: async () => undefined,
    compose: composeMessage,
    countEnded: noCosts.countEnded,
    wake: outside({ wake: senderWakeQueue({ client: queue, url: queueUrl }) }).wake,
    queue: { postpone: async () => undefined, hold: async () => undefined },
    process: { nowMs, random, pause: (ms) => workers.time.sleep(ms), log },
  };
}

import { acceptedDispatchesStore } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import { itemsWithout } from '../../lib/messages/erase/erased-items-store.ts';
import { snapshotStore } from '../../lib/messages/send/snapshot-store.ts';
import { numberSightStore } from '../../lib/messages/sender/number-sight-store.ts';
import type { DeployedSmallRequests } from '../../lib/messages/sender/small-request-handler.ts';
import { smallRequestStore } from '../../lib/messages/sender/small-request-store.ts';
import { noCosts } from './no-costs.ts';
import { type GivenTry, type SenderWorld, type TableRun, tableSliceTry } from './table-slice-try.ts';

/** Returns what the function of small requests is wired with, over the real stores and queue, in virtual time. */
export function tableSmallRequests(world: SenderWorld, given: GivenTry, run: TableRun): DeployedSmallRequests {
  const { ports, access, outside, pause, wake } = tableSliceTry(world, given, run);
  const { begin, beginStraight } = outside(acceptedDispatchesStore(access, pause));
  const { store, enter } = outside(smallRequestStore(access, itemsWithout));
  const { look, lookAt } = outside({ look: snapshotStore(access), lookAt: numberSightStore(access) });
  return {
    ...ports,
    dispatches: {
      look,
      store,
      enter,
      begin: (head) => begin(head),
      beginStraight: (request) => beginStraight(request),
    },
    lookAt,
    countEnded: noCosts.countEnded,
    wake,
    queue: { postpone: async () => undefined, hold: async () => undefined },
  };
}

import { batchGet } from '../../aws/dynamodb-batch.ts';
import type { Table } from '../../aws/table.ts';
import type { AcceptedDispatches } from '../accept/accepted-dispatches-store.ts';
import { parameterStore } from '../accept/parameter-store.ts';
import { dispatchItemIn, standingIn, stateOf } from '../dispatch/item.ts';
import { dispatchItemStore } from '../dispatch/item-store.ts';
import { acceptedKey, dispatchKey } from '../dispatch/items.ts';
import { slicesBetween } from '../dispatch/slice-store.ts';
import { dispatchOfAcceptedItem } from '../dispatch/whole-dispatch.ts';
import { snapshotStore } from '../send/snapshot-store.ts';
import type { SenderDispatches } from './sender-ports.ts';

/** Reads dispatches for their number's sender, strongly consistent: item and record of one in one request. */
export function senderDispatchesStore(
  table: Pick<Table, 'client' | 'name' | 'pause'>,
  { withdraw, list }: Pick<AcceptedDispatches, 'withdraw' | 'list'>,
): SenderDispatches {
  return {
    look: snapshotStore(table),

    find: async (dispatchId) => {
      const keys = [dispatchKey(dispatchId), acceptedKey(dispatchId)] as const;
      const found = await batchGet(table, keys, { consistent: true });
      const [stored, accepted] = keys.map(({ sk }) => found.find((each) => each['sk'] === sk));
      const item = dispatchItemIn(stored ?? {});
      const dispatch = accepted === undefined ? undefined : dispatchOfAcceptedItem(accepted);
      return { standing: standingIn(item), state: stateOf(item), dispatch };
    },

    slicesFrom: (dispatchId, from, until) => slicesBetween(table, dispatchId, { from, until }),
    recipientsFrom: parameterStore(table).read,
    withdraw: (dispatchId) => withdraw(dispatchId),
    list: (dispatch) => list(dispatch),
    reckon: dispatchItemStore(table).reckon,
  };
}

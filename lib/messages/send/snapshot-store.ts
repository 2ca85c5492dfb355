import { batchGet } from '../../aws/dynamodb-batch.ts';
import type { Table } from '../../aws/table.ts';
import { markKeysOf } from '../../opt-outs/opt-out-items.ts';
import { dispatchItemIn, stateOf } from '../dispatch/item.ts';
import { dispatchKey, holdsKey } from '../dispatch/items.ts';
import { holdsOf } from '../holds/hold-store.ts';
import type { DispatchSnapshots } from './sending-ports.ts';

/**
 * Reads WABA, dispatches and opt-out marks in one strongly consistent request. Marks are never removed
 * (record-opt-out.ts), so a process reads each once.
 */
export function snapshotStore(table: Pick<Table, 'client' | 'name' | 'pause'>): DispatchSnapshots['look'] {
  const marked = new Set<string>();
  return async ({ wabaId, dispatchIds, optOutsOf }) => {
    const held = holdsKey(wabaId);
    const marks = optOutsOf === undefined ? [] : markKeysOf(optOutsOf);
    const isMarked = () => marks.some(({ pk }) => marked.has(pk));
    const keys = [held, ...[...new Set(dispatchIds)].map(dispatchKey), ...(isMarked() ? [] : marks)];
    const items = await batchGet(table, keys, { consistent: true });
    const byKey = new Map(items.map((item) => [item['pk'], item]));
    for (const { pk } of marks) if (byKey.has(pk)) marked.add(pk);
    const dispatches = [...new Set(dispatchIds)].flatMap((dispatchId) => {
      const item = byKey.get(dispatchKey(dispatchId).pk);
      return item === undefined ? [] : [[dispatchId, stateOf(dispatchItemIn(item))] as const];
    });
    return {
      holds: holdsOf(byKey.get(held.pk)),
      dispatches: new Map(dispatches),
      anyStops: isMarked(),
    };
  };
}

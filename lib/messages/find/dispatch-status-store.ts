import { batchGet, type Item } from '../../aws/dynamodb-batch.ts';
import type { Table } from '../../aws/table.ts';
import type { DispatchItemState } from '../dispatch/item.ts';
import { dispatchItemIn, stateOf } from '../dispatch/item.ts';
import { acceptedKey, dispatchKey, dispatchOfPartition, spentKey } from '../dispatch/items.ts';
import { type DispatchPointer, dispatchOfAcceptedItem } from '../dispatch/whole-dispatch.ts';
import { isStoppedLately, placesOf } from '../report/described-dispatch.ts';
import { countStates, type OutcomeCounts, outcomesOf, type WrittenMessages } from '../report/outcome.ts';
import { partitionsOfDispatch } from '../report/report-cursor.ts';
import { reportStore } from '../report/report-store.ts';
import { type StatementSummary, summaryOf } from '../spend/statement.ts';

export interface StoredStatus {
  readonly state: DispatchItemState;
  readonly counts: OutcomeCounts;
  readonly statement?: StatementSummary;
}

export interface StoredStatuses {
  /**
   * Returns statuses in order, up to a dispatch that needs too much reading (never the first). Null means withdrawn.
   * Makes one round trip, two if a dispatch was stopped just now.
   */
  of(listed: readonly DispatchPointer[]): Promise<readonly (StoredStatus | null)[]>;
}

/**
 * A thousand messages take two queries, for slices and receipts. The newest dispatches of a page share this budget;
 * statements describe the others.
 */
const mostPartitionsRead = 100;

export function dispatchStatusStore(table: Pick<Table, 'client' | 'name' | 'nowMs' | 'pause'>): StoredStatuses {
  const { nowMs } = table;
  const report = reportStore(table);
  const read = (dispatchId: string, total: number, how?: { readonly consistent: boolean }) =>
    report.readMessages(dispatchId, partitionsOfDispatch(total), how);

  return {
    of: async (listed) => {
      const live = listed.slice(0, readLive(listed));
      const keys = listed.flatMap(({ dispatchId }) => [
        dispatchKey(dispatchId),
        acceptedKey(dispatchId),
        spentKey(dispatchId),
      ]);
      const [items, ...messages] = await Promise.all([
        batchGet(table, keys, { consistent: true }),
        ...live.map(({ dispatchId, total }) => read(dispatchId, total)),
      ]);
      const ofDispatches = Map.groupBy(items, (item) => dispatchOfPartition(item['pk']));
      const standings: (StoredStatus | null)[] = [];
      for (const [at, pointer] of listed.entries()) {
        const dispatch = dispatchIn(ofDispatches.get(pointer.dispatchId) ?? []);
        const written = isStoppedLately(dispatch.state, nowMs())
          ? await read(pointer.dispatchId, pointer.total, { consistent: true })
          : messages[at];
        const counts = dispatch.isWithdrawn ? null : countsOf(pointer, dispatch, written);
        if (counts === undefined) break;
        standings.push(counts && { state: dispatch.state, counts, statement: dispatch.statement });
      }
      return standings;
    },
  };
}

/** Returns how many of the newest dispatches are read message by message; at least one. */
function readLive(listed: readonly DispatchPointer[]): number {
  let partitions = 0;
  const end = listed.findIndex(({ total }, at) => {
    partitions += partitionsOfDispatch(total).length;
    return at > 0 && partitions > mostPartitionsRead;
  });
  return end === -1 ? listed.length : end;
}

function dispatchIn(items: readonly Item[]) {
  const at = ({ sk }: { readonly sk: string }) => items.find((item) => item['sk'] === sk);
  const [dispatch, accepted, counted] = [at(dispatchKey('')), at(acceptedKey('')), at(spentKey(''))];
  const { repeats = [], positions } = accepted === undefined ? {} : dispatchOfAcceptedItem(accepted);
  return {
    isWithdrawn: dispatch?.['withdrawnAtMs'] !== undefined,
    state: stateOf(dispatchItemIn(dispatch ?? {})),
    repeats,
    positions,
    statement: counted === undefined ? undefined : summaryOf(counted),
  };
}

/** Counts from messages if read, else from the statement. Null means withdrawn, undefined that neither is there. */
function countsOf(
  { dispatchId, total }: DispatchPointer,
  { state, statement, ...dispatch }: ReturnType<typeof dispatchIn>,
  written: WrittenMessages | undefined,
): OutcomeCounts | null | undefined {
  if (written === undefined) return statement?.counts;
  const outcomeAt = outcomesOf({ ...state, head: { dispatchId } }, written);
  if (outcomeAt === undefined) return null;
  const places = placesOf({ ...dispatch, head: { total: total - dispatch.repeats.length } });
  return countStates(places.map(({ index }) => outcomeAt(index).state));
}

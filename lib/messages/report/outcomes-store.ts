import * as v from 'valibot';
import { batchGet, type Item, queryPartition } from '../../aws/dynamodb-batch.ts';
import type { Table } from '../../aws/table.ts';
import type { MessageKey } from '../dispatch/head.ts';
import { messageIdOf } from '../dispatch/head.ts';
import { DispatchItemSchema } from '../dispatch/item.ts';
import { dispatchesPartition, dispatchKey, dispatchOfPartition, dispatchSortKey } from '../dispatch/items.ts';
import { type Slice, sliceOf } from '../dispatch/slice.ts';
import { recipientsPerPartition } from '../dispatch/slice-items.ts';
import { sliceStore } from '../dispatch/slice-store.ts';
import { unknownOutcomesStore } from '../receipts/unknown-outcomes-store.ts';
import { addressAt, type DescribedDispatch, placesOf } from './described-dispatch.ts';
import { outcomesOf, type ReportedOutcome } from './outcome.ts';
import { partitionsOfDispatch } from './report-cursor.ts';
import { reportStore } from './report-store.ts';
import { resolveUnknown } from './resolve-unknown.ts';

export interface PlacedOutcome extends ReportedOutcome {
  /** The position is that in the request, as in the report (D40). */
  readonly position: number;
  readonly duplicateOf?: number;
}

export interface Period {
  readonly fromMs: number;
  readonly toMs: number;
}

interface DispatchesOf {
  readonly did: string;
  readonly clientIds: readonly number[];
}

/** Operators read outcomes strongly consistently. */
export interface Outcomes {
  /** Returns undefined for a dispatch that was never accepted, was withdrawn, or is forgotten. */
  findStored(dispatchId: string): Promise<DescribedDispatch | undefined>;
  /**
   * Lists dispatches of one DID and these clients accepted in a period, oldest first: those whose id is wanted, or all.
   */
  listAll(
    from: DispatchesOf & { readonly isWanted?: (dispatchId: string) => boolean },
    period: Period,
  ): Promise<DescribedDispatch[]>;
  /**
   * Lists the dispatches among these that wait for a hold, without reading the recipients of the others. `unreadable`
   * gets the ids of dispatches whose items cannot be read.
   */
  listParked(
    from: DispatchesOf,
    period: Period,
    unreadable: (dispatchId: string) => void,
  ): Promise<DescribedDispatch[]>;
  /** Returns one outcome per place of the request, in order. */
  ofDispatch(dispatch: DescribedDispatch): Promise<PlacedOutcome[]>;
  ofMessage(key: MessageKey): Promise<ReportedOutcome>;
  /** Works as `resolveUnknown`. */
  resolve(key: MessageKey, state: 'sent' | 'failed'): Promise<boolean>;
}

/** More requests side by side would time out while they wait for a socket, and their items fill the memory. */
const statesAtOnce = 1_000;

const PointerSchema = v.object({ sk: v.string(), dispatchId: v.string(), did: v.string() });

export function outcomesStore(table: Pick<Table, 'client' | 'name' | 'nowMs' | 'pause'>): Outcomes {
  const { nowMs } = table;
  const report = reportStore(table, { consistent: true });
  return {
    findStored: (dispatchId) => report.findDescribed(dispatchId),

    listAll: async ({ isWanted = () => true, ...from }, period) =>
      await described((await dispatchIdsOf(from, period)).filter(isWanted)),

    listParked: async (from, period, unreadable) => {
      const dispatchIds = await dispatchIdsOf(from, period);
      const dispatches: DescribedDispatch[] = [];
      for (let at = 0; at < dispatchIds.length; at += statesAtOnce) {
        for (const dispatchId of await waitingAmong(dispatchIds.slice(at, at + statesAtOnce))) {
          try {
            dispatches.push(...(await described([dispatchId])));
          } catch (error) {
            if (!v.isValiError(error)) throw error;
            unreadable(dispatchId);
          }
        }
      }
      return dispatches;
    },

    ofDispatch: async (dispatch) => {
      const { dispatchId, total } = dispatch.head;
      const outcomeAt = outcomesOf(dispatch, await report.readMessages(dispatchId, partitionsOfDispatch(total)));
      if (outcomeAt === undefined) return [];
      return placesOf(dispatch).map((place) => {
        const { index, spelling: _, ...shown } = place;
        return { ...outcomeAt(index), to: addressAt(dispatch, place), ...shown };
      });
    },

    ofMessage: async (key) => (await readMessage(key)).outcome,

    resolve: (key, state) =>
      resolveUnknown(key, state, {
        read: readMessage,
        slices: sliceStore(table),
        markUnknown: async (dispatchId) => {
          const dispatch = await report.findDescribed(dispatchId);
          if (dispatch !== undefined) await unknownOutcomesStore(table).mark(dispatch.head);
        },
        nowMs,
      }),
  };

  /** Returns the ids in the order of acceptance. */
  async function dispatchIdsOf({ did, clientIds }: DispatchesOf, { fromMs, toMs }: Period): Promise<string[]> {
    const partitions = clientIds.map(dispatchesPartition);
    const dispatchIds = new Map<string, string>();
    for (const partition of fromMs < toMs ? partitions : []) {
      // Dispatch ids sort after the bare end time, so the end is exclusive.
      const period = { from: dispatchSortKey(Math.max(fromMs, 0)), to: dispatchSortKey(toMs) };
      for (const item of await queryPartition(table, partition, period)) {
        const pointer = v.parse(PointerSchema, item);
        if (pointer.did === did) dispatchIds.set(pointer.sk, pointer.dispatchId);
      }
    }
    return [...dispatchIds].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, dispatchId]) => dispatchId);
  }

  /** Returns parked dispatches in this order, with those whose state cannot be read: they may be parked. */
  async function waitingAmong(dispatchIds: readonly string[]): Promise<string[]> {
    const items = await batchGet(table, dispatchIds.map(dispatchKey), { consistent: true });
    const waiting = new Set(items.filter(mayBeParked).map(({ pk }) => dispatchOfPartition(pk)));
    return dispatchIds.filter((dispatchId) => waiting.has(dispatchId));
  }

  async function described(dispatchIds: readonly string[]): Promise<DescribedDispatch[]> {
    const dispatches: DescribedDispatch[] = [];
    for (const dispatchId of dispatchIds) {
      const dispatch = await report.findDescribed(dispatchId);
      if (dispatch !== undefined) dispatches.push(dispatch);
    }
    return dispatches;
  }

  async function readMessage({ dispatchId, index }: MessageKey): Promise<{
    readonly slice: Slice | undefined;
    readonly outcome: ReportedOutcome;
  }> {
    const dispatch = await report.findDescribed(dispatchId);
    const written = await report.readMessages(dispatchId, [Math.floor(index / recipientsPerPartition)]);
    const outcomeAt = dispatch === undefined ? undefined : outcomesOf(dispatch, written);
    if (dispatch === undefined || outcomeAt === undefined) {
      return { slice: undefined, outcome: { messageId: messageIdOf({ dispatchId, index }), state: 'pending' } };
    }
    const slice = written.slices.get(sliceOf({ dispatchId, index }).slice);
    return { slice, outcome: { ...outcomeAt(index), ...toOf(dispatch, index) } };
  }
}

function mayBeParked(item: Item): boolean {
  const state = v.safeParse(DispatchItemSchema, item);
  return !state.success || (state.output.stop === undefined && state.output.parked !== undefined);
}

function toOf({ recipients }: DescribedDispatch, index: number) {
  return { to: recipients.get(index) };
}

import type { AcceptedDispatches } from '../../../lib/messages/accept/accepted-dispatches-store.ts';
import { type DispatchHead, messageIdOf } from '../../../lib/messages/dispatch/head.ts';
import { type DispatchItem, type DispatchItemState, stateOf } from '../../../lib/messages/dispatch/item.ts';
import type { DispatchItemStates } from '../../../lib/messages/dispatch/item-store.ts';
import { receiptGroupOf } from '../../../lib/messages/dispatch/items.ts';
import { pairRateDelaysMs } from '../../../lib/messages/dispatch/pair-rate-delays.ts';
import type { Slice, SliceKey } from '../../../lib/messages/dispatch/slice.ts';
import type { Slices } from '../../../lib/messages/dispatch/slice-store.ts';
import type { WholeDispatch } from '../../../lib/messages/dispatch/whole-dispatch.ts';
import type { Receipt } from '../../../lib/messages/receipts/receipt.ts';
import type { ProvenSlices, ReceiptRecords } from '../../../lib/messages/receipts/receipt-ports.ts';
import type { UnknownOutcomes } from '../../../lib/messages/send/sending-ports.ts';
import type { ReleaseCostPorts } from '../../../lib/messages/sender/cost-at-release.ts';
import { begun, type DispatchPort, itemInState, withdrawnDispatch, writtenByName } from './dispatch-item.ts';
import { appended, provenPlaces } from './receipt-items.ts';
import { sliceWrites } from './slice-item.ts';
import { writtenBy } from './written.ts';

/** Every call of a run passes `call`, which may count it, delay it or let it fail. */
export interface Caller {
  readonly call: <T>(name: string, effect: () => T | Promise<T>) => Promise<T>;
}

/** Each call of tests without faults and delays is its effect. */
export const nothingFails: Caller = { call: async (_, effect) => await effect() };

/** Reads of recipients have this page size. */
const pageSize = 500;

/**
 * The messages table in memory has dispatches, slices, receipts and doubts: the items of the model, for any number of
 * runs.
 */
export class MemoryTable {
  readonly dispatches = new Map<string, DispatchItem>();
  /** The dispatches of these heads have begun. */
  readonly heads = new Map<string, DispatchHead>();
  /** The keys are dispatch and number: `J 0`. */
  readonly slices = new Map<string, Slice>();
  readonly doubtful = new Set<string>();
  /** The keys are message ids. */
  readonly receipts: Record<string, readonly Receipt[]> = {};
  readonly #stored = new Map<string, WholeDispatch>();

  /** `set` keeps whether a dispatch has begun, and whatever else its item has. */
  readonly states = {
    get: (dispatchId: string): DispatchItemState | undefined => {
      const dispatch = this.dispatches.get(dispatchId);
      return dispatch === undefined ? undefined : stateOf(dispatch);
    },
    set: (dispatchId: string, state: DispatchItemState): void => {
      this.dispatches.set(dispatchId, itemInState(this.dispatches.get(dispatchId), state));
    },
  };

  statesOf(dispatchIds: readonly string[]): ReadonlyMap<string, DispatchItemState> {
    return picked(this.states, dispatchIds);
  }

  /** Stores a dispatch for its sender, as acceptance does. */
  store(dispatch: WholeDispatch): void {
    this.#stored.set(dispatch.head.dispatchId, dispatch);
  }

  put(...slices: readonly Slice[]): void {
    for (const slice of slices) this.slices.set(nameOf(slice.key), slice);
  }

  /** Reads strongly consistently. */
  find(key: SliceKey): Slice | undefined {
    return this.slices.get(nameOf(key));
  }

  begin(head: DispatchHead): 'begun' | 'withdrawn' {
    const { item, value } = begun(this.dispatches.get(head.dispatchId));
    this.#keep(head.dispatchId, item);
    if (value === 'begun') this.heads.set(head.dispatchId, head);
    return value;
  }

  ofAcceptance(run: Caller): Pick<AcceptedDispatches, 'store' | 'withdraw' | 'list' | 'begin'> {
    return {
      list: () => run.call('list', () => undefined),
      store: (dispatch) => run.call('store', () => this.store(dispatch)),
      begin: (head) => run.call('beginAccepted', () => this.begin(head)),
      withdraw: (dispatchId) =>
        run.call('withdraw', () => {
          const found = { dispatch: this.dispatches.get(dispatchId), slice: this.find({ dispatchId, slice: 0 }) };
          const { dispatch, slice, value } = withdrawnDispatch(found, dispatchId, 0);
          this.#keep(dispatchId, dispatch);
          if (slice !== undefined) this.put(slice);
          return value;
        }),
    };
  }

  /** What senders read of a dispatch beside its item. */
  ofStored(run: Caller): Pick<AcceptedDispatches, 'find' | 'list'> & ReleaseCostPorts['dispatches'] {
    return {
      find: (dispatchId) =>
        run.call('findStored', () => {
          const dispatch = this.#stored.get(dispatchId);
          if (dispatch === undefined) return undefined;
          const waitsMs = pairRateDelaysMs(dispatch.recipients);
          const { head, plan, repeats = [], lots, header } = dispatch;
          return { head, plan, repeats, waitsMs, lots, header };
        }),
      recipientsFrom: (dispatchId, firstIndex) =>
        run.call('findPage', () => {
          const end = pageSize * (Math.floor(firstIndex / pageSize) + 1);
          return this.#stored.get(dispatchId)?.recipients.slice(firstIndex, end) ?? [];
        }),
      list: () => run.call('listDispatch', () => undefined),
    };
  }

  ofStates(run: Caller): DispatchItemStates {
    return {
      of: (dispatchIds) => run.call('findStates', () => this.statesOf(dispatchIds)),
      stop: this.#writeOf(run, 'stop'),
      park: this.#writeOf(run, 'park'),
      parkTold: this.#writeOf(run, 'parkTold'),
      resume: this.#writeOf(run, 'resume'),
      unpark: this.#writeOf(run, 'unpark'),
    };
  }

  ofSlices(run: Caller): Slices {
    const write = <Name extends keyof typeof sliceWrites>(name: Name, as: string) =>
      ((...args: Parameters<Slices[Name]>) => {
        const [{ key }] = args;
        return run.call(as, () => {
          const { item, value } = writtenBy(sliceWrites, name, this.find(key), args);
          if (item !== undefined) this.put(item);
          return value;
        });
      }) as Slices[Name];
    return {
      claim: write('claim', 'claimSlice'),
      end: write('end', 'endSlice'),
      endForTheDead: write('endForTheDead', 'endSlice'),
      settle: write('settle', 'endSlice'),
      find: (key) => run.call('findSlice', () => this.find(key)),
      // The slice is read before it is written, so that no concurrent change is overwritten.
      endUncalled: async (claim, outcomes) => {
        const seen = await run.call('findSlice', () => this.find(claim.key));
        const { item, value } = sliceWrites.endUncalled(seen, claim, outcomes);
        if (item === seen || item === undefined) return value;
        return await run.call('endSlice', () => {
          if (this.find(claim.key)?.version !== seen?.version) throw new Error('the slice has changed meanwhile');
          this.put(item);
          return value;
        });
      },
    };
  }

  ofDoubts(run: Caller): UnknownOutcomes {
    return {
      mark: ({ dispatchId }) => run.call('mark', () => void this.doubtful.add(dispatchId)),
      proven: (key) => run.call('hasReceipt', () => provenPlaces(this.receipts, key)),
    };
  }

  ofReceipts(run: Caller): { readonly records: ReceiptRecords; readonly slices: ProvenSlices } {
    return {
      records: {
        findHeads: (dispatchIds) => run.call('findHeads', () => picked(this.heads, dispatchIds)),
        append: (_, receipts) => run.call('append', () => this.append(...receipts)),
        dispatchesWithUnknown: (dispatchIds) =>
          run.call(
            'dispatchesWithUnknown',
            () => new Set(dispatchIds.filter((dispatchId) => this.doubtful.has(dispatchId))),
          ),
        ofGroup: (dispatchId, group) =>
          run.call('ofGroup', () =>
            Object.values(this.receipts)
              .flat()
              .filter((each) => each.dispatchId === dispatchId && receiptGroupOf(each.index) === group),
          ),
      },
      slices: {
        findAll: (keys) => run.call('findSlices', () => [...new Set(keys.flatMap((key) => this.find(key) ?? []))]),
      },
    };
  }

  append(...receipts: readonly Receipt[]): void {
    for (const receipt of receipts) {
      const id = messageIdOf(receipt);
      this.receipts[id] = appended(this.receipts[id], receipt);
    }
  }

  /** Writes one dispatch, under the name that its run calls. */
  #writeOf<Name extends keyof DispatchPort>(run: Caller, name: Name, as: string = name): DispatchPort[Name] {
    const write = (...args: readonly unknown[]) => {
      const [dispatch] = args as [string | { readonly dispatchId: string }];
      const dispatchId = typeof dispatch === 'string' ? dispatch : dispatch.dispatchId;
      return run.call(as, () => {
        const { item, value } = writtenByName(name, this.dispatches.get(dispatchId), args);
        this.#keep(dispatchId, item);
        return value;
      });
    };
    return write as DispatchPort[Name];
  }

  #keep(dispatchId: string, dispatch: DispatchItem | undefined): void {
    if (dispatch !== undefined) this.dispatches.set(dispatchId, dispatch);
  }
}

function picked<T>(
  from: { readonly get: (dispatchId: string) => T | undefined },
  dispatchIds: readonly string[],
): ReadonlyMap<string, T> {
  const found = dispatchIds.map((dispatchId) => [dispatchId, from.get(dispatchId)] as const);
  return new Map(found.flatMap(([dispatchId, one]) => (one === undefined ? [] : [[dispatchId, one]])));
}

function nameOf({ dispatchId, slice }: SliceKey): string {
  return `${dispatchId} ${slice}`;
}

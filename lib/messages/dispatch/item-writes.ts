import { type AfterWrite, absent, equals, type ItemWrite, present, unlessThere } from '../../aws/item-write.ts';
import { otherMarket } from '../../pricing/country.ts';
import type { DispatchHead } from './head.ts';
import type { DispatchItem, DispatchParked, DispatchStop } from './item.ts';
import { type DispatchAge, dispatchExpiresAtSeconds, longestDispatchMemorySeconds } from './items.ts';
import { packedAddresses } from './whole-dispatch.ts';

/** A write of a dispatch's item, and the writer's answer. Every write may be repeated. */
export interface DispatchWrite<Value> extends ItemWrite<DispatchItem> {
  readonly dispatchId: string;
  /** Has the item only of a refused write. */
  readonly answer: (after: AfterWrite<DispatchItem>) => Value;
}

/** Each write as a call of a store. */
export type CallsOf<Writes> = {
  readonly [Name in keyof Writes]: Writes[Name] extends (...args: infer Args) => DispatchWrite<infer Value>
    ? (...args: Args) => Promise<Value>
    : never;
};

type Execute = <Value>(write: DispatchWrite<Value>) => Promise<Value>;

/** Returns the calls of a store that executes the writes. Each rejects when it cannot be reached. */
export function callsOf<Writes extends object>(writes: Writes, execute: Execute): CallsOf<Writes> {
  const calls = Object.entries(writes).map(([name, write]) => [
    name,
    (...args: readonly unknown[]) => execute(write(...args)),
  ]);
  return Object.fromEntries(calls) as CallsOf<Writes>;
}

const isWritten = ({ written }: AfterWrite<DispatchItem>) => written;

// Begin and withdraw exclude each other: they decide whether a dispatch is sent (D25). Only TTL removes the item.

// A straight request is begun by its acceptance after the queue's confirmation, or by the worker that has claimed slice
// 0, before anything leaves. A withdrawal takes slice 0 as well.

// A worker claims a slice, then reads the item and holds (strongly), then calls. So a claim after a stop ends as `stop`
// says, and a held try as `again`.

export const dispatchWrites = {
  /** Begins a dispatch unless it is withdrawn: from then on all of it is sent. An existing head stays. */
  begin: (head: DispatchHead, addresses?: readonly (string | undefined)[]): DispatchWrite<'begun' | 'withdrawn'> => ({
    dispatchId: head.dispatchId,
    if: [absent('withdrawnAtMs')],
    set: {
      head: unlessThere(JSON.stringify(head)),
      to: addresses && unlessThere(packedAddresses(addresses.map((to) => to ?? { market: otherMarket }))),
      expiresAtSeconds: dispatchExpiresAtSeconds(head),
    },
    answer: ({ written }) => (written ? 'begun' : 'withdrawn'),
  }),

  /**
   * Withdraws a dispatch unless it has begun: nothing of it is sent, whatever queues hold. The item is kept for the
   * longest life of any dispatch, because anything of this one may be found that long.
   */
  withdraw: (dispatchId: string, nowMs: number): DispatchWrite<'withdrawn' | 'begun'> => ({
    dispatchId,
    if: [absent('head')],
    set: { withdrawnAtMs: nowMs, expiresAtSeconds: Math.ceil(nowMs / 1_000) + longestDispatchMemorySeconds },
    answer: ({ written }) => (written ? 'withdrawn' : 'begun'),
  }),

  /**
   * Stops the dispatch, also before it begins. The first stop is final, ends `parked`, and means nothing for a
   * withdrawn dispatch. Returns true when this stop is in force, false when an earlier one is.
   */
  stop: (
    dispatch: Pick<DispatchHead, 'dispatchId' | 'phoneNumberId' | 'when' | keyof DispatchAge>,
    stop: DispatchStop,
  ): DispatchWrite<boolean> => ({
    dispatchId: dispatch.dispatchId,
    if: [absent('stop')],
    // Before the dispatch begins there is no item yet, and TTL must find one.
    set: { stop, expiresAtSeconds: unlessThere(dispatchExpiresAtSeconds(dispatch)) },
    remove: ['parked'],
    own: [equals('stop.atMs', stop.atMs), equals('stop.code', stop.code)],
    answer: isWritten,
  }),

  // A pause is told through its item (sender/pause.ts): parked and untold, parked and told, resumed and untold, gone.
  // Each write names the pause, so a late one of a dead sender changes no later pause.

  /**
   * Parks a dispatch that has begun: its sender has found it held. Returns true when this parking is in force, false
   * when the dispatch was parked before, is stopped, or is gone.
   */
  park: (dispatchId: string, parked: DispatchParked): DispatchWrite<boolean> => ({
    dispatchId,
    if: [present('head'), absent('stop'), absent('parked')],
    set: { parked: { ...parked, untold: 'parked' } },
    own: [equals('parked.sinceMs', parked.sinceMs)],
    answer: isWritten,
  }),

  /** Notes that the beginning of exactly this pause is told. */
  parkTold: (dispatchId: string, { code, scope, sinceMs }: DispatchParked): DispatchWrite<void> => ({
    dispatchId,
    if: [equals('parked.sinceMs', sinceMs), equals('parked.untold', 'parked')],
    set: { parked: { code, scope, sinceMs } },
    answer: () => undefined,
  }),

  /** Ends exactly this pause, whose end is to be told. Returns false when it is over, or the dispatch is stopped. */
  resume: (dispatchId: string, { sinceMs }: DispatchParked): DispatchWrite<boolean> => ({
    dispatchId,
    if: [equals('parked.sinceMs', sinceMs)],
    set: { 'parked.untold': 'resumed' },
    answer: isWritten,
  }),

  /** Forgets exactly this pause, once its end is told. */
  unpark: (dispatchId: string, { sinceMs }: DispatchParked): DispatchWrite<void> => ({
    dispatchId,
    if: [equals('parked.sinceMs', sinceMs)],
    remove: ['parked'],
    answer: () => undefined,
  }),

  /**
   * Stores the tries under way of a stopped dispatch, once, after a strong read of all its slices; returns the stored
   * ones. Any other try ends as stopped, so an ended message never becomes pending again, without comparing clocks.
   */
  reckon: (
    dispatchId: string,
    underWay: Required<DispatchItem>['underWay'],
  ): DispatchWrite<Required<DispatchItem>['underWay']> => ({
    dispatchId,
    if: [present('stop'), absent('underWay')],
    set: { underWay },
    answer: ({ item }) => item?.underWay ?? underWay,
  }),

  /** Names a retry at the dispatch that it retries (D57). Does nothing once that is forgotten. */
  nameRetry: (dispatchId: string, retry: string): DispatchWrite<void> => ({
    dispatchId,
    if: [present('head')],
    add: { retriedBy: new Set([retry]) },
    answer: () => undefined,
  }),
};

import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { EventSink, SubscribedTypes } from '../../webhooks/event.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import type { DispatchItem } from '../dispatch/item.ts';
import type { Slice, SliceKey } from '../dispatch/slice.ts';
import type { HoldsOfWabas } from '../holds/hold-store.ts';
import type { InboundSink } from '../inbound/inbound-message.ts';
import type { Receipt } from './receipt.ts';

/** `erased` are the indexes of erased people (D60). */
export type HeadOfDispatch = DispatchHead & Pick<DispatchItem, 'erased'>;

/** These receipts of one dispatch count. */
export interface ReceiptsOfDispatch {
  readonly head: DispatchHead;
  readonly receipts: readonly Receipt[];
}

/** Reads are strongly consistent, writes idempotent. */
export interface ReceiptRecords {
  /** Returns heads by dispatch id, without missing dispatches. */
  findHeads(dispatchIds: readonly string[]): Promise<ReadonlyMap<string, HeadOfDispatch | 'unreadable'>>;
  append(head: DispatchHead, receipts: readonly Receipt[]): Promise<void>;
  dispatchesWithUnknown(dispatchIds: readonly string[]): Promise<ReadonlySet<string>>;
  ofGroup(dispatchId: string, group: number): Promise<readonly Receipt[]>;
}

export interface ProvenSlices {
  /** Returns the existing slices, each once, in any order, strongly consistent. */
  findAll(keys: readonly SliceKey[]): Promise<readonly Slice[]>;
}

/** Returns addresses by message id, without those of dispatches that are not there. Reads strongly. */
export type AddressesOf = (
  messages: readonly Pick<Receipt, 'dispatchId' | 'index'>[],
) => Promise<ReadonlyMap<string, string>>;

export interface ReceiptPorts {
  readonly records: ReceiptRecords;
  readonly slices: ProvenSlices;
  readonly addressesOf: AddressesOf;
  readonly changeHolds: HoldsOfWabas['change'];
  readonly wanted: SubscribedTypes;
  readonly events: EventSink;
  /** Counts the cost that appended receipts change, now or later (D58). Is idempotent. */
  readonly countCost: (dispatches: readonly ReceiptsOfDispatch[]) => Promise<void>;
  /** Takes refusals of marketing to people (D55). */
  readonly inbound: InboundSink;
  readonly nowMs: () => number;
  readonly remainingMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

import { type AfterWrite, after } from '../../../lib/aws/item-write.ts';
import { type DispatchItem, type DispatchItemState, stateOf } from '../../../lib/messages/dispatch/item.ts';
import { type CallsOf, type DispatchWrite, dispatchWrites } from '../../../lib/messages/dispatch/item-writes.ts';
import { type Slice, type SliceKey, sliceSize, withdrawn } from '../../../lib/messages/dispatch/slice.ts';
import { makeDispatchHead } from '../made-dispatches.ts';
import type { Written } from './written.ts';

export type DispatchPort = CallsOf<typeof dispatchWrites>;

/** Models hold the item as it is stored, and apply the product's own writes to it. */
export function written<Value>(
  item: DispatchItem | undefined,
  write: DispatchWrite<Value>,
): Written<DispatchItem, Value> {
  const next: AfterWrite<DispatchItem> = after(write, item);
  return { item: next.item, value: write.answer(next) };
}

/** Applies a write that is known only by its name, as a call that a run waits for. */
export function writtenByName(
  name: string,
  item: DispatchItem | undefined,
  args: readonly unknown[],
): Written<DispatchItem, unknown> {
  const write = (dispatchWrites as Record<string, (...args: readonly unknown[]) => DispatchWrite<unknown>>)[name];
  if (write === undefined) throw new Error(`${name} is no write of a dispatch`);
  return written(item, write(...args));
}

/** Small states need a short head. */
export const begunItem: DispatchItem = { head: 'a head' };

/** Begins a dispatch for acceptance, or the worker of a small request. */
export function begun(item: DispatchItem | undefined): Written<DispatchItem, 'begun' | 'withdrawn'> {
  const { item: next, value } = written(item, dispatchWrites.begin(makeDispatchHead()));
  return { item: value === 'begun' ? { ...item, ...begunItem } : next, value };
}

/** A withdrawal writes both a dispatch and its slice 0, or neither. */
export interface Withdrawable {
  readonly dispatch: DispatchItem | undefined;
  readonly slice: Slice | undefined;
}

export function withdrawnDispatch(
  { dispatch, slice }: Withdrawable,
  dispatchId: SliceKey['dispatchId'],
  atMs: number,
): Withdrawable & { readonly value: 'withdrawn' | 'begun' } {
  const taken = withdrawn({ key: { dispatchId, slice: 0 }, size: sliceSize, atMs });
  const isFree = slice === undefined || slice.owner === taken.owner;
  const { item, value } = written(dispatch, dispatchWrites.withdraw(dispatchId, atMs));
  if (value === 'begun' || !isFree) return { dispatch, slice, value: 'begun' };
  return { dispatch: item, slice: taken, value };
}

/** Returns the item in this state, with whatever else it has. */
export function itemInState(
  item: DispatchItem | undefined,
  { begun: hasBegun, ...state }: DispatchItemState,
): DispatchItem {
  const head = hasBegun ? begunItem.head : item?.head;
  return { ...item, ...stateOf({}), ...state, head } as DispatchItem;
}

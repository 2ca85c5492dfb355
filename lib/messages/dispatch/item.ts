import * as v from 'valibot';
import { parkedScopes } from '../../webhooks/event.ts';
import { type DispatchHead, DispatchHeadSchema } from './head.ts';

/*
 * A dispatch has one item, which decides whether it is sent (D25) and what holds its messages back (D46, D53). All its
 * writes are in item-writes.ts.
 */

/** Every unclaimed message ends this way. A stop never changes. */
const DispatchStopSchema = v.object({
  state: v.picklist(['failed', 'expired']),
  /** The code may be our own: `cancelled`, `template_paused`. */
  code: v.string(),
  /** The reason is the client's data: stored, never logged. */
  reason: v.optional(v.string()),
  atMs: v.number(),
});
export type DispatchStop = v.InferOutput<typeof DispatchStopSchema>;

/** A message ends this way without a call. */
export type Settlement = Omit<DispatchStop, 'atMs'>;

/** `sinceMs` identifies the waiting that client and report see, so that a writer never ends a later one. */
const ParkingSchema = v.object({
  /** The code may be our own: `template_in_review`, `template_paused`, `no_answer`. */
  code: v.string(),
  /** The dispatch waits for this scope of the hold that its messages met (holds/scope.ts). */
  scope: v.picklist(parkedScopes),
  sinceMs: v.number(),
  /** Its beginning or its end may not be told yet: the number's sender tells it, however many senders die. */
  untold: v.optional(v.picklist(['parked', 'resumed'])),
});
export type DispatchParked = v.InferOutput<typeof ParkingSchema>;

export const DispatchItemSchema = v.object({
  /**
   * The dispatch counts: none is withdrawn any more. The head is text: `attends` is unvalidated (D28), and a DynamoDB
   * map allows no 33rd level, empty name or large number.
   */
  head: v.optional(v.string()),
  /** Packed addresses of a straight dispatch, which has no items of recipients. */
  to: v.optional(v.instance(Uint8Array)),
  /** Nothing of the dispatch is sent. */
  withdrawnAtMs: v.optional(v.number()),
  /** A dispatch that is both stopped and parked is stopped. */
  stop: v.optional(DispatchStopSchema),
  /** Informs client and report; the holds alone decide whether a message is called. */
  parked: v.optional(ParkingSchema),
  /** By slice, a worker may still be calling these tries of a stopped dispatch, from a read after the stop. */
  underWay: v.optional(v.record(v.string(), v.number())),
  /** The operator has erased these recipients (D60): open ones are no longer called. */
  erased: v.optional(v.set(v.number())),
  /** These dispatches retry recipients of this one (D57). */
  retriedBy: v.optional(v.set(v.string())),
  /** The operator has not yet erased all that it has marked (erase/erase-dispatch-store.ts). */
  erasing: v.optional(v.boolean()),
  expiresAtSeconds: v.optional(v.number()),
});
export type DispatchItem = Readonly<v.InferOutput<typeof DispatchItemSchema>>;

/** What holds back the messages of a dispatch as a whole, and what a stop and a report need. */
export interface DispatchItemState extends Pick<DispatchItem, 'stop' | 'parked' | 'underWay' | 'erased' | 'retriedBy'> {
  /** The head is written: the dispatch counts. */
  readonly begun?: true;
}

/** Parses a stored item. Throws on an item of another form. */
export function dispatchItemIn(stored: unknown): DispatchItem {
  return v.parse(DispatchItemSchema, stored);
}

export function stateOf({ head, ...item }: DispatchItem): DispatchItemState {
  const { stop, parked, underWay, erased, retriedBy } = item;
  return { begun: head === undefined ? undefined : true, stop, parked, underWay, erased, retriedBy };
}

/** An `open` dispatch may still begin, or never will. */
export function standingIn({ head, withdrawnAtMs }: DispatchItem): 'open' | 'begun' | 'withdrawn' {
  if (withdrawnAtMs !== undefined) return 'withdrawn';
  return head === undefined ? 'open' : 'begun';
}

const HeadTextSchema = v.pipe(v.string(), v.parseJson(), DispatchHeadSchema);

/** Returns the head of a dispatch that has begun. */
export function headIn({ head }: Pick<DispatchItem, 'head'>): DispatchHead | undefined {
  return head === undefined ? undefined : v.parse(HeadTextSchema, head);
}

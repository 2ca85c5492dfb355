import * as v from 'valibot';
import { parkedScopes } from '../webhooks/event.ts';
import type { DispatchHead } from './dispatch.ts';
import { afterOpenTimeMs, type Lot, openingsOfAll } from './lots.ts';

/*
 * A stop or park holds back the messages of a dispatch as a whole (D46, D53). items.ts, `mayStop`, has the writers and
 * their order.
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

/** A dispatch waits for the scope of the hold that its messages met (holds/scope.ts). */
export type ParkScope = (typeof parkedScopes)[number];

/** `sinceMs` identifies the waiting that client and report see, so that a writer never ends a later one. */
export const ParkingSchema = v.object({
  /** The code may be our own: `template_in_review`, `template_paused`, `no_answer`. */
  code: v.string(),
  scope: v.picklist(parkedScopes),
  sinceMs: v.number(),
  /** The platform has taken a message since: the waiting ends once nothing holds the dispatch. */
  goesOn: v.optional(v.literal(true)),
});
export type DispatchParked = v.InferOutput<typeof ParkingSchema>;

/**
 * A dispatch that is both stopped and parked is stopped. `parked` informs client and report and stops the fan-out; the
 * holds alone decide whether a message is called (holds/hold.ts).
 */
export interface DispatchItemState {
  /** The head is written: the dispatch counts (items.ts, `mayBegin`). */
  readonly begun?: true;
  readonly stop?: DispatchStop;
  readonly parked?: DispatchParked;
  /**
   * The pause starts with the first waiting since the platform took a message of the dispatch, and outlasts single
   * waitings.
   */
  readonly pausedFromMs?: number;
  readonly underWay?: UnderWay;
  /** The operator has erased these recipients (D60): open ones are no longer called. */
  readonly erased?: ReadonlySet<number>;
  /** These dispatches retry recipients of this one (D57). */
  readonly retriedBy?: ReadonlySet<string>;
}

/**
 * A worker may still be calling these tries of a stopped dispatch, by slice, from a read after the stop (items.ts,
 * `mayReckon`).
 */
const UnderWaySchema = v.record(v.string(), v.number());
export type UnderWay = Readonly<v.InferOutput<typeof UnderWaySchema>>;

export const DispatchItemStateSchema = v.object({
  stop: v.optional(DispatchStopSchema),
  parked: v.optional(ParkingSchema),
  pausedFromMs: v.optional(v.number()),
  underWay: v.optional(UnderWaySchema),
  erased: v.optional(v.set(v.number())),
  retriedBy: v.optional(v.set(v.string())),
});

/** Every write may be repeated. All reject when the store cannot be reached. */
export interface DispatchItemStates {
  /** Makes one strongly consistent request for up to 100 dispatches. Dispatches without an item are left out. */
  of(dispatchIds: readonly string[]): Promise<ReadonlyMap<string, DispatchItemState>>;
  /**
   * Stops the dispatch, also before the fan-out begins it. Returns true when this stop is in force, false when an
   * earlier one is.
   */
  stop(dispatch: StoppedDispatch, stop: DispatchStop): Promise<boolean>;
  /**
   * Parks the dispatch. Returns true when this parking is in force, false when the dispatch was parked before, is
   * stopped, or is gone.
   */
  park(dispatchId: string, parked: DispatchParked): Promise<boolean>;
  /** Notes that the platform took a message while the dispatch is parked. */
  goOn(dispatchId: string, sinceMs: number): Promise<void>;
  /**
   * Ends this waiting, and the pause too if the platform has taken a message since. Returns false when the waiting had
   * ended, or another had begun.
   */
  resume(dispatchId: string, parked: DispatchParked): Promise<boolean>;
  /** Ends the pause of a dispatch that is not parked. Returns false when it is parked again: the pause goes on. */
  endPause(dispatchId: string): Promise<boolean>;
}

export type StoppedDispatch = Pick<DispatchHead, 'dispatchId' | 'acceptedAtMs' | 'keptUntilMs'>;

/** Returns the stop that a client's cancellation writes (D53). */
export function cancelled(atMs: number): DispatchStop {
  return { state: 'failed', code: 'cancelled', atMs };
}

/** A dispatch waits no longer for a hold (D46). */
export const longestParkMs = 24 * 3_600_000;

/** Returns the delay until a parked message, its round message or its watcher looks again. */
export function parkDelaySeconds(parkedForMs: number): number {
  return Math.min(120, Math.max(15, Math.ceil(parkedForMs / 4_000)));
}

export type ByDispatchState =
  | { readonly kind: 'send' }
  | { readonly kind: 'wait'; readonly delaySeconds: number }
  | { readonly kind: 'settle'; readonly settlement: Pick<DispatchStop, 'state' | 'code' | 'reason'> };

/**
 * Decides by the dispatch's state, read between claim and call (D46, D53). A message that waits gives its claim back
 * and returns as a copy.
 */
export function byDispatchState(state: DispatchItemState, message: Ending, nowMs: number): ByDispatchState {
  const { stop, parked } = state;
  if (stop !== undefined) return { kind: 'settle', settlement: settlementOf(stop) };
  if (parked === undefined) return { kind: 'send' };
  const waiting = { ...state, parked };
  if (nowMs >= parkEndMs(waiting, message)) {
    return { kind: 'settle', settlement: { state: 'expired', code: parked.code } };
  }
  return { kind: 'wait', delaySeconds: parkDelaySeconds(nowMs - pauseFromMs(waiting)) };
}

export function settlementOf({
  atMs: _when,
  ...settlement
}: DispatchStop): Pick<DispatchStop, 'state' | 'code' | 'reason'> {
  return settlement;
}

/**
 * Returns how a try ends for certain, unless receipts prove otherwise: its worker saw the stop, or died before. Returns
 * undefined while unknown.
 */
export function endOfTry(
  { stop, underWay }: DispatchItemState,
  { slice, try: tried }: { readonly slice: number; readonly try: number },
): DispatchStop | undefined {
  const under = underWay?.[slice];
  return underWay !== undefined && (under === undefined || tried > under) ? stop : undefined;
}

export type Waiting = Pick<DispatchItemState, 'pausedFromMs'> & { readonly parked: DispatchParked };

/** Returns the start of the pause. A pause has several waitings when a template is approved again but still refused. */
export function pauseFromMs({ parked: { sinceMs }, pausedFromMs = sinceMs }: Waiting): number {
  return Math.min(pausedFromMs, sinceMs);
}

export interface Ending {
  readonly expiresAtMs?: number | undefined;
  readonly lots?: readonly Lot[] | undefined;
}

/**
 * Returns when a parked dispatch or message expires: with its time to live, or after a day of pause, for scheduled
 * sends a day of open time (D56).
 */
export function parkEndMs(waiting: Waiting, { expiresAtMs = Number.POSITIVE_INFINITY, lots }: Ending): number {
  const fromMs = pauseFromMs(waiting);
  const endMs = lots ? afterOpenTimeMs(openingsOfAll(lots), fromMs, longestParkMs) : fromMs + longestParkMs;
  return Math.min(endMs, expiresAtMs);
}

import type { AcceptedDispatches } from '../../../lib/messages/accept/accepted-dispatches-store.ts';
import type { DispatchItemState, DispatchItemStates } from '../../../lib/messages/dispatch-item-state.ts';
import {
  againstTaking,
  type DispatchRounds,
  leaseMs,
  type Progress,
  type RoundRecord,
  type RoundRun,
} from '../../../lib/messages/fan-out/dispatch-rounds.ts';
import type { Report } from '../../../lib/messages/report/report-store.ts';
import { type Slice, type SliceKey, sliceSize, withdrawn } from '../../../lib/messages/send/claims/slice.ts';
import type { WritesOf, Written } from './written.ts';

/** A dispatch's item has as plain data its state, and the progress of its fan-out. */
export interface DispatchItem extends DispatchItemState {
  readonly withdrawn?: true;
  /** Both are absent until a round is claimed or announced. */
  readonly round?: RoundRecord;
  readonly progress?: Progress;
}

export type DispatchPort = Pick<DispatchItemStates, 'stop' | 'park' | 'goOn' | 'resume' | 'endPause'> &
  Pick<DispatchRounds, 'begin' | 'take' | 'announce' | 'handOver'> &
  Pick<Report, 'reckon'>;

/**
 * A dispatch's item is written under the conditions of items.ts and dispatch-rounds-store.ts
 * (dispatch-item-state-store.adapter.test.ts).
 */
export const dispatchWrites: WritesOf<DispatchItem, DispatchPort> = {
  begin: (dispatch) => begun(dispatch),

  stop: (dispatch, _, stop) => {
    const known = dispatch?.stop;
    if (known !== undefined) return { item: dispatch, value: known.atMs === stop.atMs && known.code === stop.code };
    const { parked: _over, pausedFromMs: _too, ...rest } = dispatch ?? {};
    return { item: { ...rest, stop }, value: true };
  },

  park: (dispatch, _, parked) => {
    if (!dispatch?.begun || dispatch.stop !== undefined || dispatch.parked !== undefined) {
      return { item: dispatch, value: dispatch?.parked?.sinceMs === parked.sinceMs };
    }
    return { item: { ...dispatch, parked, pausedFromMs: dispatch.pausedFromMs ?? parked.sinceMs }, value: true };
  },

  goOn: (dispatch, _, sinceMs) => {
    const parked = dispatch?.parked;
    if (parked?.sinceMs !== sinceMs) return { item: dispatch, value: undefined };
    return { item: { ...dispatch, parked: { ...parked, goesOn: true } }, value: undefined };
  },

  resume: (dispatch, _, { sinceMs, goesOn }) => {
    if (dispatch?.parked?.sinceMs !== sinceMs) return { item: dispatch, value: false };
    const { parked: _over, pausedFromMs, ...rest } = dispatch;
    return { item: { ...rest, ...(goesOn ? {} : { pausedFromMs }) }, value: true };
  },

  endPause: (dispatch) => {
    if (dispatch === undefined || dispatch.parked !== undefined)
      return { item: dispatch, value: dispatch === undefined };
    const { pausedFromMs: _over, ...rest } = dispatch;
    return { item: rest, value: true };
  },

  take: (dispatch, run, nowMs) => {
    const against = againstTaking(dispatch?.round, run, nowMs);
    // An item without its head has expired.
    if (against !== undefined || !dispatch?.begun) return { item: dispatch, value: against ?? { kind: 'over' } };
    const progress = dispatch.progress ?? { queued: 0 };
    const item = { ...dispatch, round: heldFrom(nowMs, run) };
    return { item, value: { kind: 'taken', progress, state: toldToRounds(item) } };
  },

  announce: (dispatch, run, progress, nowMs) => {
    const { queued = 0, wave } = dispatch?.progress ?? {};
    const takesWaveBack = progress.queued === queued && wave !== undefined && progress.wave === undefined;
    const isBehind = progress.queued < queued || takesWaveBack;
    if (!isHeldBy(dispatch, run) || isBehind) return { item: dispatch, value: undefined };
    const item = { ...dispatch, progress, round: heldFrom(nowMs, run) };
    return { item, value: toldToRounds(item) };
  },

  handOver: (dispatch, run, progress, next) => {
    if (!isHeldBy(dispatch, run))
      return { item: dispatch, value: againstTaking(dispatch?.round, run, 0)?.kind === 'over' };
    return { item: { ...dispatch, progress, round: next }, value: true };
  },

  reckon: (dispatch, _, underWay) => {
    if (dispatch?.stop === undefined || dispatch.underWay !== undefined)
      return { item: dispatch, value: dispatch?.underWay ?? underWay };
    return { item: { ...dispatch, underWay }, value: underWay };
  },
};

/** Begins a dispatch for the fan-out, acceptance, or the worker of a straight chunk. */
export function begun(dispatch: DispatchItem | undefined): Written<DispatchItem, 'begun' | 'withdrawn'> {
  if (dispatch?.withdrawn) return { item: dispatch, value: 'withdrawn' };
  return { item: { ...dispatch, begun: true }, value: 'begun' };
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
): Withdrawable & { readonly value: Awaited<ReturnType<AcceptedDispatches['withdraw']>> } {
  const taken = withdrawn({ key: { dispatchId, slice: 0 }, size: sliceSize, atMs });
  const isFree = slice === undefined || slice.owner === taken.owner;
  if (dispatch?.begun || !isFree) return { dispatch, slice, value: 'begun' };
  return { dispatch: { ...dispatch, withdrawn: true }, slice: taken, value: 'withdrawn' };
}

/** Returns the state that readers of the dispatch's item see. */
export function stateOf({
  withdrawn: _,
  round: _round,
  progress: _progress,
  ...state
}: DispatchItem): DispatchItemState {
  return state;
}

/** Leaves out that the dispatch has begun, because a round knows it. */
function toldToRounds(dispatch: DispatchItem): DispatchItemState {
  const { begun: _, ...state } = stateOf(dispatch);
  return state;
}

function heldFrom(nowMs: number, { round, owner }: RoundRun): RoundRecord {
  return { round, lease: { owner, untilMs: nowMs + leaseMs } };
}

function isHeldBy(dispatch: DispatchItem | undefined, { round, owner }: RoundRun): boolean {
  return dispatch?.round?.round === round && dispatch.round.lease?.owner === owner;
}

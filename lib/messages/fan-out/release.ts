import type { DispatchHead } from '../dispatch/head.ts';
import { sliceSize } from '../dispatch/slice.ts';
import { bulkEveryMs, type NumberPace } from '../pace/number-pace.ts';
import type { NumberPaces } from '../pace/number-paces.ts';
import { laneOf, reserve } from '../pace/reserve.ts';
import { type Schedule, shareOf, turnAt } from '../pace/schedule.ts';
import type { LaneName } from '../pace/segments.ts';
import { horizonMs, lastSlotMsOf, nextRoundSeconds } from './release-horizon.ts';

export interface ReleasePorts {
  readonly paces: NumberPaces;
  readonly limitOf: (head: DispatchHead) => Promise<number>;
  readonly nowMs: () => number;
}

/** Messages may leave until its end; `lengthMs` is its whole length. */
export interface OpeningNow {
  readonly untilMs: number;
  readonly lengthMs: number;
}

export interface Release {
  readonly lane: LaneName;
  readonly limitPerSecond: number;
  everyMs(): number;
  schedule(): Schedule;
  /**
   * Returns the size of the next wave, with slots before the end of `opening`: 0 when this round has released enough,
   * or no slice fits.
   */
  next(opening?: OpeningNow): number;
  reserve(count: number): Promise<number>;
  readonly nextRoundSeconds: number;
  lastMs(): number;
}

/** A wave takes at most this time of a number: its slots are lost if the run dies before it queues. */
const longestWaveMs = 7_000;
const mostOfWave = 2_000;
/** A shorter wave is not worth its writes. */
const shortestWaveMs = 2_000;

/** Returns the release of one round. Throws when the pace of its number cannot be read. */
export async function releaseOf(head: DispatchHead, ports: ReleasePorts): Promise<Release> {
  const { clientId, phoneNumberId } = head;
  const lane = { clientId, lane: laneOf(head.dispatchId, head.total) };
  const [limitPerSecond, found] = await Promise.all([ports.limitOf(head), ports.paces.find(phoneNumberId)]);
  let pace: NumberPace = found;
  const everyMs = () => bulkEveryMs(limitPerSecond, pace, ports.nowMs());
  const share = shareOf(pace.schedule, lane, ports.nowMs());
  const horizon = horizonMs(everyMs(), share);
  let slotsUntilMs = lastSlotMsOf(pace.schedule, lane);
  return {
    lane,
    limitPerSecond,
    everyMs,
    schedule: () => pace.schedule,
    next: (opening) => {
      const atMs = ports.nowMs();
      const startMs = Math.max(atMs, slotsUntilMs);
      const wanted = waveCount(atMs + horizon - startMs, everyMs(), share);
      if (opening === undefined) return wanted;
      return Math.min(wanted, fittingIn(opening, startMs, everyMs() / share));
    },
    reserve: async (count) => {
      const wanted = {
        phoneNumberId,
        limitPerSecond,
        ...lane,
        count,
        seen: pace,
        inFront: true as const,
      };
      const reservation = await reserve(ports.paces, wanted, ports.nowMs());
      pace = reservation.pace;
      slotsUntilMs = lastSlotMsOf(pace.schedule, lane);
      return reservation.firstPosition;
    },
    nextRoundSeconds: nextRoundSeconds(horizon),
    lastMs: () => slotsUntilMs,
  };
}

/**
 * Returns whole slices with slots before the end of the opening. An opening shorter than a slice gets one: its worker
 * sends what fits.
 */
function fittingIn({ untilMs, lengthMs }: OpeningNow, startMs: number, everyMs: number): number {
  const slots = (untilMs - startMs) / everyMs;
  if (lengthMs / everyMs < sliceSize) return slots < 1 ? 0 : sliceSize;
  return sliceSize * Math.max(0, Math.floor(slots / sliceSize));
}

/** Returns whole chunks with slots within this time, or 0 if it is not worth a wave. */
function waveCount(withinMs: number, everyMs: number, share: number): number {
  if (withinMs < shortestWaveMs) return 0;
  const slots = Math.min(longestWaveMs, withinMs * share) / everyMs;
  const turn = turnAt(everyMs);
  return Math.min(turn * Math.floor(mostOfWave / turn), turn * Math.max(1, Math.ceil(slots / turn)));
}

import { sliceSize } from '../dispatch/claims/slice.ts';
import type { JobHead } from '../job.ts';
import { bulkEveryMs, type NumberPace } from '../pace/number-pace.ts';
import type { NumberPaces } from '../pace/number-paces.ts';
import { laneOf, reserve } from '../pace/reserve.ts';
import { type Schedule, shareOf, turnAt } from '../pace/schedule.ts';
import type { LaneName } from '../pace/segments.ts';
import { horizonMs, lastSlotMsOf, nextRoundSeconds } from './horizon.ts';

export interface ReleasePorts {
  readonly paces: NumberPaces;
  /** Messages a second that the number of a job may send, by the platform's last word. */
  readonly limitOf: (head: JobHead) => Promise<number>;
  readonly nowMs: () => number;
}

/** An opening in which messages may leave now: until when, and how long it is in all. */
export interface OpeningNow {
  readonly untilMs: number;
  readonly lengthMs: number;
}

/** How one round lets the messages of a job go. */
export interface Release {
  readonly lane: LaneName;
  readonly limitPerSecond: number;
  /** Between two slots, now. */
  everyMs(): number;
  /** The schedule as it was read or written last. */
  schedule(): Schedule;
  /**
   * Recipients of the next wave: whose slots come before the end of their opening, where it has one. 0 when enough is released for
   * this round, or no slice fits before the end.
   */
  next(opening?: OpeningNow): number;
  /** Gives the recipients of a wave their positions: the first of them. */
  reserve(count: number): Promise<number>;
  /** When the next round is to come. */
  readonly nextRoundSeconds: number;
  /** When the last message that is released can leave. */
  lastMs(): number;
}

/** What a number takes in this time is the most of one wave: its slots are lost when its run dies before it is queued. */
const longestWaveMs = 7_000;
const mostOfWave = 2_000;
/** A shorter wave is not worth its writes. */
const shortestWaveMs = 2_000;

/** For one round of a job. Throws when the pace of its number cannot be read. */
export async function releaseOf(head: JobHead, ports: ReleasePorts): Promise<Release> {
  const { clientId, phoneNumberId } = head;
  const lane = { clientId, lane: laneOf(head.jobId, head.total) };
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
 * As many as have their slots before the end of an opening, in whole slices. Of one that is too short for a slice on so slow a
 * number, a slice all the same while one slot is left: its worker sends those that fit, and the others with the next opening.
 */
function fittingIn({ untilMs, lengthMs }: OpeningNow, startMs: number, everyMs: number): number {
  const slots = (untilMs - startMs) / everyMs;
  if (lengthMs / everyMs < sliceSize) return slots < 1 ? 0 : sliceSize;
  return sliceSize * Math.max(0, Math.floor(slots / sliceSize));
}

/** As many as have their slots within so much time, in whole chunks; 0 for a time that is not worth a wave. */
function waveCount(withinMs: number, everyMs: number, share: number): number {
  if (withinMs < shortestWaveMs) return 0;
  const slots = Math.min(longestWaveMs, withinMs * share) / everyMs;
  const turn = turnAt(everyMs);
  return Math.min(turn * Math.floor(mostOfWave / turn), turn * Math.max(1, Math.ceil(slots / turn)));
}

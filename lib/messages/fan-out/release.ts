import { present } from '../../keys/present.ts';
import { pairWaitsMs } from '../accept/pair-waits.ts';
import type { SendJob } from '../accept/send-job.ts';
import type { ComposedMessage, JobHead } from '../job.ts';
import { deliveryLeadMs, queueDelaySeconds, withShorterLead } from '../pace/delivery-lead.ts';
import { bulkEveryMs, mostBulkPerSecond, type NumberPace } from '../pace/number-pace.ts';
import type { NumberPaces } from '../pace/number-paces.ts';
import { fewRecipients, laneOf, reserve } from '../pace/reserve.ts';
import { shareOf, slotMsOf } from '../pace/schedule.ts';
import { type WorkerDemands, workerShare } from '../pace/worker-shares.ts';
import { horizonMs, lastSlotMsOf, nextRoundSeconds, queueTimes, waveCount } from './horizon.ts';
import type { DelayedMessage } from './queue-wave.ts';

export interface ReleasePorts {
  readonly paces: NumberPaces;
  readonly demands: WorkerDemands;
  /** Messages a second that all workers together can hand over. */
  readonly workersPerSecond: number;
  /** Messages a second that the number of a job may send, by the platform's last word. */
  readonly limitOf: (head: JobHead) => Promise<number>;
  readonly nowMs: () => number;
}

/** How one round lets the messages of a job go. */
export interface Release {
  /** Recipients of the next wave; 0 when enough is released for this round. */
  next(): number;
  /** Gives the messages of a wave their time. */
  timed(messages: readonly ComposedMessage[]): Promise<DelayedMessage[]>;
  /** When the next round is to come. */
  readonly nextRoundSeconds: number;
  /** When the last message that is released can leave; 0 when it can at once. */
  lastMs(): number;
}

/** For one round of a job. Throws when the pace of its number cannot be read. */
export async function releaseOf(job: SendJob, ports: ReleasePorts): Promise<Release> {
  const { head } = job;
  const waits = pairWaitsMs(job.recipients);
  const waitOf = ({ index }: ComposedMessage) => waits.get(index - job.firstIndex) ?? 0;
  if (head.total <= fewRecipients) return atOnce(await ports.limitOf(head));
  const [limitPerSecond, pace] = await Promise.all([ports.limitOf(head), ports.paces.find(head.phoneNumberId)]);
  return await inTurns({ head, limitPerSecond, waitOf }, pace, ports);
}

/** Few recipients are not worth waves: the worker reserves their slots, and gives codes those of the last tenth. */
function atOnce(limitPerSecond: number): Release {
  return {
    next: () => fewRecipients,
    timed: async (messages) =>
      messages.map((message) => ({ message: { ...message, limitPerSecond }, delaySeconds: 0 })),
    nextRoundSeconds: nextRoundSeconds(0),
    lastMs: () => 0,
  };
}

interface Paced {
  readonly head: JobHead;
  readonly limitPerSecond: number;
  readonly waitOf: (message: ComposedMessage) => number;
}

async function inTurns(
  { head, limitPerSecond, waitOf }: Paced,
  found: NumberPace,
  ports: ReleasePorts,
): Promise<Release> {
  const { clientId, phoneNumberId } = head;
  const lane = { clientId, lane: laneOf(head.jobId, head.total) };
  let pace = found;
  const nowMs = ports.nowMs();
  const share = shareOf(pace.schedule, lane, nowMs);
  const horizon = horizonMs(bulkEveryMs(limitPerSecond, pace, nowMs), share);
  const afterSeconds = nextRoundSeconds(horizon);
  // What it wants of the workers, however slow they are.
  const perSecond = mostBulkPerSecond(limitPerSecond, pace, nowMs);
  let left = Math.ceil(afterSeconds * (await workersForLane()));
  let slotsUntilMs = lastSlotMsOf(pace.schedule, lane);
  let waitsUntilMs = 0;

  return {
    next: () => {
      const atMs = ports.nowMs();
      const missingMs = atMs + horizon - Math.max(atMs, slotsUntilMs);
      return Math.min(left, waveCount(missingMs, bulkEveryMs(limitPerSecond, pace, atMs), share));
    },

    timed: async (messages) => {
      const waveMs = ports.nowMs();
      left -= messages.length;
      // Who must wait for the sake of a person takes no slot: it would have passed by then.
      const count = messages.filter((message) => waitOf(message) === 0).length;
      const firstPosition = count === 0 ? 0 : await reservedFrom(count, waveMs);
      const turns = Array.from({ length: count }, (_, at) => ({ ...lane, position: firstPosition + at }));
      const slots = turns.map((turn) => slotMsOf(pace.schedule, turn) ?? waveMs);
      // Beside other writers, a reservation may have taken a while.
      const times = queueTimes(slots, ports.nowMs(), deliveryLeadMs(pace));
      const timed = turns.map((turn, at) => ({ turn, ...times[at] })).values();
      return messages.map((message) => {
        const own = { ...message, limitPerSecond };
        const waitMs = waitOf(message);
        if (waitMs > 0) {
          const notBeforeMs = waveMs + waitMs;
          waitsUntilMs = Math.max(waitsUntilMs, notBeforeMs);
          // Before its time it would only be queued again.
          return { message: { ...own, notBeforeMs }, delaySeconds: queueDelaySeconds(notBeforeMs, waveMs, 0) };
        }
        const { turn, delaySeconds = 0, queueAtMs } = timed.next().value ?? {};
        return { message: { ...own, ...present({ turn }) }, delaySeconds, ...present({ queueAtMs }) };
      });
    },

    nextRoundSeconds: afterSeconds,
    lastMs: () => Math.max(slotsUntilMs, waitsUntilMs),
  };

  async function reservedFrom(count: number, atMs: number): Promise<number> {
    const learning = (known: NumberPace) => withShorterLead(known, count);
    const wanted = { phoneNumberId, limitPerSecond, ...lane, count, seen: pace, learning };
    const reservation = await reserve(ports.paces, wanted, atMs);
    pace = reservation.pace;
    slotsUntilMs = lastSlotMsOf(pace.schedule, lane);
    return reservation.firstPosition;
  }

  /** Messages a second that the workers have for this lane (D45): the client's share, in equal parts for its lanes. */
  async function workersForLane(): Promise<number> {
    const waiting = (pace.schedule.segments.at(-1)?.lanes ?? []).filter((each) => each.clientId === clientId);
    const lanes = new Set(waiting.map((each) => each.lane)).add(lane.lane).size;
    const demand = { clientId, phoneNumberId, perSecond: perSecond * share * lanes };
    const untilMs = nowMs + 2_000 * afterSeconds;
    const demands = await ports.demands.tell({ ...demand, untilMs }, nowMs);
    const client = workerShare(ports.workersPerSecond, demands, demand);
    // Alone, or where the workers suffice, the schedule of the number is all there is to wait for.
    const isAlone = demands.every((other) => other.clientId === clientId);
    return isAlone || client >= demand.perSecond ? Number.POSITIVE_INFINITY : client / lanes;
  }
}

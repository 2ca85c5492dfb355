import type { ChunkRecipient, ChunkSlice, QueuedChunk } from '../dispatch/chunk.ts';
import type { NumberPace } from '../pace/number-pace.ts';
import { reserveAll } from '../pace/reserve.ts';
import { lateLane } from '../pace/schedule.ts';
import { reserveUrgent } from '../pace/urgent.ts';
import type { ChunkWorkerPorts } from './chunk-ports.ts';
import { claimLeadMs, firstSlotMs, isDue, type Slot } from './chunk-time.ts';

export interface WaitingChunk {
  chunk: QueuedChunk;
  slots: Map<number, Slot>;
  missedSlots: number;
}

export interface Known {
  readonly pace: NumberPace;
  readonly nowMs: number;
}

/** A slice without due recipients stays in its chunk, uncalled. */
export function dueOf({ recipients }: ChunkSlice, nowMs: number): readonly ChunkRecipient[] {
  return recipients.filter((recipient) => isDue(recipient, nowMs));
}

interface Missing {
  readonly waiting: WaitingChunk;
  readonly recipients: readonly ChunkRecipient[];
}

/** Reserves the missing slots: one write for all chunks of the number, another for one-time codes of each client. */
export async function reserveMissing(
  phoneNumberId: string,
  { open, pace, nowMs }: Known & { readonly open: readonly WaitingChunk[] },
  { numbers }: Pick<ChunkWorkerPorts, 'numbers'>,
): Promise<NumberPace> {
  const missing = open.flatMap((waiting): Missing[] => {
    const recipients = waiting.chunk.slices.flatMap((slice) => {
      const due = dueOf(slice, nowMs);
      return firstSlotMs(slice, waiting.slots, { schedule: pace.schedule, nowMs }) === undefined ? due : [];
    });
    return recipients.length === 0 ? [] : [{ waiting, recipients }];
  });
  if (missing.length === 0) return pace;
  const limitPerSecond = Math.min(...missing.map(({ waiting }) => waiting.chunk.limitPerSecond));
  const missedSlots = Math.max(...missing.map(({ waiting }) => waiting.missedSlots));
  const fromMs = Math.max(
    nowMs + (missedSlots === 0 ? 0 : claimLeadMs(missedSlots)),
    ...missing.flatMap(({ recipients }) => recipients.map(({ notBeforeMs = 0 }) => notBeforeMs)),
  );
  const isUrgent = ({ waiting }: Missing) => waiting.chunk.urgent === true;
  let latest = pace;
  // The smallest requests go first, so that most of them fit into the last tenth.
  const urgent = missing.filter(isUrgent).toSorted((one, other) => one.recipients.length - other.recipients.length);
  for (const [clientId, codes] of Map.groupBy(urgent, ({ waiting }) => waiting.chunk.clientId)) {
    const indexes = codes.flatMap(({ waiting, recipients }) => recipients.map(({ index }) => ({ waiting, index })));
    const sizes = codes.map(({ recipients }) => recipients.length);
    const wanted = { phoneNumberId, limitPerSecond, clientId, sizes, seen: latest };
    const given = await reserveUrgent(numbers, wanted, fromMs);
    latest = given.pace;
    for (const [at, { waiting, index }] of indexes.entries()) {
      const slot = given.slots[at];
      if (slot !== undefined) waiting.slots.set(index, slot.turn ?? { atMs: slot.slotMs });
    }
  }
  return await reserveInLanes(
    missing.filter((each) => !isUrgent(each)),
    { phoneNumberId, limitPerSecond, seen: latest, fromMs },
    numbers,
  );
}

/** Takes the next slots that may still change, in front of others that are not due. */
async function reserveInLanes(
  missing: readonly Missing[],
  {
    fromMs,
    ...number
  }: {
    readonly phoneNumberId: string;
    readonly limitPerSecond: number;
    readonly seen: NumberPace;
    readonly fromMs: number;
  },
  { paces }: ChunkWorkerPorts['numbers'],
): Promise<NumberPace> {
  if (missing.length === 0) return number.seen;
  const lanes = [...Map.groupBy(missing, ({ waiting: { chunk } }) => `${chunk.clientId} ${laneFor(chunk)}`).values()];
  const wanted = lanes.map((ofLane) => {
    const { chunk } = (ofLane[0] as Missing).waiting;
    const count = ofLane.reduce((sum, { recipients }) => sum + recipients.length, 0);
    const first = chunk.straight ? ({ inFront: true } as const) : ({ late: true } as const);
    return { clientId: chunk.clientId, lane: laneFor(chunk), count, ...first };
  });
  const { firstPositions, pace } = await reserveAll(paces, { ...number, wanted }, fromMs);
  for (const [at, ofLane] of lanes.entries()) {
    let position = firstPositions[at] ?? 0;
    for (const { waiting, recipients } of ofLane) {
      for (const { index } of recipients) {
        const { clientId } = waiting.chunk;
        waiting.slots.set(index, { clientId, lane: laneFor(waiting.chunk), position });
        position += 1;
      }
    }
  }
  return pace;
}

/** A small request uses its client's lane for small requests. */
function laneFor({ straight, lane }: QueuedChunk): string {
  return straight ? lane : lateLane(lane);
}

import { queueBody } from '../../aws/queue-body.ts';
import {
  type ChunkRecipient,
  type ChunkSlice,
  chunkOfDispatch,
  mostChunkBytes,
  type QueuedChunk,
} from '../dispatch/chunk.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import type { Lot } from '../dispatch/lots.ts';
import { sliceSize } from '../dispatch/slice.ts';
import { turnAt } from '../pace/schedule.ts';
import { lotsBetween } from './recipient-ranges.ts';

/** Consecutive composed recipients begin with a slice; the first has the lane position. */
export interface ComposedWave {
  readonly head: DispatchHead;
  readonly lots?: readonly Lot[] | undefined;
  readonly lane: string;
  readonly limitPerSecond: number;
  readonly recipients: readonly ChunkRecipient[];
  readonly firstPosition: number;
  readonly composedMs?: number;
}

/** From this spacing of slots on, slices of a chunk need no stride. */
const strideFromEveryMs = 4;
/** A chunk's slices keep this stride on a fast number: a worker cannot make all calls at once. */
const strideMs = 100;

/** Returns the chunks of a wave. `everyMs` is the spacing of slots. */
export function chunksOfWave(wave: ComposedWave, everyMs: number): QueuedChunk[] {
  const slices = slicesOf(wave);
  // A chunk is a turn, so it stays whole where dispatches compete.
  const perChunk = turnAt(everyMs) / sliceSize;
  const stride = everyMs >= strideFromEveryMs ? 1 : Math.max(1, Math.floor(strideMs / (sliceSize * everyMs)));
  const chunks: ChunkSlice[][] = [];
  for (let first = 0; first < slices.length; first += perChunk * stride) {
    const group = slices.slice(first, first + perChunk * stride);
    const apart = Math.min(stride, Math.ceil(group.length / perChunk));
    for (let at = 0; at < apart; at += 1) chunks.push(...bySize(group.filter((_, each) => each % apart === at)));
  }
  // A dispatch of codes uses the lanes of dispatches: the last tenth is for small requests (D44, D45).
  const composed = { composedMs: wave.composedMs };
  return chunks.map((some) => ({
    ...chunkOfDispatch(wave.head, wave),
    ...composed,
    ...lotsOf(wave, some),
    slices: some,
  }));
}

function lotsOf({ lots }: ComposedWave, slices: readonly ChunkSlice[]): Pick<QueuedChunk, 'lots'> {
  if (lots === undefined) return {};
  const indexes = slices.flatMap(({ recipients }) => recipients.map(({ index }) => index));
  return { lots: lotsBetween(lots, Math.min(...indexes), Math.max(...indexes)) };
}

function slicesOf({ recipients, head, firstPosition }: ComposedWave): ChunkSlice[] {
  return Array.from({ length: Math.ceil(recipients.length / sliceSize) }, (_, at) => {
    const some = recipients.slice(at * sliceSize, (at + 1) * sliceSize);
    const size = Math.min(sliceSize, head.total - (some[0]?.index ?? 0));
    return { try: 0, size, position: firstPosition + at * sliceSize, recipients: some };
  });
}

function bySize(slices: readonly ChunkSlice[]): ChunkSlice[][] {
  const chunks: ChunkSlice[][] = [];
  let open: ChunkSlice[] = [];
  let bytes = 0;
  for (const slice of slices) {
    const own = Buffer.byteLength(queueBody(slice));
    if (open.length > 0 && bytes + own > mostChunkBytes) {
      chunks.push(open);
      [open, bytes] = [[], 0];
    }
    open.push(slice);
    bytes += own;
  }
  return [...chunks, open];
}

import type { QueuedChunk } from '../../../../lib/messages/dispatch/chunk.ts';
import { unknownPace } from '../../../../lib/messages/pace/number-pace.ts';
import { slotTimeMs } from '../../../../lib/messages/send/chunk-time.ts';
import type { PlacedChunk } from '../../../../lib/messages/send/place-chunks.ts';
import { type ChunkRunWorld, chunkOf, everyMs, phoneNumberId, slicesOf, startMs } from './chunk-run-world.ts';

/** Makes a chunk with this many recipients in the last of the reserved slots; `after` slots come before them. */
export async function inSlots(world: ChunkRunWorld, count: number, after = 0, changes: Partial<QueuedChunk> = {}) {
  const first = await world.reserved(after + count);
  return chunkOf(slicesOf(count, first + after), changes);
}

/** Returns when each recipient may leave, by index, in ms from the start. */
export function timesOf(world: ChunkRunWorld, placed: PlacedChunk | undefined): Record<number, number | undefined> {
  if (placed?.kind !== 'run') return {};
  const { schedule } = world.paces.stored.get(phoneNumberId) ?? unknownPace;
  const times = [...placed.slots].map(([index, slot]) => [index, slotTimeMs(slot, schedule)] as const);
  return Object.fromEntries(times.map(([index, ms]) => [index, ms === undefined ? undefined : ms - startMs]));
}

/** Late dispatches of other clients take the next seconds. */
export async function lateOthers(world: ChunkRunWorld): Promise<void> {
  await world.place(
    Array.from({ length: 10 }, (_, at) => chunkOf(slicesOf(30), { dispatchId: `late-${at}`, clientId: 2_000 + at })),
  );
}

export function slotAt(at: number): number {
  return Math.floor(at * everyMs);
}

export const firsts = ({ leaves }: Extract<PlacedChunk, { kind: 'run' }>) =>
  leaves.map(({ slice }) => slice.recipients[0]?.index);

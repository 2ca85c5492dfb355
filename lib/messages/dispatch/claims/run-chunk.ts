import { present } from '../../../keys/present.ts';
import type { ChunkRecipient, ChunkSlice, QueuedChunk } from '../../chunk.ts';
import { runSlice, type SliceEnd, type SlicePorts } from './run-slice.ts';
import { dueMsOf, placeInSlice, type Slice, type SliceKey, sliceOf } from './slice.ts';

/** What is left of a queue message: consecutive slices of a job, each with the try that is to be made of it. */
export type Chunk = Pick<QueuedChunk, 'jobId' | 'slices' | 'keptUntilMs'>;

/** What a recipient's client is told of. */
export interface Told {
  readonly recipient: ChunkRecipient;
  readonly outcome: Exclude<Slice['outcomes'][number], undefined>;
}

export interface ChunkPorts extends SlicePorts {
  /** Queues the events about these endings, each under one id, however often. `slices`: all of which a try has ended. */
  readonly tell: (endings: readonly Told[], slices: readonly Slice[]) => Promise<void>;
  /** Queues what is to be tried again, to come at that time. */
  readonly queueAgain: (slices: readonly ChunkSlice[], atMs: number) => Promise<void>;
}

/** At most so many slices of a run are claimed and not ended: what a run that is killed leaves unknown. */
const mostClaimed = 3;

/** What becomes of the delivery of a chunk: of what is to come again, which slices, and not before when, where that is known. */
export type ChunkEnd =
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'again'; readonly slices: readonly ChunkSlice[]; readonly atMs?: number };

/**
 * Works off one delivery of a chunk, its slices in their order. What has ended is recorded, then told, then queued again where it
 * is to be tried again, then acknowledged: a run that dies between any two of these finds the rest to do when the chunk is
 * delivered again. `owner` is unlike that of any other run or delivery.
 */
export async function runChunk(chunk: Chunk, owner: string, ports: ChunkPorts): Promise<ChunkEnd> {
  const ends = new Map<ChunkSlice, SliceEnd>();
  const waiting = chunk.slices.values();
  await Promise.all(
    Array.from({ length: mostClaimed }, async () => {
      for (const slice of waiting) ends.set(slice, await endOf({ chunk, slice, owner }, ports));
    }),
  );

  const over = chunk.slices.flatMap((slice) => {
    const end = ends.get(slice);
    return end?.kind === 'ended' ? [{ slice, recorded: end.slice }] : [];
  });
  try {
    const endings = over.flatMap(({ slice, recorded }) => endingsOf(slice, recorded));
    if (endings.length > 0) {
      await ports.tell(
        endings,
        over.map(({ recorded }) => recorded),
      );
    }
    const again = over.flatMap(({ slice, recorded }) => tryAgain(slice, recorded));
    if (again.length > 0) {
      const dueMs = Math.min(...again.map(({ atMs }) => atMs));
      await ports.queueAgain(
        again.map(({ slice }) => slice),
        dueMs,
      );
    }
  } catch {
    return { kind: 'again', slices: chunk.slices };
  }
  const later = [...ends.values()].filter((end) => end.kind === 'later');
  if (later.length === 0) return { kind: 'acknowledged' };
  const slices = chunk.slices.filter((slice) => ends.get(slice)?.kind === 'later');
  const times = later.flatMap(({ atMs }) => atMs ?? []);
  return { kind: 'again', slices, ...(times.length < later.length ? {} : { atMs: Math.min(...times) }) };
}

interface OwnSlice {
  readonly chunk: Chunk;
  readonly slice: ChunkSlice;
  readonly owner: string;
}

async function endOf({ chunk, slice, owner }: OwnSlice, ports: ChunkPorts): Promise<SliceEnd> {
  const { jobId, keptUntilMs } = chunk;
  const { try: tried, size } = slice;
  const claim = { key: keyOf(jobId, slice), try: tried, owner, atMs: ports.nowMs(), size, ...present({ keptUntilMs }) };
  const recipients = new Map(slice.recipients.map((recipient) => [placeInSlice(recipient.index), recipient]));
  try {
    return await runSlice({ claim, recipients }, ports);
  } catch {
    return { kind: 'later' };
  }
}

function keyOf(jobId: string, { recipients: [first] }: ChunkSlice): SliceKey {
  return sliceOf({ jobId, index: first?.index ?? 0 });
}

/** Of those whom the try covered; what ended before was told by the run of that try. */
function endingsOf({ recipients }: ChunkSlice, { outcomes }: Slice): Told[] {
  return recipients.flatMap((recipient) => {
    const outcome = outcomes[placeInSlice(recipient.index)];
    return outcome === undefined || outcome.state === 'again' ? [] : [{ recipient, outcome }];
  });
}

/** The next try of a slice, if it needs one. */
function tryAgain(slice: ChunkSlice, recorded: Slice): { readonly slice: ChunkSlice; readonly atMs: number }[] {
  const atMs = dueMsOf(recorded);
  if (atMs === undefined) return [];
  const recipients = slice.recipients.flatMap((recipient): ChunkRecipient[] => {
    const outcome = recorded.outcomes[placeInSlice(recipient.index)];
    return outcome?.state === 'again' ? [{ ...recipient, notBeforeMs: outcome.dueMs }] : [];
  });
  return [{ slice: { ...slice, try: recorded.try + 1, recipients }, atMs }];
}

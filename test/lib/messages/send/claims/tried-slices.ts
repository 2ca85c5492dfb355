import type { CallFacts, TriedRecipient } from '../../../../../lib/messages/dispatch/call-facts.ts';
import {
  dueMsOf,
  placeInSlice,
  type Slice,
  type SliceKey,
  sliceOf,
} from '../../../../../lib/messages/dispatch/slice.ts';
import { runSlice, type SliceEnd, type SlicePorts } from '../../../../../lib/messages/send/claims/run-slice.ts';

export interface ChunkSlice {
  readonly try: number;
  readonly size: number;
  readonly recipients: readonly TriedRecipient[];
}

/** A delivery has these consecutive slices of a dispatch left, each with its next try. */
export interface Chunk extends Pick<CallFacts, 'dispatchId' | 'keptUntilMs'> {
  readonly slices: readonly ChunkSlice[];
}

export interface RecipientEnding {
  readonly recipient: TriedRecipient;
  readonly outcome: Exclude<Slice['outcomes'][number], undefined>;
}

export interface ChunkPorts extends Omit<SlicePorts, 'tell'> {
  /** Emits the events about endings, idempotent by their ids. `slices` are those that a try has ended. */
  readonly emit: (endings: readonly RecipientEnding[], slices: readonly Slice[]) => Promise<void>;
  readonly queueAgain: (slices: readonly ChunkSlice[], atMs: number) => Promise<void>;
}

/** At most this many claimed slices have no end: they become `unknown` if the run is killed. */
const mostClaimed = 3;

export type ChunkEnd =
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'again'; readonly slices: readonly ChunkSlice[]; readonly atMs?: number };

/**
 * Endings are recorded, then emitted, then requeued for retry, then acknowledged, so the next delivery completes a dead
 * run. `owner` is unique for each run and delivery.
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
      await ports.emit(
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
  const { dispatchId, keptUntilMs } = chunk;
  const { try: tried, size } = slice;
  const claim = {
    key: keyOf(dispatchId, slice),
    try: tried,
    owner,
    atMs: ports.nowMs(),
    size,
    keptUntilMs,
  };
  const recipients = new Map(slice.recipients.map((recipient) => [placeInSlice(recipient.index), recipient]));
  try {
    const tell = (late: Slice) => ports.emit(endingsOf(slice, late), [late]);
    return await runSlice({ claim, recipients }, { ...ports, tell });
  } catch {
    return { kind: 'later' };
  }
}

function keyOf(dispatchId: string, { recipients: [first] }: ChunkSlice): SliceKey {
  return sliceOf({ dispatchId, index: first?.index ?? 0 });
}

/** Covers the recipients of this try. The runs of earlier tries have emitted theirs. */
function endingsOf({ recipients }: ChunkSlice, { outcomes }: Slice): RecipientEnding[] {
  return recipients.flatMap((recipient) => {
    const outcome = outcomes[placeInSlice(recipient.index)];
    return outcome === undefined || outcome.state === 'again' ? [] : [{ recipient, outcome }];
  });
}

function tryAgain(slice: ChunkSlice, recorded: Slice): { readonly slice: ChunkSlice; readonly atMs: number }[] {
  const atMs = dueMsOf(recorded);
  if (atMs === undefined) return [];
  const recipients = slice.recipients.flatMap((recipient): TriedRecipient[] => {
    const outcome = recorded.outcomes[placeInSlice(recipient.index)];
    return outcome?.state === 'again' ? [{ ...recipient, notBeforeMs: outcome.dueMs }] : [];
  });
  return [{ slice: { ...slice, try: recorded.try + 1, recipients }, atMs }];
}

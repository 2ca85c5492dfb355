import { type ComposePorts, composedRecipient } from '../accept/composed-recipient.ts';
import {
  type ChunkRecipient,
  type ChunkSlice,
  chunkOfDispatch,
  headOfChunk,
  type QueuedChunk,
} from '../dispatch/chunk.ts';
import type { StoredRecipient } from '../dispatch/head.ts';
import type { StoredDispatch } from '../dispatch/whole-dispatch.ts';
import type { JudgedChunk } from '../send/chunk-ports.ts';
import type { DispatchRounds } from './dispatch-rounds.ts';
import { type RevalidationPorts, revalidateDispatch } from './revalidate-dispatch.ts';

export interface RecomposePorts extends RevalidationPorts, ComposePorts {
  readonly dispatches: Pick<DispatchRounds, 'find' | 'recipientsFrom'>;
  readonly nowMs: () => number;
}

/**
 * Judges a queued chunk by its template as it is stored now, and composes it again, because a review has ended since
 * (D46, D56). Throws when a table cannot be read, or the dispatch's parameters are gone.
 */
export async function recomposedChunk(chunk: QueuedChunk, ports: RecomposePorts): Promise<JudgedChunk> {
  const composedMs = ports.nowMs();
  const dispatch = chunk.straight ? straightDispatch(chunk) : await ports.dispatches.find(chunk.dispatchId);
  if (dispatch === undefined) throw new Error('a dispatch with queued chunks is gone');
  const judged = await revalidateDispatch(dispatch, ports);
  if (judged.kind === 'refused') return judged;
  const slices: ChunkSlice[] = [];
  const page: ReadPage = { firstIndex: 0, recipients: [] };
  for (const slice of chunk.slices) {
    const recipients: ChunkRecipient[] = [];
    for (const recipient of slice.recipients) {
      const stored = await storedRecipient(chunk, recipient, { page, ports });
      const composed = judged.fits(stored)
        ? composedRecipient(judged.plan, stored, { dispatchId: chunk.dispatchId, index: recipient.index }, ports)
        : ({ unfit: true } as const);
      const { request: _before, unfit: _too, ...kept } = recipient;
      recipients.push({ ...kept, ...composed });
    }
    slices.push({ ...slice, recipients });
  }
  const { heedsOptOuts: _asAccepted, ...rest } = chunk;
  return { kind: 'sendable', chunk: { ...rest, ...chunkOfDispatch(judged.head, chunk), composedMs, slices } };
}

/** Returns the dispatch that a straight chunk is. It stores no parameters elsewhere. */
function straightDispatch(chunk: QueuedChunk): Pick<StoredDispatch, 'head' | 'plan' | 'header'> {
  const head = headOfChunk(chunk);
  const { header, catalogId } = chunk;
  const plan = { templateName: head.templateName, languageCode: head.templateLanguage, buttons: [], cards: [] };
  return { head, plan: { ...plan, header: undefined, catalogId }, header };
}

/** The recipients of a chunk are mostly consecutive, so one read of the table serves them all. */
interface ReadPage {
  firstIndex: number;
  recipients: readonly StoredRecipient[];
}

async function storedRecipient(
  { straight, dispatchId }: QueuedChunk,
  { index, to, params }: ChunkRecipient,
  { page, ports }: { readonly page: ReadPage; readonly ports: RecomposePorts },
): Promise<StoredRecipient> {
  if (to === undefined) return {};
  if (straight) return { to, params };
  if (page.recipients[index - page.firstIndex] === undefined) {
    page.recipients = await ports.dispatches.recipientsFrom(dispatchId, index);
    page.firstIndex = index;
  }
  const stored = page.recipients[index - page.firstIndex];
  if (stored === undefined) throw new Error('recipients of the dispatch are gone');
  return { ...stored, to };
}

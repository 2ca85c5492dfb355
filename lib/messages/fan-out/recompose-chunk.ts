import { omitUndefined } from '../../keys/omit-undefined.ts';
import { type ComposePorts, composedRecipient } from '../accept/composed-recipient.ts';
import { type ChunkRecipient, type ChunkSlice, chunkOfJob, headOfChunk, type QueuedChunk } from '../chunk.ts';
import type { JudgedChunk } from '../dispatch/chunk-ports.ts';
import type { StoredRecipient } from '../job.ts';
import type { JobRounds, StoredJob } from './job-rounds.ts';
import { type RevalidationPorts, revalidateJob } from './revalidate-job.ts';

export interface RecomposePorts extends RevalidationPorts, ComposePorts {
  readonly jobs: Pick<JobRounds, 'find' | 'recipientsFrom'>;
  readonly nowMs: () => number;
}

type JudgedJob = Pick<StoredJob, 'head' | 'plan' | 'header'>;

/**
 * Judges a queued chunk by its template as it is stored now, and composes it again, because a review has ended since
 * (D46, D56). Throws when a table cannot be read, or the job's parameters are gone.
 */
export async function recomposedChunk(chunk: QueuedChunk, ports: RecomposePorts): Promise<JudgedChunk> {
  const composedMs = ports.nowMs();
  const job = chunk.straight ? straightJob(chunk) : await ports.jobs.find(chunk.jobId);
  if (job === undefined) throw new Error('a job with queued chunks is gone');
  const judged = await revalidateJob(job, ports);
  if (judged.kind === 'refused') return judged;
  const slices: ChunkSlice[] = [];
  const page: ReadPage = { firstIndex: 0, recipients: [] };
  for (const slice of chunk.slices) {
    const recipients: ChunkRecipient[] = [];
    for (const recipient of slice.recipients) {
      const stored = await storedRecipient(chunk, recipient, { page, ports });
      const composed = judged.fits(stored)
        ? composedRecipient(judged.plan, stored, { jobId: chunk.jobId, index: recipient.index }, ports)
        : ({ unfit: true } as const);
      const { request: _before, unfit: _too, ...kept } = recipient;
      recipients.push({ ...kept, ...composed });
    }
    slices.push({ ...slice, recipients });
  }
  const { heedsOptOuts: _asAccepted, ...rest } = chunk;
  return { kind: 'sendable', chunk: { ...rest, ...chunkOfJob(judged.head, chunk), composedMs, slices } };
}

/** Returns the job that a straight chunk is. It stores no parameters elsewhere. */
function straightJob(chunk: QueuedChunk): JudgedJob {
  const head = headOfChunk(chunk);
  const { header, catalogId } = chunk;
  const plan = { templateName: head.templateName, languageCode: head.templateLanguage, buttons: [], cards: [] };
  return { head, plan: { ...plan, header: undefined, catalogId }, ...omitUndefined({ header }) };
}

/** The recipients of a chunk are mostly consecutive, so one read of the table serves them all. */
interface ReadPage {
  firstIndex: number;
  recipients: readonly StoredRecipient[];
}

async function storedRecipient(
  { straight, jobId }: QueuedChunk,
  { index, to, params }: ChunkRecipient,
  { page, ports }: { readonly page: ReadPage; readonly ports: RecomposePorts },
): Promise<StoredRecipient> {
  if (to === undefined) return {};
  if (straight) return { to, ...omitUndefined({ params }) };
  if (page.recipients[index - page.firstIndex] === undefined) {
    page.recipients = await ports.jobs.recipientsFrom(jobId, index);
    page.firstIndex = index;
  }
  const stored = page.recipients[index - page.firstIndex];
  if (stored === undefined) throw new Error('recipients of the job are gone');
  return { ...stored, to };
}

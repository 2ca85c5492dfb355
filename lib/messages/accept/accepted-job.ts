import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import * as v from 'valibot';
import type { Item } from '../../aws/dynamodb-batch.ts';
import { present } from '../../keys/present.ts';
import { claimMemorySeconds } from '../dispatch/claim.ts';
import { acceptedKey, dispatchesPartition, jobsOfDaySortKey, recipientsKey } from '../items.ts';
import { type JobHead, JobHeadSchema, type Repeat, RepeatSchema } from '../job.ts';
import type { SendJob } from './send-job.ts';

/**
 * What is written down of a job for its report and for the list of dispatches (D40): the head, who its recipients are, and
 * how the client finds it. Acceptance writes it as soon as the queue has the job; the fan-out where acceptance did not
 * (it died, or had no time left), then for a job in parts each part for itself.
 */
export type AcceptedJob = Pick<SendJob, 'head' | 'firstIndex' | 'recipients' | 'repeats' | 'part'>;

/** The longest address of a recipient has 135 characters: even one that cannot be packed leaves an item below 350 KB. */
export const recipientsPerItem = 2_500;

/** Text that unpacks to more than this is none of ours. */
const maxUnpackedBytes = 1_048_576;

const compression = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** The items that describe a job, or what this part of it knows. Repeated, they are the same items. */
export function descriptionOf(job: AcceptedJob): Item[] {
  const { head, repeats = [] } = job;
  const expiresAtSeconds = Math.ceil(head.acceptedAtMs / 1_000) + claimMemorySeconds;
  const accepted = {
    ...acceptedKey(head.jobId),
    // As text, like the head of the job item: `attends` is unvalidated (D28).
    head: JSON.stringify(head),
    ...(repeats.length === 0 ? {} : { repeats: packed(repeats) }),
    whole: job.part === undefined,
  };
  return [accepted, ...recipientItems(job), pointerOf(head, head.total + repeats.length)].map((item) => ({
    ...item,
    expiresAtSeconds,
  }));
}

function recipientItems({ head, firstIndex, recipients }: AcceptedJob): Item[] {
  return Array.from({ length: Math.ceil(recipients.length / recipientsPerItem) }, (_, at) => {
    const some = recipients.slice(at * recipientsPerItem, (at + 1) * recipientsPerItem);
    const first = firstIndex + at * recipientsPerItem;
    return { ...recipientsKey(head.jobId, first), firstIndex: first, recipients: packed(some.map(({ to }) => to)) };
  });
}

/** What the list of dispatches shows of a job, without another read. */
export const PointerSchema = v.object({
  sk: v.string(),
  jobId: v.string(),
  templateName: v.string(),
  templateLanguage: v.string(),
  campaignId: v.optional(v.number()),
  acceptedAtMs: v.number(),
  total: v.number(),
});
export type DispatchPointer = v.InferOutput<typeof PointerSchema>;

/** A job as the list of its client has it; `total` counts repeated recipients too. */
export function pointerOf(head: JobHead, total: number): Item {
  const { jobId, templateName, templateLanguage, campaignId, acceptedAtMs } = head;
  return {
    pk: dispatchesPartition(head.clientId, head.did),
    sk: jobsOfDaySortKey(acceptedAtMs, jobId),
    ...{ jobId, templateName, templateLanguage, acceptedAtMs, total },
    ...present({ campaignId }),
  };
}

const HeadSchema = v.pipe(v.string(), v.parseJson(), JobHeadSchema);
const AcceptedSchema = v.object({
  head: HeadSchema,
  repeats: v.optional(v.instance(Uint8Array)),
  whole: v.boolean(),
});
const RecipientsSchema = v.object({ firstIndex: v.number(), recipients: v.instance(Uint8Array) });

/** Reads an acceptance; `whole` says that the recipients of every part are written beside it. */
export function acceptedOf(item: unknown): {
  readonly head: JobHead;
  readonly repeats: readonly Repeat[];
  readonly whole: boolean;
} {
  const { head, repeats, whole } = v.parse(AcceptedSchema, item);
  return { head, repeats: repeats === undefined ? [] : v.parse(v.array(RepeatSchema), unpacked(repeats)), whole };
}

/** Reads recipients: the address of each, by its index in the job. */
export function recipientsOf(item: unknown): (readonly [index: number, to: string])[] {
  const { firstIndex, recipients } = v.parse(RecipientsSchema, item);
  return v.parse(v.array(v.string()), unpacked(recipients)).map((to, offset) => [firstIndex + offset, to]);
}

function packed(value: unknown): Uint8Array {
  return brotliCompressSync(JSON.stringify(value), compression);
}

function unpacked(bytes: Uint8Array): unknown {
  return JSON.parse(brotliDecompressSync(bytes, { maxOutputLength: maxUnpackedBytes }).toString('utf8'));
}

import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as v from 'valibot';
import { present } from '../../keys/present.ts';
import { dispatchIdOf } from '../job.ts';
import type { BatchRecord, Claim, Taken } from './claim.ts';

/*
 * What the items of claims and batch records hold, beside their keys (../items.ts). They are stored for 30 days: what is
 * added is optional to whoever reads.
 */

export const ClaimItemSchema = v.object({
  sk: v.string(),
  state: v.picklist(['claimed', 'sent', 'failed', 'expired', 'unknown']),
  at: v.string(),
  claimedAtMs: v.number(),
  to: v.optional(v.string()),
  code: v.optional(v.string()),
  reason: v.optional(v.string()),
  resolvedAtMs: v.optional(v.number()),
});

/** A batch is packed, so that the record of ten messages, each with the platform's id of it, is one write unit. */
const BatchItemSchema = v.object({ packed: v.instance(Uint8Array) });

/** Job, index and what the platform said; the last only of a message that it holds. */
const PackedSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.record(
    v.string(),
    v.array(v.union([v.strictTuple([v.number(), v.string()]), v.strictTuple([v.number(), v.string(), v.string()])])),
  ),
);

/** Ten entries are some kilobytes at the most: text that unpacks to more is none of ours. */
const maxUnpackedBytes = 100_000;

export function batchRecordOf(item: unknown): BatchRecord {
  const { packed } = v.parse(BatchItemSchema, item);
  const text = inflateRawSync(packed, { maxOutputLength: maxUnpackedBytes }).toString('utf8');
  return Object.fromEntries(
    Object.entries(v.parse(PackedSchema, text)).flatMap(([jobId, ofJob]) =>
      ofJob.map(([index, platformMessageId, held]): [string, Taken] => {
        return [dispatchIdOf({ jobId, index }), { platformMessageId, ...present({ held }) }];
      }),
    ),
  );
}

export function batchItemOf(taken: BatchRecord): { readonly packed: Uint8Array } {
  const jobs: Record<string, (number | string)[][]> = {};
  for (const [dispatchId, { platformMessageId, held }] of Object.entries(taken)) {
    const end = dispatchId.lastIndexOf('-');
    const jobId = dispatchId.slice(0, end);
    const entry = [Number(dispatchId.slice(end + 1)), platformMessageId, ...(held === undefined ? [] : [held])];
    jobs[jobId] = [...(jobs[jobId] ?? []), entry];
  }
  return { packed: deflateRawSync(JSON.stringify(jobs)) };
}

export function claimOf(jobId: string, item: unknown): Claim {
  const { sk, state, at, claimedAtMs, to, code, reason, resolvedAtMs } = v.parse(ClaimItemSchema, item);
  return {
    key: { jobId, index: Number(sk) },
    state,
    at,
    claimedAtMs,
    ...present({ to, code, reason, resolvedAtMs }),
  };
}

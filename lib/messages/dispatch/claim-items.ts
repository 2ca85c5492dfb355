import * as v from 'valibot';
import { present } from '../../keys/present.ts';
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

/**
 * `sent` has every message that the platform took, `held` those of them that it holds: a reader that knows only `sent`
 * takes them for sent, and records from before there was `held` are read as they are.
 */
const BatchItemSchema = v.object({
  sent: v.record(v.string(), v.string()),
  held: v.optional(v.record(v.string(), v.string()), {}),
});

export function batchRecordOf(item: unknown): BatchRecord {
  const { sent, held } = v.parse(BatchItemSchema, item);
  return Object.fromEntries(
    Object.entries(sent).map(([dispatchId, platformMessageId]): [string, Taken] => {
      return [dispatchId, { platformMessageId, ...present({ held: held[dispatchId] }) }];
    }),
  );
}

export function batchItemOf(taken: BatchRecord): { readonly sent: object; readonly held?: object } {
  const entries = Object.entries(taken);
  const held = entries.filter(([, { held: why }]) => why !== undefined);
  return {
    sent: Object.fromEntries(entries.map(([dispatchId, { platformMessageId }]) => [dispatchId, platformMessageId])),
    ...(held.length === 0 ? {} : { held: Object.fromEntries(held.map(([id, { held: why }]) => [id, why])) }),
  };
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

import * as v from 'valibot';
import { wholeNumber } from '../../http/documented.ts';
import { opaqueCursor, placeOf } from '../../http/opaque-cursor.ts';
import { dispatchSortKey } from '../dispatch/items.ts';
import type { DispatchPointer } from '../dispatch/whole-dispatch.ts';

export interface DispatchesQuery {
  readonly clientId: number;
  readonly did: string | undefined;
  readonly campaignId?: number | undefined;
  readonly template?: string | undefined;
  /** Leaves out dispatches that a cancellation found permanently empty. */
  readonly unsettled?: true;
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
}

const SortKeySchema = v.pipe(v.string(), v.regex(/^\d{15}#[0-9A-Z]{26}$/));

/** `list` separates lists that answer one question differently. */
function scopeOf({ clientId, did, fromMs, toMs, campaignId, template }: DispatchesQuery, list: string): string {
  const filters = JSON.stringify([did, fromMs, toMs, campaignId, template]);
  return `dispatches ${clientId} ${filters} ${list}`;
}

export function dispatchesCursor(question: DispatchesQuery, lastSortKey: string, list = ''): string {
  return opaqueCursor(scopeOf(question, list), lastSortKey);
}

/** Returns the sort key before a page. Returns undefined for a cursor of another list or outside its bounds. */
export function dispatchesPlaceOf(question: DispatchesQuery, cursor: string, list = ''): string | undefined {
  const parsed = v.safeParse(SortKeySchema, placeOf(scopeOf(question, list), cursor));
  if (!parsed.success) return undefined;
  const { from, to } = boundsOf(question);
  return from <= parsed.output && parsed.output < to ? parsed.output : undefined;
}

/** Returns the bounds of the sort keys; DynamoDB refuses a start outside of them. */
export function boundsOf({ fromMs = 0, toMs = latestMs }: Pick<DispatchesQuery, 'fromMs' | 'toMs'>): {
  readonly from: string;
  readonly to: string;
} {
  // Dispatch ids sort after the bare end time, so the end is exclusive.
  return { from: dispatchSortKey(Math.max(fromMs, 0)), to: dispatchSortKey(Math.min(Math.max(toMs, 0), latestMs)) };
}

/** A sort key can hold no later moment. */
const latestMs = 999_999_999_999_999;

export const ListedDispatchSchema = v.object({
  dispatch_id: v.string(),
  template: v.object({ name: v.string(), language: v.string() }),
  campaign_id: v.optional(wholeNumber),
  accepted_at: v.pipe(v.string(), v.isoTimestamp()),
  retry_of: v.optional(v.pipe(v.string(), v.description('The dispatch whose recipients it sends to once more.'))),
  total: v.pipe(wholeNumber, v.description('Recipients of the request.')),
});

export function listedDispatch({ dispatchId, templateName, templateLanguage, ...rest }: DispatchPointer) {
  return {
    dispatch_id: dispatchId,
    template: { name: templateName, language: templateLanguage },
    campaign_id: rest.campaignId,
    accepted_at: new Date(rest.acceptedAtMs).toISOString(),
    retry_of: rest.retryOf,
    total: rest.total,
  };
}

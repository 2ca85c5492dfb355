import * as v from 'valibot';
import { wholeNumber } from '../../http/documented.ts';
import { opaqueCursor, placeOf } from '../../http/opaque-cursor.ts';
import { countTo, listOfWords, moment, textFilter } from '../../http/query.ts';
import { dispatchSortKey } from '../dispatch/items.ts';
import type { DispatchPointer } from '../dispatch/whole-dispatch.ts';
import { type DispatchState, DispatchStateWord } from './dispatch-state.ts';

/** All filters of lists of dispatches, in documented order. Moments are epoch milliseconds. */
export const dispatchFilters = {
  did: textFilter,
  campaign_id: countTo('campaign_id', Number.MAX_SAFE_INTEGER),
  template: textFilter,
  state: listOfWords(DispatchStateWord),
  from: moment('from'),
  to: moment('to'),
};
export type DispatchFilter = keyof typeof dispatchFilters;
type Asked = v.InferOutput<v.ObjectSchema<typeof dispatchFilters, undefined>>;

/** A filter asks for a field of the listed entry, or for a word that is read with it. `boundsOf` judges the moments. */
const judges: Readonly<Record<Exclude<DispatchFilter, 'from' | 'to'>, Judge>> = {
  did: { listed: 'did' },
  campaign_id: { listed: 'campaignId' },
  template: { listed: 'templateName' },
  state: { read: 'state' },
};
type Judge = { readonly listed: keyof DispatchPointer } | { readonly read: keyof ReadWords };
type ReadWords = { readonly state: DispatchState };
const judged = Object.entries(judges) as (readonly [keyof typeof judges, Judge])[];

export interface DispatchesQuery extends Asked {
  readonly clientId: number;
  /** Leaves out dispatches that a cancellation found permanently empty. */
  readonly unsettled?: true;
}

/** Returns the names and values of the fields that a listed entry must have. */
export function fieldsAskedFor(question: DispatchesQuery): (readonly [string, unknown])[] {
  const asked = judged.flatMap(([name, judge]) => ('listed' in judge ? [[judge.listed, question[name]] as const] : []));
  return asked.filter(([, value]) => value !== undefined);
}

/** Tells whether these are words that a question asks for. */
export function areAskedFor(question: DispatchesQuery, words: ReadWords): boolean {
  return judged.every(([name, judge]) => {
    const asked = question[name];
    return !('read' in judge) || asked === undefined || [asked].flat().includes(words[judge.read]);
  });
}

/** The lists answer one question differently, so that they share no cursor. */
type List = 'of a DID' | 'found';

function scopeOf(list: List, { clientId, ...question }: DispatchesQuery): string {
  const asked = Object.keys(dispatchFilters).map((name) => question[name as DispatchFilter]);
  return `dispatches ${list} ${clientId} ${JSON.stringify(asked)}`;
}

export function dispatchesCursor(list: List, question: DispatchesQuery, lastSortKey: string): string {
  return opaqueCursor(scopeOf(list, question), lastSortKey);
}

/** Returns the sort key before a page. Returns undefined for a cursor of another list or outside its bounds. */
export function dispatchesPlaceOf(list: List, question: DispatchesQuery, cursor: string): string | undefined {
  const parsed = v.safeParse(SortKeySchema, placeOf(scopeOf(list, question), cursor));
  if (!parsed.success) return undefined;
  const { from, to } = boundsOf(question);
  return from <= parsed.output && parsed.output < to ? parsed.output : undefined;
}

/** Returns the bounds of the sort keys; DynamoDB refuses a start outside of them. */
export function boundsOf({ from: fromMs = 0, to: toMs = latestMs }: Pick<DispatchesQuery, 'from' | 'to'>) {
  // Dispatch ids sort after the bare end time, so the end is exclusive.
  return { from: dispatchSortKey(Math.max(fromMs, 0)), to: dispatchSortKey(Math.min(Math.max(toMs, 0), latestMs)) };
}

/** A sort key can hold no later moment. */
const latestMs = 999_999_999_999_999;

const SortKeySchema = v.pipe(v.string(), v.regex(/^\d{15}#[0-9A-Z]{26}$/));

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

import type { CampaignScope } from '../../access/campaign-scope.ts';
import type { TemplateRow } from '../model/row.ts';
import type { TemplateDocument } from '../model/template.ts';
import { documentId } from '../model/template-key.ts';

/** What a template is assigned to: a channel within a campaign. */
export type Pair = NonNullable<TemplateDocument['pair']>;

/** The row with the pairs added (D14, POST). Pairs already there are left alone. */
export function addPairs(row: TemplateRow, pairs: readonly Pair[]): TemplateRow {
  return assigned(row, () => true, pairs);
}

/**
 * The row with exactly the given pairs in the campaigns of a scope, all campaigns without one (D14, PUT); pairs of other
 * campaigns stay (D15). Kept pairs keep their `_id`, and the placeholder is left when there is no pair. When none is kept,
 * this is `removePairs` and `addPairs` in one: otherwise the same request, sent again because its answer was lost, would
 * name a document that it has itself removed.
 */
export function replacePairs(row: TemplateRow, pairs: readonly Pair[], scope?: CampaignScope): TemplateRow {
  const wanted = new Set(pairs.map(textOf));
  return assigned(row, (pair) => scope?.has(pair.campaignId) === false || wanted.has(textOf(pair)), pairs);
}

/** The row without the pairs in the campaigns of a scope (D14, DELETE). */
export function removePairs(row: TemplateRow, scope?: CampaignScope): TemplateRow {
  return replacePairs(row, [], scope);
}

/** The row without one pair, if it has it (D14, DELETE of a pair). */
export function removePair(row: TemplateRow, gone: Pair): TemplateRow {
  return assigned(row, (pair) => textOf(pair) !== textOf(gone), []);
}

/** The `_id` of each pair's document, each once, in the order of the pairs; pairs without a document are left out. */
export function idsOfPairs(row: TemplateRow, pairs: readonly Pair[]): string[] {
  const ids = new Map(row.documents.flatMap(({ id, pair }) => (pair === undefined ? [] : [[textOf(pair), id]])));
  return eachOnce(pairs).flatMap((pair) => ids.get(textOf(pair)) ?? []);
}

/** The pairs without repetitions, in the order of their first mention. */
export function eachOnce(pairs: readonly Pair[]): Pair[] {
  return [...new Map(pairs.map((pair) => [textOf(pair), pair])).values()];
}

/**
 * Keeps the documents whose pair passes and appends one for each wanted pair that has none. When none is kept, the
 * oldest document lives on under its `_id`, with the first new pair or as the placeholder (D14). Sequence numbers are
 * never used twice: an `_id` that is gone never comes to mean something else.
 */
function assigned(row: TemplateRow, isKept: (pair: Pair) => boolean, wanted: readonly Pair[]): TemplateRow {
  const documents: TemplateDocument[] = row.documents.filter(({ pair }) => pair !== undefined && isKept(pair));
  const heir = documents.length === 0 ? row.documents[0] : undefined;
  const taken = new Set(documents.flatMap(({ pair }) => (pair === undefined ? [] : [textOf(pair)])));
  let nextSequence = row.nextSequence;
  for (const pair of wanted) {
    if (taken.has(textOf(pair))) continue;
    taken.add(textOf(pair));
    const inherited = documents.length === 0 ? heir?.id : undefined;
    documents.push({ id: inherited ?? documentId({ ...row, sequence: nextSequence++ }), pair });
  }
  if (documents.length === 0 && heir !== undefined) documents.push({ id: heir.id });
  return { ...row, documents, nextSequence };
}

function textOf({ channelId, campaignId }: Pair): string {
  return `${channelId}:${campaignId}`;
}

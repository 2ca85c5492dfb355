import type { CampaignScope } from '../../access/campaign-scope.ts';
import type { TemplateRow } from '../model/row.ts';
import type { TemplateDocument } from '../model/template.ts';
import { documentId } from '../model/template-key.ts';

export type Pair = NonNullable<TemplateDocument['pair']>;

/** Returns the row with the pairs added (D14, POST); existing pairs stay as they are. */
export function addPairs(row: TemplateRow, pairs: readonly Pair[]): TemplateRow {
  return assigned(row, { isKept: () => true, wanted: pairs });
}

/**
 * Returns the row with exactly the given pairs in the scope's campaigns; others stay (D14, D15). A retried request must
 * find the `_id` that it named, see `assigned`.
 */
export function replacePairs(row: TemplateRow, pairs: readonly Pair[], scope?: CampaignScope): TemplateRow {
  const wanted = new Set(pairs.map(textOf));
  const isKept = (pair: Pair) => scope?.has(pair.campaignId) === false || wanted.has(textOf(pair));
  return assigned(row, { isKept, wanted: pairs, scope });
}

/** Returns the row without the pairs in the scope's campaigns (D14, DELETE). */
export function removePairs(row: TemplateRow, scope?: CampaignScope): TemplateRow {
  return replacePairs(row, [], scope);
}

/** Returns the row without one pair (D14, DELETE of a pair). */
export function removePair(row: TemplateRow, gone: Pair): TemplateRow {
  return assigned(row, { isKept: (pair) => textOf(pair) !== textOf(gone), wanted: [] });
}

/** Returns ids in the order of the pairs, once each; pairs without a document are left out. */
export function idsOfPairs(row: TemplateRow, pairs: readonly Pair[]): string[] {
  const ids = new Map(row.documents.flatMap(({ id, pair }) => (pair === undefined ? [] : [[textOf(pair), id]])));
  return eachOnce(pairs).flatMap((pair) => ids.get(textOf(pair)) ?? []);
}

/** Returns the pairs without repetitions, in the order of their first mention. */
export function eachOnce(pairs: readonly Pair[]): Pair[] {
  return [...new Map(pairs.map((pair) => [textOf(pair), pair])).values()];
}

interface Change {
  readonly isKept: (pair: Pair) => boolean;
  readonly wanted: readonly Pair[];
  readonly scope?: CampaignScope | undefined;
}

/**
 * The oldest document of the scope lives on under its `_id` when the scope keeps none (D14). Sequence numbers are never
 * reused, so that a removed `_id` never gets another meaning.
 */
function assigned(row: TemplateRow, { isKept, wanted, scope }: Change): TemplateRow {
  const isSeen = ({ campaignId }: Pair) => scope?.has(campaignId) !== false;
  const kept = new Set(row.documents.filter(({ pair }) => pair !== undefined && isKept(pair)));
  const keptPairs = [...kept].flatMap(({ pair }) => pair ?? []);
  const heir = keptPairs.some(isSeen) ? undefined : row.documents.find((document) => !kept.has(document));
  const taken = new Set(keptPairs.map(textOf));
  const added = eachOnce(wanted).filter((pair) => !taken.has(textOf(pair)));
  const inherited = heir === undefined ? undefined : (added.find(isSeen) ?? added[0]);
  const documents = row.documents.flatMap((document): TemplateDocument[] => {
    if (kept.has(document)) return [document];
    return document === heir && inherited !== undefined ? [{ id: document.id, pair: inherited }] : [];
  });
  let nextSequence = row.nextSequence;
  for (const pair of added) {
    if (pair !== inherited) documents.push({ id: documentId({ ...row, sequence: nextSequence++ }), pair });
  }
  if (documents.length === 0 && heir !== undefined) documents.push({ id: heir.id });
  return { ...row, documents, nextSequence };
}

function textOf({ channelId, campaignId }: Pair): string {
  return `${channelId}:${campaignId}`;
}

import type { CampaignScope } from '../../access/campaign-scope.ts';
import { type IsValidPair, validDocuments } from './document.ts';
import type { TemplateRow } from './row.ts';
import type { TemplateDocument } from './template.ts';

/** A view has the caller's campaigns, and the pairs that the client still has (D15). */
export interface ViewBounds {
  readonly scope: CampaignScope;
  readonly stands: IsValidPair;
}

/**
 * Returns the documents in a caller's view: standing ones in its campaigns, or the placeholder. Returns empty when the
 * template has only other campaigns.
 */
export function visibleDocuments(documents: readonly TemplateDocument[], bounds: ViewBounds): TemplateDocument[] {
  return validDocuments(documents, bounds.stands).filter((document) => !isHidden(document, bounds));
}

/** Tells whether a document is in a campaign outside the caller's scope. */
export function isHidden({ pair }: TemplateDocument, { scope, stands }: ViewBounds): boolean {
  return pair !== undefined && scope?.has(pair.campaignId) === false && stands(pair);
}

/** Returns the `_id` of a template in a view: the client's oldest document that the caller may see (D12). */
export function visibleId({ documents }: Pick<TemplateRow, 'documents'>, bounds: ViewBounds): string {
  return documents.find((document) => !isHidden(document, bounds))?.id ?? '';
}

export interface SeenTemplate {
  readonly row: TemplateRow;
  readonly scope: CampaignScope;
}

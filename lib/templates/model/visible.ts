import type { CampaignScope } from '../../access/campaign-scope.ts';
import { type PairStands, standingDocuments } from './document.ts';
import type { TemplateRow } from './row.ts';
import type { TemplateDocument } from './template.ts';

/** What bounds a caller's view of a template's documents: the own campaigns, and what the client still has (D15). */
export interface ViewBounds {
  readonly scope: CampaignScope;
  readonly stands: PairStands;
}

/**
 * The documents that a view of the template counts: those that stand, in the caller's campaigns, or the placeholder. None
 * when the template has only campaigns that the caller does not see.
 */
export function visibleDocuments(documents: readonly TemplateDocument[], bounds: ViewBounds): TemplateDocument[] {
  return standingDocuments(documents, bounds.stands).filter((document) => !isHidden(document, bounds));
}

/** Whether a document is assigned to a campaign of others. */
export function isHidden({ pair }: TemplateDocument, { scope, stands }: ViewBounds): boolean {
  return pair !== undefined && scope?.has(pair.campaignId) === false && stands(pair);
}

/** The `_id` by which a view names a template: the client's oldest document that is not hidden from the caller (D12). */
export function visibleId({ documents }: Pick<TemplateRow, 'documents'>, bounds: ViewBounds): string {
  return documents.find((document) => !isHidden(document, bounds))?.id ?? '';
}

/** A template as a caller works with it, with the campaigns that bound what the caller sees of it. */
export interface SeenTemplate {
  readonly row: TemplateRow;
  readonly scope: CampaignScope;
}

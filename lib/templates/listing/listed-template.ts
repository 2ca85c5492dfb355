import type * as v from 'valibot';
import type { Directory } from '../../access/directory.ts';
import { standingDocuments } from '../model/document.ts';
import type { TemplateRow } from '../model/row.ts';
import type { PlatformTemplate } from '../model/template.ts';
import type { TemplateStore } from '../model/template-store.ts';
import type { ListingScope } from './listing.ts';
import { pairStands, viewOf } from './listing-page.ts';
import { platformTemplateView, type TemplateSchema } from './view.ts';

/**
 * One template as the listing shows it to a caller of that scope, and as the platform has it (D49). Of its campaigns those in
 * scope; there is a view also when none is. One round trip beside that of the scope.
 */
export async function listedTemplate(
  stores: {
    readonly directory: Pick<Directory, 'listCampaigns' | 'listChannels' | 'listWabas'>;
    readonly templates: Pick<TemplateStore, 'factsOf'>;
  },
  row: TemplateRow,
  scopeOf: Promise<ListingScope>,
): Promise<{ readonly view: v.InferOutput<typeof TemplateSchema>; readonly template: PlatformTemplate }> {
  const { directory, templates } = stores;
  const [facts, campaigns, channels, wabas, scope] = await Promise.all([
    templates.factsOf([row]),
    directory.listCampaigns(row.clientId),
    directory.listChannels(row.clientId),
    directory.listWabas(row.clientId),
    scopeOf,
  ]);
  const template = facts.get(row.templateKey)?.template;
  if (template === undefined) throw new Error(`template ${row.templateKey} has a row and no fact`);
  const documents = standingDocuments(row.documents, pairStands(channels, campaigns)).filter(
    ({ pair }) => scope === undefined || (pair !== undefined && scope.has(pair.campaignId)),
  );
  const view = viewOf({ row, documents }, { facts, campaigns, channels, wabas });
  return { view: { ...view, platform_template: platformTemplateView(template) }, template };
}

import type * as v from 'valibot';
import type { Directory } from '../../access/directory.ts';
import { templateNotFound } from '../model/document.ts';
import type { PlatformTemplate } from '../model/template.ts';
import type { TemplateStore } from '../model/template-store.ts';
import { type SeenTemplate, visibleDocuments, visibleId } from '../model/visible-documents.ts';
import { validPairs, viewOf } from './listing-page.ts';
import { platformTemplateView, type TemplateSchema } from './view.ts';

/**
 * Returns one template as listed in the caller's scope, even unassigned, and as the platform has it (D49), in one round
 * trip. Refuses with 404 a template that has only other campaigns (D15).
 */
export async function listedTemplate(
  stores: {
    readonly directory: Pick<Directory, 'listCampaigns' | 'listChannels' | 'listWabas'>;
    readonly templates: Pick<TemplateStore, 'factsOf'>;
  },
  { row, scope }: SeenTemplate,
): Promise<{ readonly view: v.InferOutput<typeof TemplateSchema>; readonly template: PlatformTemplate }> {
  const { directory, templates } = stores;
  const [facts, campaigns, channels, wabas] = await Promise.all([
    templates.factsOf([row]),
    directory.listCampaigns(row.clientId),
    directory.listChannels(row.clientId),
    directory.listWabas(row.clientId),
  ]);
  const template = facts.get(row.templateKey)?.template;
  if (template === undefined) throw new Error(`template ${row.templateKey} has a row and no fact`);
  const bounds = { scope, stands: validPairs(channels, campaigns) };
  const documents = visibleDocuments(row.documents, bounds);
  if (documents.length === 0) throw templateNotFound();
  const view = viewOf({ row, documents, id: visibleId(row, bounds) }, { facts, campaigns, channels, wabas });
  return { view: { ...view, platform_template: platformTemplateView(template) }, template };
}

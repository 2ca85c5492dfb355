import * as v from 'valibot';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import { askedClientId, ClientIdText, clientEndpoint, type Directory } from '../lib/access/page.ts';
import { alwaysNull, answer, type Endpoint, noBody, parse, shaped, wholeNumber } from '../lib/http/page.ts';
import {
  fieldsFilter,
  flag,
  listFilter,
  listOfWords,
  pageOf,
  pageQuery,
  searchFilter,
  textFilter,
} from '../lib/http/query.ts';
import { TemplateCategoryWord, TemplateStatusWord } from '../lib/platform/enums.ts';
import { deployedListing } from '../lib/templates/deployed/listing.ts';
import { listingAccess, listTemplates } from '../lib/templates/listing/listing-page.ts';
import { ListedTemplateSchema } from '../lib/templates/listing/view.ts';
import type { TemplateStore } from '../lib/templates/model/template-store.ts';

export const TemplatesListQuery = v.object({
  state: listOfWords(TemplateStatusWord),
  search: searchFilter,
  category: listOfWords(TemplateCategoryWord),
  lang: listFilter,
  did: textFilter,
  name: textFilter,
  template_platform_id: textFilter,
  active: flag('active'),
  deleted: flag('deleted'),
  campaign_name: textFilter,
  fields: fieldsFilter,
  ...pageQuery,
  client_id: ClientIdText,
  channel_ids: listFilter,
  quality_scores: listFilter,
});

export const TemplatesListAnswer = v.object({
  data: v.array(ListedTemplateSchema),
  total: wholeNumber,
  page: wholeNumber,
  pageSize: wholeNumber,
  paging: alwaysNull(() => v.looseObject({})),
});

/** GET /v1/templates: lists the operating client's templates, filtered, paged, with their campaigns and channels. */
export function templatesList(ports: {
  readonly directory: Directory;
  readonly templates: Pick<TemplateStore, 'rowsOf' | 'factsOf'>;
  readonly nowMs: () => number;
}): Endpoint {
  return clientEndpoint(ports, { body: noBody, query: TemplatesListQuery }, async (event) => {
    const { caller } = event;

    const query = parse(TemplatesListQuery, event.queryStringParameters ?? {});
    const page = pageOf(query);
    const askedId = askedClientId({ query: query.client_id });

    const access = await listingAccess(ports.directory, caller, askedId);

    const listing = await listTemplates(ports, access, query, page);

    return answer(200, shaped(TemplatesListAnswer, { ...listing, page: page.page, pageSize: page.size, paging: null }));
  });
}

export const handler = deployed(() => templatesList({ ...deployedAccess(), templates: deployedListing() }));

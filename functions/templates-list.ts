import * as v from 'valibot';
import { clientEndpoint } from '../lib/access/client-endpoint.ts';
import type { Directory } from '../lib/access/directory.ts';
import { directoryStore } from '../lib/access/directory-store.ts';
import { askedClientId } from '../lib/access/operating-client.ts';
import { documentClient } from '../lib/aws/dynamodb.ts';
import { environmentVariable } from '../lib/aws/environment.ts';
import { answer } from '../lib/http/answer.ts';
import { noBody } from '../lib/http/body.ts';
import type { Endpoint } from '../lib/http/endpoint.ts';
import { parse } from '../lib/http/parse.ts';
import { flag, listFilter, pageOf, pageQuery, textFilter } from '../lib/http/query.ts';
import { listingAccess, listTemplates } from '../lib/templates/listing/listing-page.ts';
import { type TemplateStore, templateStore } from '../lib/templates/model/template-store.ts';

export const TemplatesListQuery = v.object({
  state: listFilter,
  search: textFilter,
  category: listFilter,
  lang: listFilter,
  did: textFilter,
  name: textFilter,
  template_platform_id: textFilter,
  active: flag('active'),
  deleted: flag('deleted'),
  campaign_name: textFilter,
  fields: listFilter,
  ...pageQuery,
  client_id: v.optional(v.string()),
  channel_ids: listFilter,
  quality_scores: listFilter,
});

/** GET /v1/templates: the operating client's templates, filtered, paged, with their campaigns and channels. */
export function templatesList(deps: {
  readonly directory: Directory;
  readonly templates: Pick<TemplateStore, 'rowsOf' | 'factsOf'>;
  readonly nowMs: () => number;
}): Endpoint {
  return clientEndpoint(deps, noBody, async (event) => {
    const { caller } = event;

    const query = parse(TemplatesListQuery, event.queryStringParameters ?? {});
    const page = pageOf(query);
    const askedId = askedClientId({ query: query.client_id });

    const access = await listingAccess(deps.directory, caller, askedId);

    const listing = await listTemplates(deps, access, query, page);

    return answer(200, { ...listing, page: page.page, pageSize: page.size, paging: null });
  });
}

const store = documentClient();
export const handler = templatesList({
  directory: directoryStore(store, environmentVariable('DIRECTORY_TABLE')),
  templates: templateStore(store, environmentVariable('TEMPLATES_TABLE')),
  nowMs: Date.now,
});

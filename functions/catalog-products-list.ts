import * as v from 'valibot';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import {
  askedClientId,
  ClientIdText,
  clientEndpoint,
  DidSchema,
  type Directory,
  operatingDid,
} from '../lib/access/page.ts';
import { positionOf } from '../lib/catalog/cursor.ts';
import { deployedCatalog } from '../lib/catalog/deployed.ts';
import { type CatalogPorts, listProducts } from '../lib/catalog/list-products.ts';
import { ProductSchema } from '../lib/catalog/product.ts';
import { answer, type Endpoint, invalid, noBody, parse, shaped } from '../lib/http/page.ts';
import { countTo, textFilter } from '../lib/http/query.ts';

const defaultLimit = 25;
const maxLimit = 100;

export const CatalogProductsPath = v.object({ did: DidSchema });
export const CatalogProductsQuery = v.object({
  catalog_id: v.pipe(v.string(), v.minLength(1, 'catalog_id is required')),
  cursor: textFilter,
  limit: countTo('limit', maxLimit),
  client_id: ClientIdText,
});

export const CatalogProductsAnswer = v.object({
  data: v.array(ProductSchema),
  paging: v.object({
    cursors: v.object({ before: v.optional(v.string()), after: v.optional(v.string()) }),
  }),
});

type Ports = CatalogPorts & { readonly directory: Directory; readonly nowMs: () => number };

/** GET /v1/catalogs/{did}/products: lists one page of the products of the WABA's linked catalog (D31). */
export function catalogProductsList(ports: Ports): Endpoint {
  return clientEndpoint(ports, { body: noBody, query: CatalogProductsQuery }, async (event) => {
    const { caller } = event;

    const { did } = parse(CatalogProductsPath, event.pathParameters ?? {});
    const query = parse(CatalogProductsQuery, event.queryStringParameters ?? {});
    const position = query.cursor === undefined ? undefined : positionOf(query.cursor);
    if (query.cursor !== undefined && position === undefined) throw invalid('cursor', 'cursor is not one of a page');
    const askedId = askedClientId({ query: query.client_id });

    const { waba } = (await operatingDid(ports.directory, caller, { did, askedId })).did;

    const asked = { catalogId: query.catalog_id, position, limit: query.limit ?? defaultLimit };
    const page = await listProducts(ports, waba, asked);

    return answer(200, shaped(CatalogProductsAnswer, page));
  });
}

export const handler = deployed(() =>
  catalogProductsList({ ...deployedAccess(), ...deployedCatalog({ timeoutMs: 10_000 }) }),
);

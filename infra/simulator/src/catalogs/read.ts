import { type NodeShape, selection } from '../fields.ts';
import { pageOf } from '../paging.ts';
import type { PlatformRequest } from '../platform-request.ts';
import { json, type Reply } from '../reply.ts';
import type { Catalog, Waba } from '../wabas.ts';

const catalogShape: NodeShape = { type: 'ProductCatalog', byDefault: ['id', 'name'], known: ['id', 'name'] };

const productShape: NodeShape = {
  type: 'ProductItem',
  byDefault: ['id', 'name', 'retailer_id'],
  known: [
    'id',
    'name',
    'retailer_id',
    'description',
    'currency',
    'price',
    'url',
    'category',
    'image_url',
    'images',
    'additional_image_urls',
    'availability',
    'review_status',
  ],
};

const largestCatalogPage = 100;
const largestProductPage = 1_000;

/** Answers `GET /{waba_id}/product_catalogs`. */
export function listCatalogs(waba: Waba, request: PlatformRequest): Reply {
  return listed(waba.catalogs, { shape: catalogShape, maximum: largestCatalogPage }, request);
}

/** Answers `GET /{catalog_id}`. */
export function readCatalog(catalog: Catalog, request: PlatformRequest): Reply {
  return json(selection(request.query.get('fields'), catalogShape)(catalog.fields));
}

/** Answers `GET /{catalog_id}/products` (platform reference, 7); `filter` is not simulated. */
export function listProducts(catalog: Catalog, request: PlatformRequest): Reply {
  return listed(catalog.products, { shape: productShape, maximum: largestProductPage }, request);
}

function listed(
  nodes: readonly Pick<Catalog, 'fields' | 'place'>[],
  how: { readonly shape: NodeShape; readonly maximum: number },
  request: PlatformRequest,
): Reply {
  const select = selection(request.query.get('fields'), how.shape);
  const page = pageOf(nodes, { query: request.query, self: request.self, maximum: how.maximum });
  return json({
    data: page.items.map((node) => select(node.fields)),
    paging: page.paging,
  });
}

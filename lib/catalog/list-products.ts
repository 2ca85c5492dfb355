import type { Waba } from '../access/directory.ts';
import { Refusal } from '../http/refusal.ts';
import { atPlatform } from '../platform/refusals.ts';
import { backwardCursor, type CatalogPosition } from './cursor.ts';
import type { CatalogIdOf } from './platform-catalogs.ts';
import type { ProductPageOf } from './platform-products.ts';
import { productView } from './product.ts';

export interface CatalogPorts {
  readonly catalogIdOf: CatalogIdOf;
  readonly productPageOf: ProductPageOf;
}

/**
 * Returns one page of a catalog (D31). Refuses with the same 403 every catalog that is not linked to the WABA, existing
 * or not, and as D7.
 */
export async function listProducts(
  { catalogIdOf, productPageOf }: CatalogPorts,
  waba: Waba,
  asked: { readonly catalogId: string; readonly position: CatalogPosition | undefined; readonly limit: number },
) {
  const { catalogId, ...pageAsked } = asked;
  if ((await atPlatform(() => catalogIdOf(waba))) !== catalogId) {
    throw new Refusal('catalog_forbidden', 'the catalog is not linked to the WABA of the did');
  }
  const page = await atPlatform(() => productPageOf({ catalogId, credential: waba.credential }, pageAsked));
  return {
    data: page.products.map((product) => productView(catalogId, product)),
    paging: {
      cursors: {
        before: page.before === undefined ? undefined : backwardCursor(page.before),
        after: page.after,
      },
    },
  };
}

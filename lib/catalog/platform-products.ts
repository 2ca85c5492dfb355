import * as v from 'valibot';
import { log } from '../observe/log.ts';
import type { CredentialOf } from '../platform/credentials.ts';
import { PlatformFailure } from '../platform/failure.ts';
import type { PlatformTransport } from '../platform/transport.ts';
import { type CatalogPosition, platformCursorPattern } from './cursor.ts';
import { type PlatformProduct, PlatformProductSchema, productFields } from './product.ts';

export interface ProductPage {
  readonly products: readonly PlatformProduct[];
  /** The cursor is before the first product, absent on an empty page. */
  readonly before?: string;
  /** The cursor is after the last product, absent when none follows. */
  readonly after?: string;
}

export type ProductPageOf = (
  catalog: { readonly catalogId: string; readonly credential: string },
  page: { readonly limit: number; readonly position?: CatalogPosition | undefined },
) => Promise<ProductPage>;

const CursorSchema = v.optional(v.pipe(v.string(), v.regex(platformCursorPattern)));
const ProductsReplySchema = v.object({
  data: v.array(v.unknown()),
  paging: v.optional(
    v.object({
      cursors: v.optional(v.object({ before: CursorSchema, after: CursorSchema })),
      next: v.optional(v.string()),
    }),
  ),
});

/** Reads products from `GET /{catalog_id}/products` (platform reference, 7). Throws `PlatformFailure`. */
export function platformProducts(call: PlatformTransport, credentialOf: CredentialOf): ProductPageOf {
  return async ({ catalogId, credential }, { limit, position }) => {
    const { accessToken } = await credentialOf(credential);
    const query = { fields: productFields, limit: String(limit), ...position };
    const { body } = await call({ method: 'GET', path: `${catalogId}/products`, query, accessToken });
    const reply = v.safeParse(ProductsReplySchema, body);
    if (!reply.success) throw new PlatformFailure('ambiguous', { cause: new Error('not a page of products') });
    const { data, paging } = reply.output;
    const read = data.map((entry) => v.safeParse(PlatformProductSchema, entry));
    const products = read.filter((entry) => entry.success).map((entry) => entry.output);
    const unreadable = read.length - products.length;
    if (unreadable > 0) log('platform.product_unreadable', { count: unreadable });
    const { before, after } = paging?.cursors ?? {};
    return {
      products,
      before,
      // The platform gives an `after` on the last page too; only `next` says that more follows (2.1).
      after: paging?.next === undefined ? undefined : after,
    };
  };
}

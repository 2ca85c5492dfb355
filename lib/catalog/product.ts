import * as v from 'valibot';
import { decimalPrice } from './price.ts';

/** A field of another type, or a blank one, counts as absent. */
const text = v.fallback(
  v.optional(
    v.pipe(
      v.string(),
      v.trim(),
      v.transform((value) => (value === '' ? undefined : value)),
    ),
  ),
  undefined,
);
const texts = v.fallback(v.optional(v.array(v.unknown())), undefined);

/** The platform lists products in this form (platform reference, 7). */
export const PlatformProductSchema = v.object({
  id: v.pipe(v.string(), v.minLength(1)),
  name: text,
  retailer_id: text,
  description: text,
  currency: text,
  price: text,
  url: text,
  category: text,
  image_url: text,
  images: texts,
  additional_image_urls: texts,
});

export type PlatformProduct = v.InferOutput<typeof PlatformProductSchema>;

export const productFields = Object.keys(PlatformProductSchema.entries).join(',');

export const ProductSchema = v.object({
  id: v.string(),
  name: v.optional(v.string()),
  retailer_id: v.optional(v.string()),
  image_urls: v.array(v.string()),
  description: v.optional(v.string()),
  currency: v.optional(v.string()),
  price: v.optional(v.pipe(v.string(), v.description('Decimal text.'))),
  url: v.optional(v.string()),
  category: v.optional(v.string()),
  unique_id: v.optional(v.string()),
});
export type Product = v.InferOutput<typeof ProductSchema>;

/** Returns a product as in the contract, without absent texts and without a price that is no decimal (D31). */
export function productView(catalogId: string, product: PlatformProduct): Product {
  const { id, name, retailer_id, description, currency, price, url, category } = product;
  return {
    id,
    name,
    retailer_id,
    image_urls: imageUrlsOf(product),
    description,
    currency,
    price: price === undefined ? undefined : decimalPrice(price, currency),
    url,
    category,
    unique_id: retailer_id === undefined ? undefined : `${catalogId}:${retailer_id}`,
  };
}

/** Returns the main image first, then the others, once each. */
function imageUrlsOf({ image_url, images, additional_image_urls }: PlatformProduct): string[] {
  const urls = [image_url, ...(additional_image_urls ?? []), ...(images ?? [])]
    .filter((url) => typeof url === 'string')
    .map((url) => url.trim());
  return [...new Set(urls)].filter((url) => url !== '');
}

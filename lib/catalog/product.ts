import * as v from 'valibot';
import { decimalPrice } from './price.ts';

/** A field that is not of its type counts as absent; so does a blank one. */
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

/** A product as the platform lists it (platform reference, 7). */
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

/** The fields to ask the platform for. */
export const productFields = Object.keys(PlatformProductSchema.entries).join(',');

/** A product as the contract shows it: absent text is left out, and so is a price that is no decimal text (D31). */
export function productView(catalogId: string, product: PlatformProduct): Record<string, string | string[]> {
  const { id, name, retailer_id, description, currency, price, url, category } = product;
  const view = {
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
  return Object.fromEntries(
    Object.entries(view).filter((entry): entry is [string, string | string[]] => entry[1] !== undefined),
  );
}

/** The main image first, then the others, each once. */
function imageUrlsOf({ image_url, images, additional_image_urls }: PlatformProduct): string[] {
  const urls = [image_url, ...(additional_image_urls ?? []), ...(images ?? [])]
    .filter((url) => typeof url === 'string')
    .map((url) => url.trim());
  return [...new Set(urls)].filter((url) => url !== '');
}

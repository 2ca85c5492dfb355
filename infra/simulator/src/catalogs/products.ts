import type { NodeFields } from '../fields.ts';
import type { Placed } from '../paging.ts';

export interface Product extends Placed {
  readonly fields: NodeFields;
}

/** Prices are formatted differently in real shops, so each has its locale and currency. */
const shops: readonly (readonly [locale: string, currency: string, typicalAmount: number])[] = [
  ['en-US', 'USD', 9.99],
  ['de-DE', 'EUR', 1_049.5],
  ['pt-BR', 'BRL', 1_234.56],
  ['ja-JP', 'JPY', 1_200],
  ['pl-PL', 'PLN', 1_234.5],
  ['en-IN', 'INR', 123_456],
  ['de-CH', 'CHF', 1_234.5],
  ['es-CL', 'CLP', 24_990],
  ['ar-KW', 'KWD', 3.25],
  ['es-AR', 'ARS', 18_500],
];
const categories = ['Shoes', 'Bags', 'Outdoor > Tents', 'Coffee'];
const goods = ['Trail shoe', 'Day pack', 'Two-person tent', 'Espresso beans', 'Travel mug'];

/** Makes deterministic products. Some lack fields, as in real shops. */
export function generatedProducts(catalogId: string, count: number): Product[] {
  return Array.from({ length: count }, (_, place) => ({ place, fields: productFields(catalogId, place) }));
}

function productFields(catalogId: string, place: number): NodeFields {
  const number = place + 1;
  const [locale, currency, typicalAmount] = shops[place % shops.length] ?? ['en-US', 'USD', 1];
  const sku = `sku-${number}`;
  const image = (view: string) => `https://images.example.com/${catalogId}/${sku}-${view}.jpg`;
  const fields: Record<string, unknown> = {
    // An id has sixteen digits, as the platform's, and is below 2^53.
    id: String(7_000_000_000_000_000 + (Number(catalogId) % 1_000) * 1_000_000 + number),
    name: `${goods[place % goods.length]} ${number}`,
    retailer_id: sku,
    description: `${goods[place % goods.length]}, number ${number} of the catalog`,
    currency,
    price: new Intl.NumberFormat(locale, { style: 'currency', currency }).format(typicalAmount + place),
    url: `https://shop.example.com/products/${sku}`,
    category: categories[place % categories.length],
    image_url: image('front'),
    additional_image_urls: [image('back'), image('front'), ''],
    availability: place % 19 === 18 ? 'out of stock' : 'in stock',
    review_status: 'approved',
  };
  if (place % 7 === 6) fields['description'] = '';
  if (place % 17 === 16) fields['price'] = 'Price on request';
  const missing = [
    { every: 11, names: ['url'] },
    { every: 13, names: ['image_url', 'additional_image_urls'] },
    { every: 23, names: ['category', 'price', 'currency'] },
    { every: 37, names: ['retailer_id'] },
  ];
  const left = missing.flatMap(({ every, names }) => (place % every === every - 1 ? names : []));
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !left.includes(name)));
}

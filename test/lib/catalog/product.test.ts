import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { backwardCursor, positionOf } from '../../../lib/catalog/cursor.ts';
import { PlatformProductSchema, productFields, productView } from '../../../lib/catalog/product.ts';

const viewOf = (product: Record<string, unknown>) =>
  productView('600', v.parse(PlatformProductSchema, { id: '7', ...product }));

describe('a product as the contract shows it', () => {
  test('with every field', () => {
    const product = {
      name: 'Trail shoe',
      retailer_id: 'sku-1',
      description: 'light',
      currency: 'BRL',
      price: 'R$ 1.234,56',
      url: 'https://shop.example.com/1',
      category: 'Shoes',
      image_url: 'https://i.example.com/front.jpg',
      additional_image_urls: ['https://i.example.com/back.jpg'],
      availability: 'in stock',
    };
    expect(viewOf(product)).toEqual({
      id: '7',
      name: 'Trail shoe',
      retailer_id: 'sku-1',
      image_urls: ['https://i.example.com/front.jpg', 'https://i.example.com/back.jpg'],
      description: 'light',
      currency: 'BRL',
      price: '1234.56',
      url: 'https://shop.example.com/1',
      category: 'Shoes',
      unique_id: '600:sku-1',
    });
  });

  test.each([undefined, null, '', '  ', 5, {}, []])(
    'what is %j is left out; images are an empty list (D31)',
    (value) => {
      const fields = 'name retailer_id description currency price url category image_url images'.split(' ');
      expect(viewOf(Object.fromEntries(fields.map((field) => [field, value])))).toEqual({ id: '7', image_urls: [] });
    },
  );

  test.each([
    [{ image_url: 'a', additional_image_urls: ['b', 'a', ' b ', '', 5, null] }, ['a', 'b']],
    [{ additional_image_urls: ['b'] }, ['b']],
    [{ image_url: 'a', images: ['a', 'c'] }, ['a', 'c']],
  ])('images of %j', (product, imageUrls) => {
    expect(viewOf(product)['image_urls']).toEqual(imageUrls);
  });

  test('the platform is asked for what is shown', () => {
    expect(productFields.split(',')).toEqual(expect.arrayContaining(['price', 'currency', 'image_url', 'retailer_id']));
  });
});

describe('cursors', () => {
  test.each(['QVFIUk9', 'a-b_c=', 'x'.repeat(1_000)])('%s leads forward as it is, and back with its mark', (cursor) => {
    expect(positionOf(cursor)).toEqual({ after: cursor });
    expect(positionOf(backwardCursor(cursor))).toEqual({ before: cursor });
  });

  test.each(['before:', 'after:x', 'before:before:x', 'a b', 'a,b', 'a&b', 'é', '\u0000', 'x'.repeat(1_001)])(
    '%j is none',
    (cursor) => {
      expect(positionOf(cursor)).toBeUndefined();
    },
  );
});

import { describe, expect, test } from 'vitest';
import { mismatch, refusedSends } from './support/refusals.ts';
import { body, button, firstNumber, header, simulatorOfFile, templateMessage, text } from './support/simulator.ts';
import { product, productList, type SendableTemplate, validSends } from './support/valid-sends.ts';

const simulator = simulatorOfFile();
const { refusesSend } = refusedSends(simulator);
const [tourBody, tourCarousel] = validSends.city_tour.components;
const [firstCard, secondCard] = tourCarousel.cards;

describe('parameters of products and cards against the template', () => {
  const mpm = (action: unknown) => button('mpm', 0, { type: 'action', action });
  const items = (count: number) => Array.from({ length: count }, (_, i) => ({ product_retailer_id: `SKU-${i}` }));
  const sections = (count: number, each: number) =>
    Array.from({ length: count }, (_, i) => ({ title: `Part ${i}`, product_items: items(each) }));
  const picks = (...rest: unknown[]) => [header(text('Ana')), body('SPRING20'), ...rest];
  const carousel = (...cards: unknown[]) => [tourBody, { type: 'carousel', cards }];

  test.each<[SendableTemplate, string, unknown[], number, string?]>([
    [
      'city_tour',
      'an empty payload in a card',
      carousel(firstCard, {
        card_index: 1,
        components: [
          ...secondCard.components.slice(0, 2),
          button('quick_reply', 0, { type: 'payload', payload: '' }),
          secondCard.components[3],
        ],
      }),
      131008,
      'carousel card 1 buttons: payload is empty',
    ],
    ['spring_picks', 'no product list', picks(), 131008, 'Button at index 0 of type Mpm requires a parameter'],
    ['spring_picks', 'no header value', [body('x'), mpm(productList)], 132000, `header: ${mismatch(0, 1)}`],
    [
      'spring_picks',
      'filled header too long',
      [header(text('x'.repeat(60))), body('x'), mpm(productList)],
      132005,
      'header',
    ],
    [
      'spring_picks',
      'no thumbnail',
      picks(mpm({ sections: productList.sections })),
      131008,
      'thumbnail_product_retailer_id',
    ],
    ['spring_picks', 'no sections', picks(mpm({ ...productList, sections: [] })), 131008, 'sections'],
    [
      'spring_picks',
      'eleven sections',
      picks(mpm({ ...productList, sections: sections(11, 1) })),
      131009,
      '10 sections',
    ],
    ['spring_picks', '31 products', picks(mpm({ ...productList, sections: sections(2, 16) })), 131009, '30 products'],
    [
      'spring_picks',
      'section without products',
      picks(mpm({ ...productList, sections: sections(1, 0) })),
      131008,
      'product_items',
    ],
    [
      'spring_picks',
      'title too long',
      picks(mpm({ ...productList, sections: [{ title: 'x'.repeat(25), product_items: items(1) }] })),
      131009,
      'title',
    ],
    [
      'spring_picks',
      'no title',
      picks(mpm({ ...productList, sections: [{ product_items: items(1) }] })),
      131008,
      'title',
    ],
    ['single_pick', 'no product', [], 132012, 'expected PRODUCT, received UNKNOWN'],
    [
      'single_pick',
      'catalog of somebody else',
      [header({ type: 'product', product: { ...product, catalog_id: '1' } })],
      131009,
      'not linked',
    ],
    [
      'single_pick',
      'a value for a body without any',
      [header({ type: 'product', product }), body('x')],
      132000,
      mismatch(1, 0),
    ],
    ['city_tour', 'no cards', [tourBody], 132000, 'cards (0) does not match the expected number of cards (2)'],
    ['city_tour', 'one card of two', carousel(firstCard), 132000, 'cards (1) does not match'],
    [
      'city_tour',
      'three cards',
      carousel(firstCard, secondCard, { ...secondCard, card_index: 2 }),
      132000,
      'cards (3)',
    ],
    ['city_tour', 'the same index twice', carousel(firstCard, firstCard), 131009, 'card_index'],
    [
      'city_tour',
      'a card without its image',
      carousel(firstCard, { card_index: 1, components: secondCard.components.slice(1) }),
      132012,
      'carousel card 1 header: Format mismatch, expected IMAGE, received UNKNOWN',
    ],
    [
      'city_tour',
      'a card without its value',
      carousel({ card_index: 0, components: [firstCard.components[0], ...firstCard.components.slice(2)] }, secondCard),
      132000,
      `carousel card 0 body: ${mismatch(0, 1)}`,
    ],
    [
      'city_tour',
      'a card without its link',
      carousel(firstCard, { card_index: 1, components: secondCard.components.slice(0, 3) }),
      131008,
      'carousel card 1 buttons: Button at index 1 of type Url requires a parameter',
    ],
  ])('%s: %s', async (name, _, components, code, details) => {
    await refusesSend(name, components, code, details);
  });

  test('a key in the spelling of our own interface', async () => {
    const action = { thumbnailProductRetailerId: 'SKU-1', sections: productList.sections };
    const { body: reply } = await simulator.post(
      `${firstNumber}/messages`,
      templateMessage('spring_picks', picks(mpm(action))),
    );
    expect(reply.error).toMatchObject({
      code: 100,
      message: `(#100) Unexpected key "thumbnailProductRetailerId" on param "template['components'][2]['parameters'][0]['action']".`,
    });
  });

  test('a button of a kind that no message names', async () => {
    const components = [...validSends.single_pick.components, { type: 'button', sub_type: 'spm', index: 0 }];
    const { status, body: reply } = await simulator.post(
      `${firstNumber}/messages`,
      templateMessage('single_pick', components),
    );
    expect([status, reply.error.code]).toEqual([400, 100]);
    expect(reply.error.message).toMatch(
      /\['sub_type'\] must be one of \{BOOKING_CONFIRMATION, .*VOICE_CALL\} - got "spm"/,
    );
  });
});

import { body, button, header, text } from './simulator.ts';

const image = (link: string) => ({ type: 'image', image: { link } });
const tourCard = (index: number) => ({
  card_index: index,
  components: [
    header(image('https://andes.example.com/tour.jpg')),
    body('$20'),
    button('quick_reply', 0, { type: 'payload', payload: 'more' }),
    button('url', 1, text('harbour')),
  ],
});

export const productList = {
  thumbnail_product_retailer_id: 'SKU-1',
  sections: [{ title: 'Shoes', product_items: [{ product_retailer_id: 'SKU-1' }, { product_retailer_id: 'SKU-2' }] }],
};

export const location = { latitude: '-34.6', longitude: '-58.4', name: 'Store', address: 'Av. Corrientes 1' };
export const product = { product_retailer_id: 'SKU-1', catalog_id: '600000000000001' };

/** Every template that can be sent has the components of a valid send. */
export const validSends = {
  order_update: { language: 'en_US', components: [body('Ana', 'A-1042'), button('url', 0, text('A-1042'))] },
  welcome_offer: {
    language: 'es',
    components: [header(image('https://andes.example.com/welcome.jpg')), body('Ana')],
  },
  login_code: { language: 'en_US', components: [body('482913'), button('url', '0', text('482913'))] },
  store_visit: { language: 'en_US', components: [header({ type: 'location', location }), body('Ana')] },
  spring_picks: {
    language: 'en_US',
    components: [header(text('Ana')), body('SPRING20'), button('mpm', 0, { type: 'action', action: productList })],
  },
  single_pick: { language: 'en_US', components: [header({ type: 'product', product })] },
  city_tour: {
    language: 'en_US',
    components: [body('Ana'), { type: 'carousel', cards: [tourCard(0), tourCard(1)] }],
  },
  coupon_drop: {
    language: 'en_US',
    components: [button('copy_code', 0, { type: 'coupon_code', coupon_code: 'SAVE25' })],
  },
  bid_offer: { language: 'en_US', components: [] },
  named_params: {
    language: 'en_US',
    components: [
      {
        type: 'body',
        parameters: [
          { type: 'text', parameter_name: 'order_number', text: 'A-1042' },
          { type: 'text', parameter_name: 'customer_name', text: 'Ana' },
        ],
      },
    ],
  },
  tent_video: {
    language: 'en_US',
    components: [header({ type: 'video', video: { link: 'https://andes.example.com/tent.mp4' } }), body('Ana')],
  },
  invoice_file: {
    language: 'en_US',
    components: [
      header({ type: 'document', document: { link: 'https://andes.example.com/F-2207.pdf', filename: 'F-2207.pdf' } }),
      body('Ana', 'F-2207'),
    ],
  },
  weekend_offer: {
    language: 'en_US',
    components: [
      body('Ana'),
      button('copy_code', 0, { type: 'coupon_code', coupon_code: 'PEAK33' }),
      button('url', 1, text('PEAK33')),
    ],
  },
  full_catalog: {
    language: 'en_US',
    components: [
      body('Ana'),
      button('catalog', 0, { type: 'action', action: { thumbnail_product_retailer_id: 'sku-3' } }),
    ],
  },
  visit_survey: {
    language: 'en_US',
    components: [body('Ana'), button('flow', 0, { type: 'action', action: { flow_token: 'visit-7' } })],
  },
  call_back: { language: 'en_US', components: [body('Ana')] },
  help_menu: { language: 'en_US', components: [body('Ana'), button('url', 8, text('ana'))] },
} as const;

export type SendableTemplate = keyof typeof validSends;

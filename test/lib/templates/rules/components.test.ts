import { describe, expect, test } from 'vitest';
import demo from '#simulator/data/demo.json' with { type: 'json' };
import type { Category, TemplateDraft } from '../../../../lib/templates/rules/draft.ts';
import {
  apps,
  body,
  buttons,
  card,
  carousel,
  coupon,
  faultsOf,
  handle,
  header,
  image,
  link,
  offer,
  otp,
  phone,
  productCard,
  reply,
} from './written-components.ts';

interface DemoTemplate {
  readonly name: string;
  readonly category: string;
  readonly components: readonly unknown[];
}

describe('what the platform takes has no fault', () => {
  test.each<[string, readonly unknown[], Partial<TemplateDraft>?]>([
    ['a body alone', [body()]],
    [
      'lower-case enums',
      [
        { ...body(), type: 'body' },
        { ...header({ format: 'text', text: 'News' }), type: 'header' },
      ],
    ],
    ['ten families, with signs that are no emoji', [body(`a${'👨‍👩‍👧‍👦'.repeat(10)}®©™b`)]],
    ['a header with an underscore and a sign', [header({ format: 'TEXT', text: 'order_update by Acme™' }), body()]],
    [
      'a phone number as people write it',
      [body(), buttons({ type: 'PHONE_NUMBER', text: 'Call', phone_number: '+1 (650) 555-1234' })],
    ],
    ['variables with examples', [body('Hello {{1}}, order {{2}} and {{1}} again.', ['Ana', 'A-1'])]],
    [
      'a text header with a variable',
      [header({ format: 'TEXT', text: 'For {{1}} today', example: { header_text: ['Ana'] } }), body()],
    ],
    ['a media header by handle', [image, body()]],
    [
      'a media header as upstream writes it',
      [header({ format: 'VIDEO', example: { header_handle: ['4::x'] } }), body()],
    ],
    ['a media header by URL', [header({ format: 'DOCUMENT', header_source: 'https://a.example.com/x.pdf' }), body()]],
    ['a media header by file', [header({ format: 'IMAGE' }), body()], { fileAttached: true }],
    ['a location header', [header({ format: 'LOCATION' }), body()], { category: 'UTILITY' }],
    ['quick replies first', [body(), buttons(reply(), reply('No'), link(), phone)]],
    ['quick replies last', [body(), buttons(link(), phone, reply(), reply('No'))]],
    ['a dynamic URL', [body(), buttons({ ...link('https://a.example.com/{{1}}'), example: ['x'] })]],
    ['a coupon', [body(), buttons(coupon, link())]],
    [
      'several products',
      [header({ format: 'TEXT', text: 'Picks' }), body(), buttons({ type: 'MPM', text: 'View items' })],
    ],
    ['one product', [header({ format: 'PRODUCT' }), body(), buttons({ type: 'SPM', text: 'View' })]],
    ['a media carousel', [body(), carousel(card(), card())]],
    ['a product carousel', [body(), carousel(productCard, productCard)]],
    ['an offer', [image, body(), offer({ has_expiration: true }), buttons(coupon, link())]],
    ['a code', [{ type: 'BODY' }, otp()], { category: 'AUTHENTICATION' }],
    [
      'a code with everything',
      [
        { type: 'BODY', add_security_recommendation: true },
        { type: 'FOOTER', code_expiration_minutes: 0.5 },
        otp({ otp_type: 'zero_tap', supported_apps: apps, zero_tap_terms_accepted: true }),
      ],
      { category: 'AUTHENTICATION', codeExpirationMinutes: 0.5, addSecurityRecommendation: true },
    ],
  ])('%s', (_, components, draft) => {
    expect(faultsOf(components, draft)).toEqual([]);
  });

  const wabas: readonly { readonly templates: readonly DemoTemplate[] }[] = demo.wabas;
  const positional = wabas.flatMap((waba) => waba.templates).filter(({ name }) => name !== 'named_params');
  test.each(positional.map((template) => [template.name, template] as const))('%s of the demo data', (_, template) => {
    const category = template.category as Category;
    expect(faultsOf(template.components, { category })).toEqual([]);
  });
});

test.each(['navigate', 'NAVIGATE', 'data_exchange', undefined])(
  'a flow_action %s, as written and as read',
  (action) => {
    const flow = { type: 'FLOW', text: 'Go', flow_id: '1', flow_action: action };
    expect(faultsOf([body(), buttons(flow)])).toEqual([]);
  },
);

describe('every fault of headers, bodies and footers names its path, what is expected and what came', () => {
  const long = (length: number) => 'x'.repeat(length);
  test.each<[string, readonly unknown[], string, Partial<TemplateDraft>?]>([
    ['no components', [], 'components: a BODY component is required'],
    [
      'a component that is none',
      [body(), 'x'],
      'components[1].type: one of HEADER, BODY, FOOTER, BUTTONS, CAROUSEL, LIMITED_TIME_OFFER in MARKETING, received "x"',
    ],
    ['two bodies', [body(), body()], 'components[1]: only one BODY component'],
    [
      'a carousel in UTILITY',
      [body(), carousel(card(), card())],
      'components[1].type: one of HEADER, BODY, FOOTER, BUTTONS in UTILITY, received "CAROUSEL"',
      { category: 'UTILITY' },
    ],
    [
      'a header without format',
      [header({ text: 'x' }), body()],
      'components[0].format: one of TEXT, IMAGE, VIDEO, DOCUMENT, GIF, LOCATION, PRODUCT, received nothing',
    ],
    [
      'a product header in UTILITY',
      [header({ format: 'PRODUCT' }), body()],
      'components[0].format: one of TEXT, IMAGE, VIDEO, DOCUMENT, LOCATION, received "PRODUCT"',
      { category: 'UTILITY' },
    ],
    [
      'a long header',
      [header({ format: 'TEXT', text: long(61) }), body()],
      'components[0].text: at most 60 characters, received 61',
    ],
    [
      'a header of two lines',
      [header({ format: 'TEXT', text: 'a\nb' }), body()],
      'components[0].text: no line breaks in a header',
    ],
    [
      'a bold header',
      [header({ format: 'TEXT', text: '*Sale*' }), body()],
      'components[0].text: no formatting characters in a header',
    ],
    [
      'an emoji in a header',
      [header({ format: 'TEXT', text: 'Sale 🎉' }), body()],
      'components[0].text: no emoji in a header',
    ],
    [
      'two variables in a header',
      [header({ format: 'TEXT', text: 'a {{1}} b {{2}} c', example: { header_text: ['x'] } }), body()],
      'components[0].text: at most one variable in a header, received 2',
    ],
    [
      'a header without its example',
      [header({ format: 'TEXT', text: 'For {{1}} now' }), body()],
      'components[0].example.header_text: one example for each variable: expected 1, received 0',
    ],
    [
      'a media header without media',
      [header({ format: 'IMAGE' }), body()],
      'components[0]: a media header needs header_source, header_handle or a file',
    ],
    [
      'two sources of media',
      [header({ format: 'IMAGE', ...handle, header_source: 'https://a.example.com/x.png' }), body()],
      'components[0]: one source of media, received header_handle and header_source',
    ],
    [
      'a file beside a handle',
      [image, body()],
      'components[0]: one source of media, received header_handle and file',
      { fileAttached: true },
    ],
    [
      'a file without a header',
      [body()],
      'components: a file came with the request and there is no media HEADER for it',
      { fileAttached: true },
    ],
    [
      'a location with a text',
      [header({ format: 'LOCATION', text: 'x' }), body()],
      'components[0].text: unrecognized field: text',
    ],
    [
      'a misspelt field',
      [header({ format: 'IMAGE', headerHandle: '4::x' }), body()],
      'components[0].headerHandle: unrecognized field: headerHandle; did you mean header_handle?',
    ],
    [
      'a misspelt field of a button',
      [body(), buttons({ ...link(), exmaple: ['x'] })],
      'components[1].buttons[0].exmaple: unrecognized field: exmaple; did you mean example?',
    ],
    [
      'a field with an endless name',
      [{ ...body(), [long(500_000)]: 1 }],
      `components[0].${long(77)}...: unrecognized field: ${long(77)}...`,
    ],
    ['an empty body', [body(' ')], 'components[0].text: a text is required, received " "'],
    ['a long body', [body(long(1_025))], 'components[0].text: at most 1024 characters, received 1025'],
    [
      'a long body beside an offer',
      [body(long(601)), offer(), buttons(link())],
      'components[0].text: at most 600 characters, received 601',
    ],
    ['three line breaks', [body('a\n\n\nb')], 'components[0].text: at most two line breaks in a row'],
    [
      'three line breaks with blanks between',
      [body('a\n \n \nb')],
      'components[0].text: at most two line breaks in a row',
    ],
    ['eleven flags', [body(`a${'🇦🇷'.repeat(11)}b`)], 'components[0].text: at most 10 emoji, received 11'],
    ['eleven emoji', [body(`a${'🎉'.repeat(11)}b`)], 'components[0].text: at most 10 emoji, received 11'],
    [
      'a variable first',
      [body('{{1}} hello', ['a'])],
      'components[0].text: a variable must not open or close the text',
    ],
    ['a variable last', [body('hello {{1}}', ['a'])], 'components[0].text: a variable must not open or close the text'],
    [
      'variables side by side',
      [body('a {{1}} {{2}} b', ['a', 'b'])],
      'components[0].text: there must be text between two variables',
    ],
    ['variables only', [body('- {{1}} -', ['a'])], 'components[0].text: a text must not consist of variables only'],
    [
      'a gap',
      [body('a {{1}} b {{3}} c', ['a', 'b'])],
      'components[0].text: variables must be numbered from {{1}} without a gap, {{2}} is missing',
    ],
    [
      'a named variable',
      [body('a {{name}} b')],
      'components[0].text: variables are numbers ({{1}}, {{2}}); named ones are not supported, received {{name}}',
    ],
    [
      'a number with blanks around it',
      [body('a {{ 1 }} b', ['a'])],
      'components[0].text: variables are numbers ({{1}}, {{2}}); named ones are not supported, received {{ 1 }}',
    ],
    ['open braces', [body('a {{1 b')], 'components[0].text: braces of a variable are not closed'],
    [
      'one example of two',
      [body('a {{1}} b {{2}} c', ['a'])],
      'components[0].example.body_text: one example for each variable: expected 2, received 1',
    ],
    [
      'examples without variables',
      [body('a b', ['x'])],
      'components[0].example.body_text: a text without variables takes no example',
    ],
    [
      'a header example without a variable',
      [header({ format: 'TEXT', text: 'Sale', example: { header_text: ['x'] } }), body()],
      'components[0].example.header_text: a text without variables takes no example',
    ],
    [
      'two lists of examples',
      [
        {
          type: 'BODY',
          text: 'a {{1}} b {{2}} c',
          example: {
            body_text: [
              ['x', 'y'],
              ['x', 'y'],
            ],
          },
        },
      ],
      'components[0].example.body_text[0]: a text, received ["x","y"]',
    ],
    [
      'an example that is none',
      [{ type: 'BODY', text: 'a {{1}} b', example: null }],
      'components[0].example: an object, received null',
    ],
    [
      'an example of something else',
      [{ type: 'BODY', text: 'a {{1}} b', example: { body_text: [['x']], foo: 1 } }],
      'components[0].example.foo: unrecognized field: foo',
    ],
    [
      'a media example of something else',
      [header({ format: 'IMAGE', example: { header_handle: ['4::x'], foo: 1 } }), body()],
      'components[0].example.foo: unrecognized field: foo',
    ],
    ['an empty example', [body('a {{1}} b', [''])], 'components[0].example.body_text[0]: a text, received ""'],
    [
      'closing braces in the footer',
      [body(), { type: 'FOOTER', text: 'a }} b' }],
      'components[1].text: no variables in a footer',
    ],
    [
      'a variable in the footer',
      [body(), { type: 'FOOTER', text: 'a {{1}} b' }],
      'components[1].text: no variables in a footer',
    ],
    [
      'a long footer',
      [body(), { type: 'FOOTER', text: long(61) }],
      'components[1].text: at most 60 characters, received 61',
    ],
    ['no buttons', [body(), buttons()], 'components[1].buttons: a list of buttons, received []'],
  ])('%s', (_, components, expected, draft) => {
    expect(faultsOf(components, draft)).toContain(expected);
  });

  test('all faults at once', () => {
    expect(faultsOf([body('{{1}} hi'), { type: 'FOOTER', text: '' }, buttons(reply(''))])).toHaveLength(4);
  });
});

import { describe, expect, test } from 'vitest';
import demo from '#simulator/data/demo.json' with { type: 'json' };
import type { Category, TemplateDraft } from '../../../../lib/templates/rules/draft.ts';
import {
  apps,
  body,
  buttons,
  card,
  carousel,
  faultsOf,
  handle,
  header,
  image,
  link,
  otp,
  phone,
  reply,
} from './written-components.ts';

interface DemoTemplate {
  readonly name: string;
  readonly category: string;
  readonly components: readonly unknown[];
}

// What both the service and the simulator take is in agreement*.test.ts, and so are all limits of length and number.
describe('what the platform takes has no fault', () => {
  test.each<[string, readonly unknown[], Partial<TemplateDraft>?]>([
    [
      'lower-case enums',
      [
        { ...body(), type: 'body' },
        { ...header({ format: 'text', text: 'News' }), type: 'header' },
      ],
    ],
    ['a media header by URL', [header({ format: 'DOCUMENT', header_source: 'https://a.example.com/x.pdf' }), body()]],
    ['a media header by file', [header({ format: 'IMAGE' }), body()], { fileAttached: true }],
    ['variables with examples', [body('Hello {{1}}, order {{2}} and {{1}} again.', ['Ana', 'A-1'])]],
    ['quick replies first', [body(), buttons(reply(), reply('No'), link(), phone)]],
    ['quick replies last', [body(), buttons(link(), phone, reply(), reply('No'))]],
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

describe('every fault of headers, bodies and footers names its path, what is expected and what came', () => {
  const long = (length: number) => 'x'.repeat(length);
  test.each<[string, readonly unknown[], Partial<TemplateDraft>?]>([
    [': a BODY component is required', []],
    [
      '[1].type: one of HEADER, BODY, FOOTER, BUTTONS, CAROUSEL, LIMITED_TIME_OFFER in MARKETING, received "x"',
      [body(), 'x'],
    ],
    ['[1]: only one BODY component', [body(), body()]],
    [
      '[1].type: one of HEADER, BODY, FOOTER, BUTTONS in UTILITY, received "CAROUSEL"',
      [body(), carousel(card(), card())],
      { category: 'UTILITY' },
    ],
    [
      '[0].format: one of TEXT, IMAGE, VIDEO, DOCUMENT, GIF, LOCATION, PRODUCT, received nothing',
      [header({ text: 'x' }), body()],
    ],
    [
      '[0].format: one of TEXT, IMAGE, VIDEO, DOCUMENT, LOCATION, received "PRODUCT"',
      [header({ format: 'PRODUCT' }), body()],
      { category: 'UTILITY' },
    ],
    ['[0].text: at most 60 characters, received 61', [header({ format: 'TEXT', text: long(61) }), body()]],
    ['[0].text: no line breaks in a header', [header({ format: 'TEXT', text: 'a\nb' }), body()]],
    ['[0].text: no formatting characters in a header', [header({ format: 'TEXT', text: '*Sale*' }), body()]],
    ['[0].text: no emoji in a header', [header({ format: 'TEXT', text: 'Sale 🎉' }), body()]],
    [
      '[0].text: at most one variable in a header, received 2',
      [header({ format: 'TEXT', text: 'a {{1}} b {{2}} c', example: { header_text: ['x'] } }), body()],
    ],
    [
      '[0].example.header_text: one example for each variable: expected 1, received 0',
      [header({ format: 'TEXT', text: 'For {{1}} now' }), body()],
    ],
    ['[0]: a media header needs header_source, header_handle or a file', [header({ format: 'IMAGE' }), body()]],
    [
      '[0]: one source of media, received header_handle and header_source',
      [header({ format: 'IMAGE', ...handle, header_source: 'https://a.example.com/x.png' }), body()],
    ],
    ['[0]: one source of media, received header_handle and file', [image, body()], { fileAttached: true }],
    [': a file came with the request and there is no media HEADER for it', [body()], { fileAttached: true }],
    ['[0].text: unrecognized field: text', [header({ format: 'LOCATION', text: 'x' }), body()]],
    [
      '[0].headerHandle: unrecognized field: headerHandle; did you mean header_handle?',
      [header({ format: 'IMAGE', headerHandle: '4::x' }), body()],
    ],
    [`[0].${long(77)}...: unrecognized field: ${long(77)}...`, [{ ...body(), [long(500_000)]: 1 }]],
    ['[0].text: a text is required, received " "', [body(' ')]],
    ['[0].text: at most two line breaks in a row', [body('a\n\n\nb')]],
    ['[0].text: at most 10 emoji, received 11', [body(`a${'🎉'.repeat(11)}b`)]],
    ['[0].text: a variable must not open or close the text', [body('{{1}} hello', ['a'])]],
    ['[0].text: there must be text between two variables', [body('a {{1}} {{2}} b', ['a', 'b'])]],
    ['[0].text: a text must not consist of variables only', [body('- {{1}} -', ['a'])]],
    [
      '[0].text: variables must be numbered from {{1}} without a gap, {{2}} is missing',
      [body('a {{1}} b {{3}} c', ['a', 'b'])],
    ],
    [
      '[0].text: variables are numbers ({{1}}, {{2}}); named ones are not supported, received {{name}}',
      [body('a {{name}} b')],
    ],
    ['[0].text: braces of a variable are not closed', [body('a {{1 b')]],
    [
      '[0].example.body_text: one example for each variable: expected 2, received 1',
      [body('a {{1}} b {{2}} c', ['a'])],
    ],
    ['[0].example.body_text: a text without variables takes no example', [body('a b', ['x'])]],
    [
      '[0].example.body_text[0]: a text, received ["x","y"]',
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
    ],
    ['[0].example: an object, received null', [{ type: 'BODY', text: 'a {{1}} b', example: null }]],
    [
      '[0].example.foo: unrecognized field: foo',
      [{ type: 'BODY', text: 'a {{1}} b', example: { body_text: [['x']], foo: 1 } }],
    ],
    [
      '[0].example.foo: unrecognized field: foo',
      [header({ format: 'IMAGE', example: { header_handle: ['4::x'], foo: 1 } }), body()],
    ],
    ['[0].example.body_text[0]: a text, received ""', [body('a {{1}} b', [''])]],
    ['[1].text: no variables in a footer', [body(), { type: 'FOOTER', text: 'a {{1}} b' }]],
    ['[1].buttons: a list of buttons, received []', [body(), buttons()]],
  ])('components%s', (fault, components, draft) => {
    expect(faultsOf(components, draft)).toContain(`components${fault}`);
  });

  test('all faults at once', () => {
    expect(faultsOf([body('{{1}} hi'), { type: 'FOOTER', text: '' }, buttons(reply(''))])).toHaveLength(4);
  });
});

import { describe, expect, test } from 'vitest';
import { expectMessagingError, mismatch, refusedSends } from './support/refusals.ts';
import {
  body,
  button,
  firstNumber,
  header,
  simulatorOfFile,
  templateMessage,
  text,
  thirdNumber,
} from './support/simulator.ts';
import { location, type SendableTemplate, validSends } from './support/valid-sends.ts';

const simulator = simulatorOfFile();
const { refusesSend } = refusedSends(simulator);
const [firstCard] = validSends.city_tour.components[1].cards;

describe('parameters against the template', () => {
  const longText = 'x'.repeat(1_100);
  const offerCode = (code: string) => button('copy_code', 0, { type: 'coupon_code', coupon_code: code });
  const visit = (place: unknown) => [header({ type: 'location', location: place }), body('Ana')];
  const welcome = (...parameters: unknown[]) => [header(...parameters), body('Ana')];
  const payload = (value: string) => ({ type: 'payload', payload: value });
  const replying = (...parameters: unknown[]) => [
    ...validSends.welcome_offer.components,
    button('quick_reply', 1, ...parameters),
  ];
  const urlButton = button('url', 0, text('A-1042'));

  test.each<[SendableTemplate, string, unknown[], number, string?]>([
    ['order_update', 'one body value of two', [body('Ana'), urlButton], 132000, `body: ${mismatch(1, 2)}`],
    ['order_update', 'three body values', [body('a', 'b', 'c'), urlButton], 132000, `body: ${mismatch(3, 2)}`],
    [
      'order_update',
      'a header it has not',
      [header(text('x')), body('a', 'b'), urlButton],
      132000,
      `header: ${mismatch(1, 0)}`,
    ],
    [
      'order_update',
      'button value missing',
      [body('a', 'b')],
      131008,
      'buttons: Button at index 0 of type Url requires a parameter',
    ],
    ['order_update', 'button part empty', [body('a', 'b'), button('url', 0)], 131008, 'Button at index 0 of type Url'],
    [
      'order_update',
      'two button values',
      [body('a', 'b'), button('url', 0, text('a'), text('b'))],
      132000,
      mismatch(2, 1),
    ],
    ['order_update', 'no button there', [body('a', 'b'), urlButton, button('url', 1, text('b'))], 132012, 'index 1'],
    [
      'order_update',
      'button of another kind',
      [body('a', 'b'), button('quick_reply', 0)],
      132012,
      'expected URL, received QUICK_REPLY',
    ],
    ['order_update', 'empty value', [body('', 'b'), urlButton], 131008, 'missing text value'],
    ['order_update', 'blank value', [body('  ', 'b'), urlButton], 131008, 'missing text value'],
    [
      'order_update',
      'value without text',
      [{ type: 'body', parameters: [{ type: 'text' }, text('b')] }, urlButton],
      131008,
    ],
    ['order_update', 'blank in a link', [body('a', 'b'), button('url', 0, text('a b'))], 131009, 'percent-encoded'],
    ['order_update', 'colon in a link', [body('a', 'b'), button('url', 0, text('a:b'))], 131009, 'percent-encoded'],
    ['order_update', 'pipe in a link', [body('a', 'b'), button('url', 0, text('a|b'))], 131009, 'percent-encoded'],
    [
      'order_update',
      'letter with a tilde in a link',
      [body('a', 'b'), button('url', 0, text('año'))],
      131009,
      'percent-encoded',
    ],
    ['order_update', 'empty button value', [body('a', 'b'), button('url', 0, text(''))], 131008],
    ['order_update', 'new line', [body('a\nb', 'b'), urlButton], 100, 'new-line/tab'],
    ['order_update', 'tab', [body('a\tb', 'b'), urlButton], 100, 'new-line/tab'],
    ['order_update', 'five spaces', [body('a     b', 'b'), urlButton], 100, '4 consecutive spaces'],
    ['order_update', 'filled body too long', [body(longText, 'b'), urlButton], 132005, 'body'],
    [
      'order_update',
      'filled URL too long',
      [body('a', 'b'), button('url', 0, text('x'.repeat(2_000)))],
      132005,
      'buttons',
    ],
    [
      'order_update',
      'image in the body',
      [{ type: 'body', parameters: [{ type: 'image', image: { id: '1' } }, text('b')] }, urlButton],
      132012,
      'body: Format mismatch, expected TEXT, received IMAGE',
    ],
    [
      'order_update',
      'cards it has not',
      [body('a', 'b'), urlButton, { type: 'carousel', cards: [firstCard] }],
      132000,
      'cards (1) does not match the expected number of cards (0)',
    ],
    [
      'order_update',
      'an offer it has not',
      [
        body('a', 'b'),
        urlButton,
        {
          type: 'limited_time_offer',
          parameters: [{ type: 'limited_time_offer', limited_time_offer: { expiration_time_ms: 9e12 } }],
        },
      ],
      132000,
      'limited_time_offer',
    ],
    ['welcome_offer', 'no header', [body('Ana')], 132012, 'header: Format mismatch, expected IMAGE, received UNKNOWN'],
    [
      'welcome_offer',
      'text header',
      welcome(text('x')),
      132012,
      'header: Format mismatch, expected IMAGE, received TEXT',
    ],
    [
      'welcome_offer',
      'video header',
      welcome({ type: 'video', video: { id: '1' } }),
      132012,
      'expected IMAGE, received VIDEO',
    ],
    ['welcome_offer', 'neither id nor link', welcome({ type: 'image', image: {} }), 131008, 'either id or link'],
    [
      'welcome_offer',
      'both id and link',
      welcome({ type: 'image', image: { id: '1', link: 'https://a.example/b' } }),
      131009,
    ],
    [
      'welcome_offer',
      'no link',
      welcome({ type: 'image', image: { link: 'not a link' } }),
      131009,
      'link is not a valid URL',
    ],
    ['welcome_offer', 'no media id', welcome({ type: 'image', image: { id: '4::abc' } }), 131009, 'media id'],
    [
      'welcome_offer',
      'two images',
      welcome({ type: 'image', image: { id: '1' } }, { type: 'image', image: { id: '2' } }),
      132000,
    ],
    [
      'welcome_offer',
      'empty payload',
      [...validSends.welcome_offer.components, button('quick_reply', 1, { type: 'payload', payload: '' })],
      131008,
      'payload',
    ],
    [
      'welcome_offer',
      'text for a payload',
      [...validSends.welcome_offer.components, button('quick_reply', 1, text('a'))],
      132012,
      'expected PAYLOAD, received TEXT',
    ],
    ['welcome_offer', 'a payload of 129 characters', replying(payload('x'.repeat(129))), 131009, '128 characters'],
    ['welcome_offer', 'two payloads', replying(payload('a'), payload('b')), 132000, mismatch(2, 1)],
    [
      'welcome_offer',
      'a payload for a button it has not',
      [...validSends.welcome_offer.components, button('quick_reply', 2, payload('a'))],
      132012,
      'no button at index 2',
    ],
    [
      'order_update',
      'a payload for a link',
      [body('a', 'b'), button('url', 0, payload('a'))],
      132012,
      'expected TEXT, received PAYLOAD',
    ],
    ['login_code', 'no button value', [body('482913')], 131008, 'Button at index 0 of type Url requires a parameter'],
    [
      'login_code',
      'code too long',
      [body('1'.repeat(16)), button('url', 0, text('1'.repeat(16)))],
      132005,
      '15 characters',
    ],
    [
      'store_visit',
      'no location',
      [body('Ana')],
      132012,
      'header: Format mismatch, expected LOCATION, received UNKNOWN',
    ],
    ['store_visit', 'latitude beyond the pole', visit({ ...location, latitude: '91' }), 131009, 'latitude'],
    ['store_visit', 'longitude in words', visit({ ...location, longitude: 'west' }), 131009, 'longitude'],
    ['store_visit', 'latitude empty', visit({ ...location, latitude: '' }), 131008, 'latitude'],
    ['coupon_drop', 'no code', [], 131008, 'Button at index 0 of type CopyCode requires a parameter'],
    ['coupon_drop', 'code of other characters', [offerCode('SAVE-25')], 131009, 'alphanumeric'],
    ['coupon_drop', 'code too long', [offerCode('S'.repeat(21))], 132005, '20 characters'],
    ['coupon_drop', 'code empty', [offerCode('')], 131008, 'coupon_code'],
    [
      'coupon_drop',
      'value for a static link',
      [offerCode('SAVE'), button('url', 1, text('x'))],
      132000,
      `buttons: button at index 1: ${mismatch(1, 0)}`,
    ],
    ['named_params', 'names missing', [body('Ana', 'A-1042')], 100, 'Parameter name is missing or empty'],
    ['named_params', 'one of two', [body('Ana')], 132000, `body: ${mismatch(1, 2)}`],
    [
      'named_params',
      'a name it has not',
      [
        {
          type: 'body',
          parameters: [
            { ...text('a'), parameter_name: 'customer_name' },
            { ...text('b'), parameter_name: 'order' },
          ],
        },
      ],
      100,
      'order',
    ],
    [
      'named_params',
      'a name twice',
      [
        {
          type: 'body',
          parameters: [
            { ...text('a'), parameter_name: 'customer_name' },
            { ...text('b'), parameter_name: 'customer_name' },
          ],
        },
      ],
      100,
      'customer_name',
    ],
  ])('%s: %s', async (name, _, components, code, details) => {
    await refusesSend(name, components, code, details);
  });

  test.each<[string, object, string]>([
    ['without an index', { sub_type: 'quick_reply' }, 'The parameter index of a button is required.'],
    ['without a kind', { index: 0 }, 'The parameter sub_type of a button is required.'],
    ['with an index that is none', { sub_type: 'quick_reply', index: 'first' }, "['index'] must be valid"],
    [
      'without a payload',
      { sub_type: 'quick_reply', index: 0, parameters: [{ type: 'payload' }] },
      "['payload'] is required",
    ],
    [
      'with a number for a payload',
      { sub_type: 'quick_reply', index: 0, parameters: [{ type: 'payload', payload: 7 }] },
      "['payload'] must be a string",
    ],
  ])('a quick reply %s: 100', async (_, part, message) => {
    const components = [...validSends.welcome_offer.components, { type: 'button', ...part }];
    const { status, body: reply } = await simulator.post(
      `${firstNumber}/messages`,
      templateMessage('welcome_offer', components, 'es'),
    );
    expect([status, reply.error.code, reply.error.message]).toEqual([400, 100, expect.stringContaining(message)]);
  });

  test('two parts for one quick reply: 100', async () => {
    const part = button('quick_reply', 0);
    const message = templateMessage('welcome_offer', [...validSends.welcome_offer.components, part, part], 'es');
    const { status, body: reply } = await simulator.post(`${firstNumber}/messages`, message);
    expect([status, reply.error.code]).toEqual([400, 100]);
  });

  test('of the other WABA: three values in the body, one in the header', async () => {
    const message = templateMessage('appointment_reminder', [header(text('Ana')), body('Ana')], 'pt_BR');
    const answer = await simulator.post(`${thirdNumber}/messages`, message);
    expectMessagingError(answer, 400, 132000, /^body: .*\(1\).*\(3\)$/);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../../../lib/http/refusal.ts';
import { neverSendable, parameterContract } from '../../../../lib/messages/request/parameter-contract.ts';
import { headerInputType } from '../../../../lib/messages/request/recipient-rules.ts';
import type { PlatformTemplate } from '../../../../lib/templates/model/template.ts';
import {
  body,
  buttons,
  card,
  header,
  makeTemplate,
  quickReply,
  sendable,
  textHeader,
  urlButton,
} from '../../../support/platform-templates.ts';

/** Counts the contract's inputs, as clients see them. */
function inputsOf(template: PlatformTemplate) {
  const contract = parameterContract(template);
  const { header, cards, flows, codeButton, productList, phoneNumbersOnly } = contract;
  const values = header.kind === 'text' ? header.text.appearances.length : undefined;
  return {
    header: values ?? headerInputType(header) ?? header.kind,
    body: contract.body.appearances.length,
    buttons: contract.buttons.map(({ kind, index }) => `${kind}@${index}`),
    flows,
    codeButton,
    productList,
    ...(cards.length === 0
      ? {}
      : { cards: cards.map((each) => [each.body.appearances.length, ...each.buttons.map(({ index }) => index)]) }),
    ...(phoneNumbersOnly ? { phoneNumbersOnly } : {}),
  };
}

const nothing = { header: 'none', body: 0, buttons: [] };

test.each<[string, PlatformTemplate, object]>([
  ['nothing variable', sendable.plain, nothing],
  ['body and URL suffix', sendable.order, { ...nothing, body: 2, buttons: ['url@0'] }],
  ['text header', sendable.textHeader, { ...nothing, header: 1, body: 1 }],
  ['text header without variable', makeTemplate([textHeader('Hi'), body('x')]), nothing],
  ['image header', sendable.image, { ...nothing, header: 'image_url', body: 1 }],
  ['video header', sendable.video, { ...nothing, header: 'video_url' }],
  ['document header', sendable.document, { ...nothing, header: 'document_url' }],
  ['location header', sendable.location, { ...nothing, header: 'location', body: 1 }],
  ['one-time password as URL button', sendable.code, { ...nothing, body: 1, codeButton: 0, phoneNumbersOnly: 'code' }],
  [
    'one-time password without body text',
    makeTemplate([{ type: 'BODY' }, buttons({ type: 'OTP', otp_type: 'ONE_TAP' })], { category: 'AUTHENTICATION' }),
    { ...nothing, body: 1, codeButton: 0, phoneNumbersOnly: 'code' },
  ],
  ['coupon beside a static URL', sendable.coupon, { ...nothing, buttons: ['copy_code@0'] }],
  ['dynamic buttons at their absolute place', sendable.mixedButtons, { ...nothing, buttons: ['url@2', 'copy_code@3'] }],
  ['several products', sendable.products, { ...nothing, header: 1, body: 1, productList: 0 }],
  ['one product', sendable.product, { ...nothing, header: 'product' }],
  [
    'one product, header left out',
    makeTemplate([body('x'), buttons({ type: 'SPM' })]),
    { ...nothing, header: 'product' },
  ],
  ['catalog button', sendable.catalog, { ...nothing, body: 1 }],
  [
    'carousel',
    sendable.carousel,
    {
      ...nothing,
      body: 1,
      cards: [
        [1, 1],
        [1, 1],
      ],
    },
  ],
  ['limited-time offer without expiration', sendable.offer, { ...nothing, body: 1 }],
  ['a bid', sendable.bid, { ...nothing, body: 1, phoneNumbersOnly: 'bid' }],
  ['a flow button', sendable.flow, { ...nothing, flows: [1] }],
  ['a call button', makeTemplate([body('x'), buttons({ type: 'VOICE_CALL' }, { type: 'PHONE_NUMBER' })]), nothing],
  ['a repeated variable', makeTemplate([body('{{1}}, yes {{1}} and {{2}}.')]), { ...nothing, body: 2 }],
  ['a spaced variable', makeTemplate([body('Hi {{ 1 }}.')]), { ...nothing, body: 1 }],
  [
    'eleven variables',
    makeTemplate([body(Array.from({ length: 11 }, (_, i) => `{{${i + 1}}} and`).join(' '))]),
    { ...nothing, body: 11 },
  ],
  ['nulls where nothing is', makeTemplate([{ type: 'BODY', text: null, format: null, buttons: null }]), nothing],
  [
    'lower case enums',
    makeTemplate([{ type: 'header', format: 'image' }, body('x')], { status: 'approved' }),
    { ...nothing, header: 'image_url' },
  ],
])('%s', (_what, template, expected) => {
  expect(inputsOf(template)).toEqual(expected);
});

const productCard = { components: [{ type: 'HEADER', format: 'PRODUCT' }, buttons({ type: 'SPM' })] };
const cardWithHandle = {
  components: [{ type: 'HEADER', format: 'IMAGE', example: { header_handle: ['4::aW1hZ2U='] } }, body('x')],
};

test.each<[string, PlatformTemplate, RegExp]>([
  ...['PENDING', 'REJECTED', 'PAUSED', 'DISABLED', 'ARCHIVED', 'SOMETHING_NEW'].map(
    (status): [string, PlatformTemplate, RegExp] => [
      `status ${status}`,
      makeTemplate([body('x')], { status }),
      new RegExp(`not APPROVED: its status is ${status}$`),
    ],
  ),
  ['named parameters', makeTemplate([body('Hi {{name}}')], { parameter_format: 'NAMED' }), /named parameters/],
  ['named parameters, lower case', makeTemplate([body('x')], { parameter_format: 'named' }), /named parameters/],
  ['undeclared named parameters', makeTemplate([body('Hi {{first_name}}')]), /named parameters/],
  [
    'an offer that expires',
    makeTemplate([body('x'), { type: 'LIMITED_TIME_OFFER', limited_time_offer: { has_expiration: true } }]),
    /limited-time offers with an expiration/,
  ],
  [
    'product cards',
    makeTemplate([body('x'), { type: 'CAROUSEL', cards: [productCard] }]),
    /button of type SPM on card 0/,
  ],
  ['cards without a link', makeTemplate([body('x'), { type: 'CAROUSEL', cards: [cardWithHandle] }]), /media of the/],
  ['a GIF header', makeTemplate([header('GIF'), body('x')]), /header of format GIF/],
  ['an order button', makeTemplate([body('x'), buttons({ type: 'ORDER_DETAILS' })]), /button of type ORDER_DETAILS/],
  ['an order status', makeTemplate([body('x')], { sub_category: 'ORDER_STATUS' } as object), /templates for orders/],
  [
    'an unknown variable button',
    makeTemplate([body('x'), buttons({ ...quickReply, deep: '{{1}}' } as never)]),
    /of type QUICK_REPLY/,
  ],
  [
    'two variables in a URL',
    makeTemplate([body('x'), buttons({ ...urlButton, url: 'https://a.example/{{1}}/{{2}}' })]),
    /more than one/,
  ],
  [
    'a code button on a card',
    makeTemplate([body('x'), { type: 'CAROUSEL', cards: [card('x', { type: 'OTP' })] }]),
    /OTP/,
  ],
  ['a second code button', makeTemplate([body('x'), buttons({ type: 'OTP' }, { type: 'OTP' })]), /button of type OTP/],
])('refuses %s', (_what, template, message) => {
  const refuse = () => parameterContract(template);
  expect(refuse).toThrow(message);
  expect(refuse).toThrow(expect.objectContaining({ code: 'template_not_sendable', status: 422 }));
  expect(refuse).toThrow(Refusal);
  // A review or the platform's own URL may still change these inputs, so the refusal is not final.
  const never = /not APPROVED|media of the/.test(message.source) ? undefined : expect.stringMatching(message);
  expect(neverSendable(template)).toEqual(never);
});

test('the length of a text is counted in characters without its variables', () => {
  expect(parameterContract(makeTemplate([body('🙂 {{1}} and {{1}}!')])).body).toEqual({
    appearances: [2],
    fixedLength: 8,
    maxLength: 1_024,
  });
});

test.each([
  ['plain', sendable.plain, 1_024],
  ['product', sendable.product, 160],
  ['offer', sendable.offer, 600],
])('the body of a %s template may have %s characters', (_what, template, maxLength) => {
  expect(parameterContract(template).body.maxLength).toBe(maxLength);
});

describe('every kind that the platform has is decided (D23; platform reference, section 3)', () => {
  const withButton = (type: string) =>
    makeTemplate([body('x'), buttons(type === 'URL' ? urlButton : { type, text: 'x' }), ...headerOf(type)]);
  const onCard = (type: string) =>
    makeTemplate([body('x'), { type: 'CAROUSEL', cards: [card('x', type === 'URL' ? urlButton : { type })] }]);

  test.each([
    ['QUICK_REPLY', 'sent', 'sent'],
    ['URL', 'sent', 'sent'],
    ['PHONE_NUMBER', 'sent', 'sent'],
    ['COPY_CODE', 'sent', 'refused'],
    ['VOICE_CALL', 'sent', 'refused'],
    ['FLOW', 'sent', 'refused'],
    ['CATALOG', 'sent', 'refused'],
    ['MPM', 'sent', 'refused'],
    ['SPM', 'sent', 'refused'],
    ['OTP', 'sent', 'refused'],
    ['REQUEST_CONTACT_INFO', 'sent', 'refused'],
    ['APP', 'refused', 'refused'],
    ['ORDER_DETAILS', 'refused', 'refused'],
    ['POSTBACK', 'refused', 'refused'],
    ['REMINDER', 'refused', 'refused'],
    ['BOOKING_CONFIRMATION', 'refused', 'refused'],
  ])('a button of type %s is %s, on a card %s', (type, ofMessage, ofCard) => {
    expect(fateOf(withButton(type), `button of type ${type} `)).toBe(ofMessage);
    expect(fateOf(onCard(type), `button of type ${type} on card 0 (buttons[0])`)).toBe(ofCard);
  });

  test.each([
    ['HEADER', 'sent', 'sent'],
    ['BODY', 'sent', 'sent'],
    ['FOOTER', 'sent', 'refused'],
    ['BUTTONS', 'sent', 'sent'],
    ['CAROUSEL', 'sent', 'refused'],
    ['LIMITED_TIME_OFFER', 'sent', 'refused'],
    ['CALL_PERMISSION_REQUEST', 'sent', 'refused'],
    ['ORDER_DETAILS', 'refused', 'refused'],
  ])('a component of type %s is %s, on a card %s', (type, ofMessage, ofCard) => {
    const image = card('x').components[0] ?? { type: 'HEADER' };
    const cards = [{ components: [image, { type }] }];
    expect(fateOf(makeTemplate([{ type }]), `component of type ${type} cannot`)).toBe(ofMessage);
    expect(fateOf(makeTemplate([{ type: 'CAROUSEL', cards }]), `component of type ${type} on card 0`)).toBe(ofCard);
  });

  const known = /^(quick_reply|url|phone_number|copy_code|voice_call|flow|catalog|mpm|spm|otp|request_contact_info)$/i;
  const knownComponent = /^(header|body|footer|buttons|carousel|limited_time_offer|call_permission_request)$/i;
  const kind = (listed: RegExp) =>
    fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[A-Z_]{1,24}$/)).filter((type) => !listed.test(type));

  test('any other is refused, wherever it stands', () => {
    fc.assert(
      fc.property(kind(known), kind(knownComponent), fc.nat(2), (button, component, place) => {
        const around = (type: string) => [quickReply, quickReply].toSpliced(place, 0, { type, text: 'x' });
        const carousel = { type: 'CAROUSEL', cards: [card('x'), card('y', ...around(button))] };
        for (const template of [
          makeTemplate([body('x'), buttons(...around(button))]),
          makeTemplate([body('x'), carousel]),
          makeTemplate([body('x'), { type: component }].toSpliced(place, 0, buttons(quickReply))),
          makeTemplate([body('x'), { type: 'CAROUSEL', cards: [{ components: [{ type: component }] }] }]),
        ]) {
          expect(() => parameterContract(template)).toThrow(expect.objectContaining({ code: 'template_not_sendable' }));
        }
      }),
    );
  });

  /** A refusal must hold exactly for the named kind. */
  function fateOf(template: PlatformTemplate, named: string): 'sent' | 'refused' {
    try {
      parameterContract(template);
      return 'sent';
    } catch (error) {
      expect((error as Refusal).message).toContain(named);
      return 'refused';
    }
  }

  function headerOf(type: string) {
    return type === 'SPM' ? [header('PRODUCT')] : [];
  }
});

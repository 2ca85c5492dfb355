import { describe, expect, test } from 'vitest';
import type { TemplateDraft } from '../../../../lib/templates/rules/draft.ts';
import {
  apps,
  body,
  buttons,
  card,
  carousel,
  coupon,
  faultsOf,
  header,
  image,
  link,
  offer,
  otp,
  phone,
  productCard,
  reply,
} from './written-components.ts';

describe('every fault of buttons, cards, offers and codes names its path, what is expected and what came', () => {
  const long = (length: number) => 'x'.repeat(length);
  test.each<[string, readonly unknown[], string, Partial<TemplateDraft>?]>([
    [
      'eleven buttons',
      [body(), buttons(...Array.from({ length: 11 }, () => reply()))],
      'components[1].buttons: at most 10 buttons, received 11',
    ],
    [
      'an unknown button',
      [body(), buttons({ type: 'APP', text: 'x' })],
      'components[1].buttons[0].type: one of QUICK_REPLY, URL, PHONE_NUMBER, COPY_CODE, VOICE_CALL, FLOW, CATALOG, MPM, SPM, received "APP"',
    ],
    [
      'three links',
      [body(), buttons(link(), link(), link())],
      'components[1].buttons: at most 2 URL buttons, received 3',
    ],
    ['two phones', [body(), buttons(phone, phone)], 'components[1].buttons: at most 1 PHONE_NUMBER button, received 2'],
    [
      'replies apart',
      [body(), buttons(reply(), link(), reply())],
      'components[1].buttons: quick replies must stand together, before or after the other buttons',
    ],
    [
      'links around a reply',
      [body(), buttons(link(), reply(), link())],
      'components[1].buttons: quick replies must stand together, before or after the other buttons',
    ],
    [
      'a long label',
      [body(), buttons(reply(long(26)))],
      'components[1].buttons[0].text: at most 25 characters, received 26',
    ],
    [
      'a variable inside a URL',
      [body(), buttons({ ...link('https://a.example.com/{{1}}/x'), example: ['x'] })],
      'components[1].buttons[0].url: one variable {{1}}, at the very end',
    ],
    [
      'a dynamic URL without example',
      [body(), buttons(link('https://a.example.com/{{1}}'))],
      'components[1].buttons[0].example: a list of one example, received nothing',
    ],
    [
      'a URL that is none',
      [body(), buttons(link('javascript:alert(1)'))],
      'components[1].buttons[0].url: an http or https URL, received "javascript:alert(1)"',
    ],
    [
      'a phone with letters',
      [body(), buttons({ ...phone, phone_number: 'CALL' })],
      'components[1].buttons[0].phone_number: digits, blanks, brackets and hyphens, with an optional + in front, received "CALL"',
    ],
    [
      'a code of an offer',
      [image, body(), offer({}), buttons({ ...coupon, example: 'S'.repeat(16) }, link())],
      'components[3].buttons[0].example: 1 to 15 letters and digits, received "SSSSSSSSSSSSSSSS"',
    ],
    [
      'a label with an emoji',
      [body(), buttons(link(), { type: 'QUICK_REPLY', text: 'Yes 👍' })],
      'components[1].buttons[1].text: no emoji in the label of a button',
    ],
    [
      'a coupon with a dash',
      [body(), buttons({ ...coupon, example: 'SAVE-20' })],
      'components[1].buttons[0].example: 1 to 20 letters and digits, received "SAVE-20"',
    ],
    [
      'a flow without flow',
      [body(), buttons({ type: 'FLOW', text: 'Go' })],
      'components[1].buttons[0]: exactly one of flow_id, flow_name and flow_json, received none',
    ],
    [
      'a flow that does something else',
      [body(), buttons({ type: 'FLOW', text: 'Go', flow_id: '1', flow_action: 'open' })],
      'components[1].buttons[0].flow_action: navigate or data_exchange, received "open"',
    ],
    [
      'products beside a reply',
      [header({ format: 'TEXT', text: 'x' }), body(), buttons({ type: 'MPM', text: 'x' }, reply())],
      'components[2].buttons: a MPM button stands alone',
    ],
    [
      'products without a header',
      [body(), buttons({ type: 'MPM', text: 'x' })],
      'components[1]: an MPM button needs a TEXT header',
    ],
    [
      'a product header alone',
      [header({ format: 'PRODUCT' }), body()],
      'components: a PRODUCT header needs an SPM button',
    ],
    ['one card', [body(), carousel(card())], 'components[1].cards: 2 to 10 cards, received 1'],
    [
      'cards of two shapes',
      [body(), carousel(card(), card(link()))],
      'components[1].cards[1]: every card must have the shape of the first: IMAGE BODY QUICK_REPLY',
    ],
    [
      'three product cards',
      [body(), carousel(productCard, productCard, productCard)],
      'components[1].cards: product cards are defined as 2 cards, received 3',
    ],
    [
      'a footer beside cards',
      [body(), { type: 'FOOTER', text: 'x' }, carousel(card(), card())],
      'components[1]: beside a CAROUSEL there is only a BODY',
    ],
    [
      'an offer in a long word',
      [body(), offer({ text: long(17) }), buttons(link())],
      'components[1].limited_time_offer.text: at most 16 characters, received 17',
    ],
    [
      'an offer without a link',
      [body(), offer()],
      'components[1]: the buttons must be COPY_CODE URL or URL, received none',
    ],
    [
      'an ending offer without a code',
      [body(), offer({ has_expiration: true }), buttons(link())],
      'components[1]: the buttons must be COPY_CODE URL, received URL',
    ],
    [
      'a footer beside an offer',
      [body(), offer(), buttons(link()), { type: 'FOOTER', text: 'x' }],
      'components[3]: no FOOTER beside a limited-time offer',
    ],
    [
      'a text in an AUTHENTICATION body',
      [{ type: 'BODY', text: 'x' }, otp()],
      'components[0].text: unrecognized field: text',
      { category: 'AUTHENTICATION' },
    ],
    [
      'an AUTHENTICATION header',
      [header({ format: 'TEXT', text: 'x' }), { type: 'BODY' }, otp()],
      'components[0].type: one of BODY, FOOTER, BUTTONS in AUTHENTICATION, received "HEADER"',
      { category: 'AUTHENTICATION' },
    ],
    [
      'AUTHENTICATION without a button',
      [{ type: 'BODY' }],
      'components: an AUTHENTICATION template needs BUTTONS with one OTP button',
      { category: 'AUTHENTICATION' },
    ],
    [
      'another kind of code',
      [{ type: 'BODY' }, otp({ otp_type: 'SMS' })],
      'components[1].buttons[0].otp_type: one of COPY_CODE, ONE_TAP, ZERO_TAP, received "SMS"',
      { category: 'AUTHENTICATION' },
    ],
    [
      'one tap without apps',
      [{ type: 'BODY' }, otp({ otp_type: 'ONE_TAP' })],
      'components[1].buttons[0].supported_apps: 1 to 5 apps, received nothing',
      { category: 'AUTHENTICATION' },
    ],
    [
      'zero tap without consent',
      [{ type: 'BODY' }, otp({ otp_type: 'ZERO_TAP', supported_apps: apps })],
      'components[1].buttons[0].zero_tap_terms_accepted: true is required, received nothing',
      { category: 'AUTHENTICATION' },
    ],
    [
      'an app without a dot',
      [{ type: 'BODY' }, otp({ otp_type: 'ONE_TAP', supported_apps: [{ ...apps[0], package_name: 'app' }] })],
      'components[1].buttons[0].supported_apps[0].package_name: a package name such as com.example.app, received "app"',
      { category: 'AUTHENTICATION' },
    ],
    [
      'a short hash',
      [{ type: 'BODY' }, otp({ otp_type: 'ONE_TAP', supported_apps: [{ ...apps[0], signature_hash: 'abc' }] })],
      'components[1].buttons[0].supported_apps[0].signature_hash: 11 characters of A-Z, a-z, 0-9, +, / and =, received "abc"',
      { category: 'AUTHENTICATION' },
    ],
    [
      'a minute too many',
      [{ type: 'BODY' }, { type: 'FOOTER', code_expiration_minutes: 16 }, otp()],
      'components[1].code_expiration_minutes: a number from 0.5 to 15, received 16',
      { category: 'AUTHENTICATION' },
    ],
    [
      'two different minutes',
      [{ type: 'BODY' }, { type: 'FOOTER', code_expiration_minutes: 5 }, otp()],
      'components[1].code_expiration_minutes: differs from code_expiration_minutes of the request',
      { category: 'AUTHENTICATION', codeExpirationMinutes: 10 },
    ],
  ])('%s', (_, components, expected, draft) => {
    expect(faultsOf(components, draft)).toContain(expected);
  });
});

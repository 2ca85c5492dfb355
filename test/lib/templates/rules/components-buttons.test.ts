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
  const authentication = { category: 'AUTHENTICATION' } as const;
  test.each<[string, readonly unknown[], Partial<TemplateDraft>?]>([
    [
      '[1].buttons[0].type: one of QUICK_REPLY, URL, PHONE_NUMBER, COPY_CODE, VOICE_CALL, FLOW, CATALOG, MPM, SPM, received "APP"',
      [body(), buttons({ type: 'APP', text: 'x' })],
    ],
    ['[1].buttons: at most 2 URL buttons, received 3', [body(), buttons(link(), link(), link())]],
    [
      '[1].buttons: quick replies must stand together, before or after the other buttons',
      [body(), buttons(reply(), link(), reply())],
    ],
    [
      '[1].buttons[0].url: one variable {{1}}, at the very end',
      [body(), buttons({ ...link('https://a.example.com/{{1}}/x'), example: ['x'] })],
    ],
    [
      '[1].buttons[0].url: an http or https URL, received "javascript:alert(1)"',
      [body(), buttons(link('javascript:alert(1)'))],
    ],
    [
      '[1].buttons[0].phone_number: digits, blanks, brackets and hyphens, with an optional + in front, received "CALL"',
      [body(), buttons({ ...phone, phone_number: 'CALL' })],
    ],
    [
      '[3].buttons[0].example: 1 to 15 letters and digits, received "SSSSSSSSSSSSSSSS"',
      [image, body(), offer({}), buttons({ ...coupon, example: 'S'.repeat(16) }, link())],
    ],
    [
      '[1].buttons[1].text: no emoji in the label of a button',
      [body(), buttons(link(), { type: 'QUICK_REPLY', text: 'Yes 👍' })],
    ],
    [
      '[1].buttons[0].example: 1 to 20 letters and digits, received "SAVE-20"',
      [body(), buttons({ ...coupon, example: 'SAVE-20' })],
    ],
    [
      '[1].buttons[0]: exactly one of flow_id, flow_name and flow_json, received none',
      [body(), buttons({ type: 'FLOW', text: 'Go' })],
    ],
    [
      '[1].buttons[0].flow_action: navigate or data_exchange, received "open"',
      [body(), buttons({ type: 'FLOW', text: 'Go', flow_id: '1', flow_action: 'open' })],
    ],
    [
      '[2].buttons: a MPM button stands alone',
      [header({ format: 'TEXT', text: 'x' }), body(), buttons({ type: 'MPM', text: 'x' }, reply())],
    ],
    ['[1]: an MPM button needs a TEXT header', [body(), buttons({ type: 'MPM', text: 'x' })]],
    [': a PRODUCT header needs an SPM button', [header({ format: 'PRODUCT' }), body()]],
    ['[1].cards: 2 to 10 cards, received 1', [body(), carousel(card())]],
    [
      '[1].cards[1]: every card must have the shape of the first: IMAGE BODY QUICK_REPLY',
      [body(), carousel(card(), card(link()))],
    ],
    [
      '[1].cards: product cards are defined as 2 cards, received 3',
      [body(), carousel(productCard, productCard, productCard)],
    ],
    ['[1]: beside a CAROUSEL there is only a BODY', [body(), { type: 'FOOTER', text: 'x' }, carousel(card(), card())]],
    ['[1]: the buttons must be COPY_CODE URL or URL, received none', [body(), offer()]],
    [
      '[1]: the buttons must be COPY_CODE URL, received URL',
      [body(), offer({ has_expiration: true }), buttons(link())],
    ],
    ['[3]: no FOOTER beside a limited-time offer', [body(), offer(), buttons(link()), { type: 'FOOTER', text: 'x' }]],
    ['[0].text: unrecognized field: text', [{ type: 'BODY', text: 'x' }, otp()], authentication],
    [
      '[0].type: one of BODY, FOOTER, BUTTONS in AUTHENTICATION, received "HEADER"',
      [header({ format: 'TEXT', text: 'x' }), { type: 'BODY' }, otp()],
      authentication,
    ],
    [': an AUTHENTICATION template needs BUTTONS with one OTP button', [{ type: 'BODY' }], authentication],
    [
      '[1].buttons[0].otp_type: one of COPY_CODE, ONE_TAP, ZERO_TAP, received "SMS"',
      [{ type: 'BODY' }, otp({ otp_type: 'SMS' })],
      authentication,
    ],
    [
      '[1].buttons[0].supported_apps: 1 to 5 apps, received nothing',
      [{ type: 'BODY' }, otp({ otp_type: 'ONE_TAP' })],
      authentication,
    ],
    [
      '[1].buttons[0].zero_tap_terms_accepted: true is required, received nothing',
      [{ type: 'BODY' }, otp({ otp_type: 'ZERO_TAP', supported_apps: apps })],
      authentication,
    ],
    [
      '[1].buttons[0].supported_apps[0].package_name: a package name such as com.example.app, received "app"',
      [{ type: 'BODY' }, otp({ otp_type: 'ONE_TAP', supported_apps: [{ ...apps[0], package_name: 'app' }] })],
      authentication,
    ],
    [
      '[1].buttons[0].supported_apps[0].signature_hash: 11 characters of A-Z, a-z, 0-9, +, / and =, received "abc"',
      [{ type: 'BODY' }, otp({ otp_type: 'ONE_TAP', supported_apps: [{ ...apps[0], signature_hash: 'abc' }] })],
      authentication,
    ],
    [
      '[1].code_expiration_minutes: a number from 0.5 to 15, received 16',
      [{ type: 'BODY' }, { type: 'FOOTER', code_expiration_minutes: 16 }, otp()],
      authentication,
    ],
    [
      '[1].code_expiration_minutes: differs from code_expiration_minutes of the request',
      [{ type: 'BODY' }, { type: 'FOOTER', code_expiration_minutes: 5 }, otp()],
      { category: 'AUTHENTICATION', codeExpirationMinutes: 10 },
    ],
  ])('components%s', (fault, components, draft) => {
    expect(faultsOf(components, draft)).toContain(`components${fault}`);
  });
});

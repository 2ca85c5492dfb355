import { describe, expect, test } from 'vitest';
import { componentsAsRead, type TemplateComponent } from '#simulator/contract';
import demo from '#simulator/data/demo.json' with { type: 'json' };
import type { Part } from '../../../../lib/http/json-part.ts';
import { editChanges, hasNewMedia, type RequestedTemplate } from '../../../../lib/templates/edit/edit-diff.ts';
import type { PlatformTemplate } from '../../../../lib/templates/model/template.ts';
import type { Category } from '../../../../lib/templates/rules/draft.ts';
import { upstreamComponents } from '../../../../lib/templates/rules/upstream-components.ts';
import { makeTemplate } from '../../../support/templates.ts';

/** Returns the fields that an edit sends. */
function changed(
  stored: readonly Part[],
  given: readonly Part[],
  { category = 'MARKETING', ...more }: Partial<RequestedTemplate> & { stored?: Partial<PlatformTemplate> } = {},
): string[] {
  const template = makeTemplate({
    category,
    components: stored as PlatformTemplate['components'],
    ...more.stored,
  });
  const components = upstreamComponents({ category, components: given, fileAttached: false, editing: true });
  return Object.keys(editChanges(template, { ...more, category, components }));
}

const body = { type: 'BODY', text: 'Hello {{1}}, news.', example: { body_text: [['Ana']] } };
const image = (handle: string) => ({ type: 'HEADER', format: 'IMAGE', example: { header_handle: [handle] } });
const url = { type: 'URL', text: 'Open', url: 'https://a.example.com/{{1}}', example: ['https://a.example.com/x'] };
const header = (format: string) => ({ type: 'HEADER', format });
const shownImage = image('https://scontent.example.com/x?sig=1');
const flow = { type: 'FLOW', text: 'Go', flow_id: '1' };
const coupon = (example: unknown) => ({ type: 'COPY_CODE', example }) as Part;
const phone = (phone_number: string) => ({ type: 'PHONE_NUMBER', text: 'Call', phone_number });
const buttons = (...list: Part[]) => ({ type: 'BUTTONS', buttons: list });
const card = (handle: string, text = 'A card.') => ({
  components: [image(handle), { type: 'BODY', text }, buttons({ type: 'QUICK_REPLY', text: 'Yes' })],
});
const carousel = (...cards: Part[]) => ({ type: 'CAROUSEL', cards });
const offer = (more: object) => ({ type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Ends soon', ...more } });

describe('is no difference', () => {
  test.each<[string, readonly Part[], readonly Part[]]>([
    ['the same', [body], [body]],
    ['order of keys', [body], [{ example: { body_text: [['Ana']] }, text: body.text, type: 'BODY' }]],
    ['order of components', [image('4::x'), body], [body, image('4::x')]],
    ['letter case of enums', [image('4::x'), body], [{ ...image('4::x'), type: 'header', format: 'image' }, body]],
    ['the media handle', [shownImage, body], [image('4::x'), body]],
    ['the media handle, spelled short', [shownImage, body], [{ ...header('IMAGE'), header_handle: '4::x' }, body]],
    ['the media handle of a card', [body, carousel(card('https://a.example.com/1'))], [body, carousel(card('4::x'))]],
    ['nulls of the platform', [{ ...header('LOCATION'), text: null }, body], [header('LOCATION'), body]],
    ['what the platform adds', [body, buttons({ ...url, click_tracking: true })], [body, buttons(url)]],
    ['an example as value or URL', [body, buttons(url)], [body, buttons({ ...url, example: ['x'] })]],
    ['examples as one list', [body], [{ ...body, example: { body_text: ['Ana'] } }]],
    ['a default', [body, offer({}), buttons(url)], [body, offer({ has_expiration: false }), buttons(url)]],
    ['the default action of a flow', [body, buttons({ ...flow, flow_action: 'NAVIGATE' })], [body, buttons(flow)]],
    [
      'a fixed label',
      [body, buttons({ ...coupon(['SAVE']), text: 'Copy offer code' })],
      [body, buttons(coupon('SAVE'))],
    ],
    ['a plus before a number', [body, buttons(phone('+5491100000001'))], [body, buttons(phone('5491100000001'))]],
  ])('%s', (_, stored, given) => {
    expect(changed(stored, given)).toEqual([]);
  });

  const wabas: readonly { readonly templates: readonly unknown[] }[] = demo.wabas;
  const templates = wabas.flatMap((waba) => waba.templates) as {
    name: string;
    category: Category;
    components: Part[];
  }[];
  test.each(templates.map((template) => [template.name, template] as const))(
    'the demo template %s as the platform shows it',
    (_, { category, components }) => {
      const shown = componentsAsRead(components as unknown as TemplateComponent[]) as unknown as Part[];
      expect(changed(shown, components, { category })).toEqual([]);
    },
  );
});

describe('is a difference', () => {
  test.each<[string, readonly Part[], readonly Part[]]>([
    ['a text', [body], [{ ...body, text: 'Hello {{1}}, good news.' }]],
    ['an example', [body], [{ ...body, example: { body_text: [['Eva']] } }]],
    ['a component more', [body], [body, { type: 'FOOTER', text: 'Bye' }]],
    ['a component less', [body, { type: 'FOOTER', text: 'Bye' }], [body]],
    ['another format', [image('4::x'), body], [{ ...image('4::x'), format: 'VIDEO' }, body]],
    ['the order of buttons', [body, buttons(url, flow)], [body, buttons(flow, url)]],
    ['another address', [body, buttons(url)], [body, buttons({ ...url, url: 'https://b.example.com/{{1}}' })]],
    ['letter case of a text', [body], [{ ...body, text: 'hello {{1}}, news.' }]],
    ['the text of a card', [body, carousel(card('4::x'))], [body, carousel(card('4::x', 'Another.'))]],
    ['an offer that ends', [body, offer({})], [body, offer({ has_expiration: true })]],
    ['another code', [body, buttons(coupon(['SAVE']))], [body, buttons(coupon('SAVE20'))]],
  ])('%s', (_, stored, given) => {
    expect(changed(stored, given)).toEqual(['components']);
  });

  test('the category alone, and then the components stay at home', () => {
    expect(changed([body], [body], { stored: { category: 'UTILITY' } })).toEqual(['category']);
  });

  test.each<[string, Part | undefined, Part | undefined, string[]]>([
    ['not given', { bid_amount: 1 }, undefined, []],
    ['the same in another order', { a: 1, b: 2 }, { b: 2, a: 1 }, []],
    ['another amount', { bid_amount: 1 }, { bid_amount: 2 }, ['optimization_spec']],
    ['none before', undefined, { bid_amount: 2 }, ['optimization_spec']],
  ])('optimization_spec: %s', (_, before, optimizationSpec, expected) => {
    const stored = before === undefined ? {} : { optimization_spec: before };
    const given = optimizationSpec === undefined ? {} : { optimizationSpec };
    expect(changed([body], [body], { stored, ...given })).toEqual(expected);
  });

  test.each<[string, Category, number | undefined, number, boolean]>([
    ['another one', 'UTILITY', 60, 90, true],
    ['the same', 'UTILITY', 60, 60, false],
    ['30 days as -1', 'UTILITY', 2_592_000, -1, false],
    ['30 days where none was given', 'UTILITY', undefined, -1, false],
    ['one where none was given', 'UTILITY', undefined, 60, true],
    ['30 days of a code where none was given', 'AUTHENTICATION', undefined, -1, true],
  ])('message_send_ttl_seconds: %s', (_, category, before, timeToLiveSeconds, isOne) => {
    const stored = { category, message_send_ttl_seconds: before };
    const template = makeTemplate({ ...stored, components: [] });
    const expected = isOne ? { message_send_ttl_seconds: timeToLiveSeconds } : {};
    expect(editChanges(template, { category, timeToLiveSeconds })).toEqual(expected);
  });
});

describe('AUTHENTICATION', () => {
  const shown = (otpType: string, more: Part[] = []) => [
    { type: 'BODY', text: '*{{1}}* is your code.', add_security_recommendation: true },
    buttons({ type: 'URL', text: 'Copy code', url: `https://www.example.com/otp/?otp_type=${otpType}&code=otp{{1}}` }),
    ...more,
  ];
  const given = (otpType: string, advice = true, more: Part = {}) => [
    { type: 'BODY', add_security_recommendation: advice },
    buttons({ type: 'OTP', otp_type: otpType, ...more }),
  ];
  const apps = [{ package_name: 'com.example.app', signature_hash: 'K8a/AINcGX7' }];
  const footer = (more: Part = {}) => ({ type: 'FOOTER', ...more });
  const withMinutes = shown('COPY_CODE', [footer({ text: 'x', code_expiration_minutes: 10 })]);
  const oneTap = (supported: Part[] = apps) => given('ONE_TAP', true, { supported_apps: supported });
  const otherApps = [...apps, { package_name: 'com.example.b', signature_hash: 'x' }];
  test.each<[string, Part[], Part[], string[]]>([
    ['the rewritten button', shown('COPY_CODE'), given('copy_code'), []],
    ['the same minutes', withMinutes, [...given('COPY_CODE'), footer()], []],
    ['no FOOTER any more', withMinutes, given('COPY_CODE'), ['components']],
    [
      'a new FOOTER',
      shown('COPY_CODE'),
      [...given('COPY_CODE'), footer({ code_expiration_minutes: 10 })],
      ['components'],
    ],
    ['other minutes', shown('COPY_CODE', [footer({ code_expiration_minutes: 5 })]), given('COPY_CODE'), ['components']],
    ['no advice any more', shown('COPY_CODE'), given('COPY_CODE', false), ['components']],
    ['another way to take the code', shown('COPY_CODE'), oneTap(), ['components']],
    [
      'apps that the platform does not show, and that were not sent from here',
      shown('ONE_TAP'),
      oneTap(),
      ['components'],
    ],
    ['the apps that it shows', oneTap(), oneTap(), []],
    ['other apps than it shows', oneTap(), oneTap(otherApps), ['components']],
    ['another label', shown('COPY_CODE'), given('COPY_CODE', true, { text: 'Copy' }), ['components']],
  ])('%s', (_, stored, wanted, expected) => {
    expect(changed(stored, wanted, { category: 'AUTHENTICATION' })).toEqual(expected);
  });
});

describe('new media (D20)', () => {
  const stored = [shownImage, body];
  const given = (more: object) => [body, { type: 'header', format: 'IMAGE', ...more }];
  const source = (header_source: string) => given({ header_source });
  const cards = carousel(card('https://s.example.com/1'), card('https://s.example.com/2'));
  const cardsFrom = (...urls: string[]) => carousel(...urls.map((each) => ({ components: [source(each)[1]] })));
  const signed = [1, 2].map((n) => `https://s.example.com/${n}?sig=9`);
  test.each<[string, readonly Part[], readonly Part[], boolean]>([
    ['another source', stored, source('https://a.example.com/x'), true],
    ['the stored source', stored, source('https://scontent.example.com/x'), false],
    ['the stored source with a new signature', stored, source('https://scontent.example.com/x?sig=2'), false],
    ['a handle', stored, given({ header_handle: '4::x' }), true],
    ['the stored handle', [image('4::x'), body], given({ header_handle: '4::x' }), false],
    ['the example of the platform, or another', stored, given({ example: { header_handle: ['4::x'] } }), false],
    ['a source where there was a text', [body], source('https://a.example.com/x'), true],
    ['a source of one card', [body, cards], [cardsFrom('https://s.example.com/2'), body], true],
    ['the sources of both cards', [body, cards], [cardsFrom(...signed)], false],
  ])('%s', (_, before, now, expected) => {
    expect(hasNewMedia(before, now, false)).toBe(expected);
  });

  test('a file always, for the header of the message', () => {
    expect(hasNewMedia(stored, given({}), true)).toBe(true);
    expect(hasNewMedia([], [carousel(card('4::x'))], true)).toBe(false);
  });

  test('is sent though all else is the same', () => {
    expect(changed(stored, stored, { newMedia: true })).toEqual(['components']);
  });
});

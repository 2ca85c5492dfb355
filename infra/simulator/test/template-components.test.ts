import { expect, test } from 'vitest';
import { demoSeed } from '../src/seed.ts';
import { type Category, parseChange } from '../src/templates/definition.ts';
import { checkComponents } from '../src/templates/rules/component-rules.ts';
import {
  app,
  bodyOf,
  buttons,
  codeButton,
  mediaHeader,
  offer,
  otp,
  phoneButton,
  plainBody,
  quickReply,
  textHeader,
  urlButton,
} from './support/definitions.ts';
import { refusalIn } from './support/refusals.ts';

/*
 * What the platform says of components. Agreement tests of the service hold both sides to every limit, so one limit of
 * a kind stands here; template-creation.test.ts asks over HTTP.
 */

type Components = readonly unknown[];

/** Uploads have these handles; those of the demo data belong to none. */
const uploads: Readonly<Record<string, { readonly fileType: string; readonly bytes: number }>> = {
  image: { fileType: 'image/jpeg', bytes: 1_000 },
  video: { fileType: 'video/mp4', bytes: 1_000 },
  longVideo: { fileType: 'video/mp4', bytes: 3.5 * 1_024 * 1_024 + 1 },
  oldVideo: { fileType: 'video/3gpp', bytes: 1_000 },
  document: { fileType: 'application/pdf', bytes: 1_000 },
};

const refusalOf = (components: Components, category: Category = 'MARKETING', named = false) =>
  refusalIn(() =>
    checkComponents(
      { category, named, mediumOf: (handle) => uploads[handle] },
      parseChange({ components }).components ?? [],
    ),
  );

const card = (header: unknown, ...rest: Components) => ({ components: [header, ...rest] });
const carousel = (...cards: Components) => [plainBody, { type: 'CAROUSEL', cards }];
const twice = (each: unknown) => carousel(each, each);
const product = { type: 'HEADER', format: 'PRODUCT' };
const view = buttons({ type: 'SPM', text: 'View' });
const imageCard = (...rest: Components) => card(mediaHeader('IMAGE', 'image'), ...rest);
const withButtons = (...list: Components) => [plainBody, buttons(...list)];
const offered = (...rest: Components) => [offer(), plainBody, ...rest];
const catalog = { type: 'CATALOG', text: 'View catalog' };
const oneTap = (...apps: Components) => otp({ otp_type: 'ONE_TAP', supported_apps: apps });
const codeAnd = (footer: object) => [{ type: 'BODY' }, { type: 'FOOTER', ...footer }, ...otp().slice(2)];

test.each<[string, Components, Category?]>([
  ['text header with a variable', [textHeader('{{1}} is here', 'A-1'), plainBody]],
  ['code in UTILITY', withButtons(codeButton), 'UTILITY'],
  [
    'image, footer and buttons',
    [mediaHeader('IMAGE', 'image'), ...withButtons(quickReply()), { type: 'FOOTER', text: 'Bye' }],
  ],
  ['video', [mediaHeader('VIDEO', 'video'), plainBody]],
  ['video of an older kind', [mediaHeader('VIDEO', 'oldVideo'), plainBody]],
  ['document', [mediaHeader('DOCUMENT', 'document'), plainBody], 'UTILITY'],
  ['gif', [mediaHeader('GIF', 'video'), plainBody]],
  ['place', [{ type: 'HEADER', format: 'LOCATION' }, plainBody], 'UTILITY'],
  ['a number repeated, and out of order', [bodyOf('To {{2}} and {{1}} and {{2}} again.')]],
  ['quick replies last', withButtons(urlButton, phoneButton, quickReply(), quickReply())],
  ['flow', withButtons({ type: 'FLOW', text: 'Start', flow_id: '1', flow_action: 'navigate' })],
  ['products', [textHeader('New'), ...withButtons({ type: 'MPM', text: 'View items' })]],
  ['one product', [product, plainBody, view]],
  ['offer without expiration', [offer('Now', false), ...withButtons(urlButton)]],
  ['cards with media', twice(imageCard(bodyOf('One.'), buttons(urlButton)))],
  ['cards with products', twice(card(product, view))],
  ['ONE_TAP', otp({ otp_type: 'ONE_TAP', autofill_text: 'Fill', supported_apps: [app] }), 'AUTHENTICATION'],
  ['ZERO_TAP', otp({ otp_type: 'ZERO_TAP', supported_apps: [app], zero_tap_terms_accepted: true }), 'AUTHENTICATION'],
  ['code without expiry', [{ type: 'BODY' }, buttons({ type: 'OTP', otp_type: 'COPY_CODE' })], 'AUTHENTICATION'],
])('%s is accepted', (_, components, category) => {
  expect(refusalOf(components, category)).toBeUndefined();
});

test('the demo data passes its own rules', () => {
  const handles: Readonly<Record<string, string>> = { IMAGE: 'image', VIDEO: 'video', DOCUMENT: 'document' };
  const templates = demoSeed().wabas.flatMap((waba) => waba.templates.slice(0, 20));
  const refused = templates.flatMap(({ name, components, category, parameter_format: format }) => {
    const uploaded = JSON.stringify(components).replaceAll(
      /("format":"(\w+)","example":\{"header_handle":\[)"4::[^"]+"/g,
      (_whole, before: string, medium: string) => `${before}"${handles[medium]}"`,
    );
    const refusal = refusalOf(JSON.parse(uploaded), category as Category, format === 'NAMED');
    return refusal === undefined ? [] : [[name, refusal]];
  });
  expect(refused).toEqual([]);
  expect(templates.length).toBeGreaterThan(30);
});

type Row = readonly [string, Components, Category?];

const withSubcodes: Readonly<Record<number, readonly Row[]>> = {
  2388299: [
    ['leading variable', [bodyOf('{{1}}, come and see.')]],
    ['trailing variable', [bodyOf('Come and see {{1}}')]],
    ['trailing variable and blanks', [bodyOf('Come and see {{1}} \n')]],
  ],
  2388293: [['no word beside the variables', [bodyOf('- {{1}} : {{2}} -')]]],
  2388047: [
    ['unknown header format', [{ type: 'HEADER', format: 'SOUND' }, plainBody]],
    ['no header format', [{ type: 'HEADER', text: 'Hi' }, plainBody]],
    ['gif for UTILITY', [mediaHeader('GIF', 'video'), plainBody], 'UTILITY'],
    ['empty text header', [textHeader(' '), plainBody]],
    ['two variables in a header', [textHeader('A {{1}} and {{2}} b', 'x'), plainBody]],
    ['line break in a header', [textHeader('New\nitems'), plainBody]],
    ['emoji in a header', [textHeader('New 🙂'), plainBody]],
    ['bold in a header', [textHeader('*New* items'), plainBody]],
    ['handle that no upload gave', [mediaHeader('IMAGE', '4::aW1hZ2UvanBlZw==:ARwelcome'), plainBody]],
    ['address instead of a handle', [mediaHeader('IMAGE', 'https://a.example/x.png'), plainBody]],
    ['image handle in a video header', [mediaHeader('VIDEO', 'image'), plainBody]],
    ['older video as gif', [mediaHeader('GIF', 'oldVideo'), plainBody]],
    ['gif above 3.5 MB', [mediaHeader('GIF', 'longVideo'), plainBody]],
    ['gif in a card', twice(card(mediaHeader('GIF', 'video'), buttons(urlButton)))],
  ],
  2388072: [
    ['empty body', [{ type: 'BODY', text: '' }]],
    ['body without text', [{ type: 'BODY' }]],
    ['gap in the numbers', [bodyOf('Hello {{1}} and {{3}} there.')]],
    ['numbers from 0', [bodyOf('Hello {{0}} there.')]],
    ['name where numbers stand', [bodyOf('Hello {{name}} there.')]],
    ['special characters', [bodyOf('Hello {{#1}} there.')]],
    ['brackets left open', [bodyOf('Hello {{1 there.')]],
    ['text for a code', [bodyOf('Your code is {{1}}.'), ...otp().slice(1)], 'AUTHENTICATION'],
  ],
  2388073: [
    ['empty footer', [plainBody, { type: 'FOOTER', text: '' }]],
    ['variable in a footer', [plainBody, { type: 'FOOTER', text: 'Bye {{1}} now' }]],
    ['text under a code', codeAnd({ text: 'Bye' }), 'AUTHENTICATION'],
    ['91 minutes', codeAnd({ code_expiration_minutes: 91 }), 'AUTHENTICATION'],
    ['half a minute', codeAnd({ code_expiration_minutes: 0.5 }), 'AUTHENTICATION'],
  ],
  2388040: [['a text that is too long', [textHeader('a'.repeat(61)), plainBody]]],
  2388060: [
    ['label with an emoji', withButtons(quickReply('Yes 👍'))],
    ['label of a card', twice(imageCard(buttons({ ...urlButton, text: 'Go 👉' })))],
    [
      'label of autofill',
      otp({ otp_type: 'ONE_TAP', autofill_text: '~Fill~', supported_apps: [app] }),
      'AUTHENTICATION',
    ],
  ],
  2388043: [
    ['no example of a body', [{ type: 'BODY', text: 'Hello {{1}} there.' }]],
    ['one example for two', [bodyOf('Hello {{1}} and {{2}} there.', 'Ana')]],
    ['two examples for one', [bodyOf('Hello {{1}} there.', 'Ana', 'Bea')]],
    ['empty example', [bodyOf('Hello {{1}} there.', ' ')]],
    ['no example of a header', [textHeader('Order {{1}} is here'), plainBody]],
    ['no handle', [{ type: 'HEADER', format: 'IMAGE' }, plainBody]],
    ['two handles', [mediaHeader('IMAGE', 'image', 'image'), plainBody]],
    ['no example of a url', withButtons({ ...urlButton, url: 'https://a.example/{{1}}' })],
    ['no example of a code', withButtons({ type: 'COPY_CODE' })],
  ],
};

test.each(
  Object.entries(withSubcodes).flatMap(([subcode, rows]) => rows.map((row): [string, ...Row] => [subcode, ...row])),
)('refused with %s: %s', (subcode, _, components, category) => {
  expect(refusalOf(components, category)).toMatchObject({ code: 100, error_subcode: Number(subcode) });
});

test.each<[number, string, string]>([
  [2388072, 'number where names stand', 'Hello {{1}} there.'],
  [2388072, 'capitals', 'Hello {{Name}} there.'],
  [2388072, 'a name twice', 'Hello {{name}} and {{name}} there.'],
  [2388043, 'no example under that name', 'Hello {{other}} there.'],
])('refused with %i: named, %s', (subcode, _, text) => {
  const example = { body_text_named_params: [{ param_name: 'name', example: 'Ana' }] };
  const refusal = refusalOf([{ type: 'BODY', text, example }], 'UTILITY', true);
  expect(refusal).toMatchObject({ error_subcode: subcode, error_user_msg: expect.stringMatching(/body/) });
});

test.each<[RegExp, Components, Category?]>([
  [/variables only/, [bodyOf('{{1}} {{2}}')]],
  [/line breaks/, [bodyOf('Hello\n\n\nthere')]],
  [/emoji/, [bodyOf(`Hi ${'🙂'.repeat(11)}`)]],
  [/BODY is required/, [{ type: 'FOOTER', text: 'Bye' }]],
  [/most one component of each type/, [plainBody, plainBody]],
  [/HEADER is not for AUTHENTICATION/, [textHeader('Hi'), ...otp()], 'AUTHENTICATION'],
  [/CAROUSEL is not for UTILITY/, carousel(), 'UTILITY'],
  [/LIMITED_TIME_OFFER is not for UTILITY/, offered(), 'UTILITY'],
  [/text does not belong/, [{ type: 'HEADER', format: 'LOCATION', text: 'Here' }, plainBody]],
  [/code_expiration_minutes does not/, [plainBody, { type: 'FOOTER', text: 'x', code_expiration_minutes: 1 }]],
  [/at least one button/, withButtons()],
  [/most 10 buttons/, withButtons(...Array.from({ length: 11 }, () => quickReply()))],
  [/most 2 of type URL/, withButtons(urlButton, urlButton, urlButton)],
  [/quick replies must stand together/, withButtons(quickReply(), urlButton, quickReply())],
  [/quick replies must stand together/, withButtons(urlButton, quickReply(), phoneButton)],
  [/a text is required/, withButtons({ type: 'QUICK_REPLY' })],
  [/url does not belong/, withButtons({ ...quickReply(), url: 'https://a.example' })],
  [/not a valid url/, withButtons({ type: 'URL', text: 'Go' })],
  [/not a valid url/, withButtons({ ...urlButton, url: 'ftp://a.example' })],
  [/very end/, withButtons({ ...urlButton, url: 'https://a.example/{{1}}/x', example: ['x'] })],
  [/very end/, withButtons({ ...urlButton, url: 'https://a.example/{{2}}', example: ['x'] })],
  [/phone number/, withButtons({ ...phoneButton, phone_number: 'none' })],
  [/letters and digits/, withButtons({ ...codeButton, example: ['SAVE-20'] })],
  [/exactly one of flow_id/, withButtons({ type: 'FLOW', text: 'Go', flow_id: '1', flow_name: 'x' })],
  [/must be "View catalog"/, withButtons({ ...catalog, text: 'Look' })],
  [/CATALOG must be the only button/, withButtons(catalog, quickReply())],
  [/No HEADER beside a CATALOG/, [textHeader('Hi'), ...withButtons(catalog)]],
  [/MPM button needs a HEADER/, withButtons({ type: 'MPM', text: 'View items' })],
  [/SPM button and a HEADER/, [plainBody, view]],
  [/SPM button and a HEADER/, [product, plainBody]],
  [/OTP is for AUTHENTICATION/, withButtons({ type: 'OTP', otp_type: 'COPY_CODE' })],
  [/No FOOTER beside/, offered({ type: 'FOOTER', text: 'x' }, buttons(codeButton, urlButton))],
  [/IMAGE or VIDEO/, [textHeader('Hi'), ...offered(buttons(codeButton, urlButton))]],
  [/COPY_CODE and URL/, offered(buttons(urlButton))],
  [/COPY_CODE and URL/, offered(buttons(urlButton, codeButton))],
  [/COPY_CODE and URL/, [offer('Now', false), plainBody]],
  [/offer: a text/, [offer(''), ...withButtons(codeButton, urlButton)]],
  [/only a BODY/, [textHeader('Hi'), ...carousel()]],
  [/2 to 10 cards/, carousel(imageCard(buttons(urlButton)))],
  [/exactly 2 cards/, carousel(...Array(3).fill(card(product, view)))],
  [/card 1 is not built like/, carousel(imageCard(buttons(urlButton)), imageCard(buttons(quickReply())))],
  [/card 1 is not/, carousel(imageCard(buttons(urlButton)), card(mediaHeader('VIDEO', 'video'), buttons(urlButton)))],
  [/card 1 is not/, carousel(imageCard(plainBody, buttons(urlButton)), imageCard(buttons(urlButton)))],
  [/card 0: at most one component/, twice(imageCard(plainBody, plainBody, buttons(urlButton)))],
  [/HEADER, BUTTONS/, twice(imageCard())],
  [/1 or 2 buttons/, twice(imageCard(buttons(quickReply(), quickReply(), quickReply())))],
  [/one button of SPM, URL/, twice(card(product, buttons(quickReply())))],
  [/exactly one button, of type OTP/, [{ type: 'BODY' }], 'AUTHENTICATION'],
  [/exactly one button, of type OTP/, [{ type: 'BODY' }, buttons(quickReply())], 'AUTHENTICATION'],
  [/otp_type is required/, otp({ otp_type: undefined }), 'AUTHENTICATION'],
  [/supported_apps does not belong/, otp({ supported_apps: [app] }), 'AUTHENTICATION'],
  [/1 to 5 apps/, otp({ otp_type: 'ONE_TAP' }), 'AUTHENTICATION'],
  [/package_name/, oneTap({ ...app, package_name: 'app' }), 'AUTHENTICATION'],
  [/signature_hash/, oneTap({ ...app, signature_hash: 'short' }), 'AUTHENTICATION'],
  [/zero_tap_terms_accepted/, otp({ otp_type: 'ZERO_TAP', supported_apps: [app] }), 'AUTHENTICATION'],
])('refused without a subcode, saying %s', (message, components, category) => {
  const refusal = refusalOf(components, category);
  expect(refusal).toMatchObject({ code: 100, error_user_msg: expect.stringMatching(message) });
  expect(refusal).not.toHaveProperty('error_subcode');
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { demoSeed } from '../src/seed.ts';
import {
  app,
  bodyOf,
  buttons,
  codeButton,
  creation,
  expectManagementError,
  mediaHeader,
  offer,
  otp,
  phoneButton,
  plainBody,
  quickReply,
  textHeader,
  urlButton,
} from './support/definitions.ts';
import { firstWaba, type SimulatorAtRest, simulatorAtRest } from './support/simulator.ts';
import { uploadedHandle } from './support/simulator-uploads.ts';

let simulator: SimulatorAtRest;
/** Completed uploads have these handles; the handles of the demo data belong to no upload. */
let image: string;
let video: string;
let longVideo: string;
let document: string;
let oldVideo: string;
beforeAll(async () => {
  simulator = await simulatorAtRest();
});
beforeEach(async () => {
  await simulator.control('POST', 'reset');
  image = await uploadedHandle(simulator, 'image/jpeg');
  video = await uploadedHandle(simulator, 'video/mp4');
  longVideo = await uploadedHandle(simulator, 'video/mp4', 3.5 * 1_024 * 1_024 + 1);
  oldVideo = await uploadedHandle(simulator, 'video/3gpp');
  document = await uploadedHandle(simulator, 'application/pdf');
});
afterAll(() => simulator.stop());

type Components = readonly unknown[];
const create = (components: Components, category = 'MARKETING', more: Readonly<Record<string, unknown>> = {}) =>
  simulator.post(`${firstWaba}/message_templates`, creation({ components, category, ...more }));

const card = (header: unknown, ...rest: Components) => ({ components: [header, ...rest] });
const carousel = (...cards: Components) => ({ type: 'CAROUSEL', cards });
const product = { type: 'HEADER', format: 'PRODUCT' };
const view = buttons({ type: 'SPM', text: 'View' });
const imageCard = (...rest: Components) => card(mediaHeader('IMAGE', image), ...rest);
const emoji = (count: number) => '🙂'.repeat(count);

describe('accepted', () => {
  test.each<[string, () => Components, string?]>([
    ['text header with a variable', () => [textHeader('Order {{1}} is here', 'A-1'), plainBody]],
    ['text header with a variable at its end', () => [textHeader('You were refunded for {{1}}', 'A-1'), plainBody]],
    ['text header with a variable at its beginning', () => [textHeader('{{1}} is here', 'A-1'), plainBody]],
    ['code of 20', () => [plainBody, buttons({ ...codeButton, example: 'A'.repeat(20) })]],
    ['code in UTILITY', () => [plainBody, buttons(codeButton)], 'UTILITY'],
    ['a label with a slash', () => [plainBody, buttons({ ...urlButton, text: 'Yes / no' })]],
    ['image, footer and buttons', () => [mediaHeader('IMAGE', image), plainBody, { type: 'FOOTER', text: 'Bye' }]],
    ['video', () => [mediaHeader('VIDEO', video), plainBody]],
    ['video of an older kind', () => [mediaHeader('VIDEO', oldVideo), plainBody]],
    ['document', () => [mediaHeader('DOCUMENT', document), plainBody], 'UTILITY'],
    ['gif', () => [mediaHeader('GIF', video), plainBody]],
    ['place', () => [{ type: 'HEADER', format: 'LOCATION' }, plainBody], 'UTILITY'],
    ['a number repeated, and out of order', () => [bodyOf('To {{2}} and {{1}} and {{2}} again.')]],
    ['10 emoji, two line breaks', () => [bodyOf(`${emoji(10)}\n\nbye`)]],
    ['1,024 characters', () => [bodyOf('a'.repeat(1_024))]],
    ['ten buttons', () => [plainBody, buttons(...Array.from({ length: 10 }, () => quickReply()))]],
    ['quick replies last', () => [plainBody, buttons(urlButton, phoneButton, quickReply(), quickReply())]],
    [
      'a url with a variable',
      () => [plainBody, buttons({ ...urlButton, url: 'https://a.example/{{1}}', example: ['x'] })],
    ],
    ['flow', () => [plainBody, buttons({ type: 'FLOW', text: 'Start', flow_id: '1', flow_action: 'navigate' })]],
    ['catalog', () => [plainBody, buttons({ type: 'CATALOG', text: 'View catalog' })]],
    ['products', () => [textHeader('New'), plainBody, buttons({ type: 'MPM', text: 'View items' })]],
    ['one product', () => [product, plainBody, view]],
    ['offer', () => [offer(), plainBody, buttons(codeButton, urlButton)]],
    ['offer without expiration', () => [offer('Now', false), plainBody, buttons(urlButton)]],
    [
      'cards with media',
      () => [
        plainBody,
        carousel(imageCard(bodyOf('One.'), buttons(urlButton)), imageCard(bodyOf('Two.'), buttons(urlButton))),
      ],
    ],
    ['cards with products', () => [plainBody, carousel(card(product, view), card(product, view))]],
    ['COPY_CODE', () => otp({ text: 'Copy' }), 'AUTHENTICATION'],
    ['ONE_TAP', () => otp({ otp_type: 'ONE_TAP', autofill_text: 'Fill', supported_apps: [app] }), 'AUTHENTICATION'],
    [
      'ZERO_TAP',
      () => otp({ otp_type: 'ZERO_TAP', supported_apps: [app], zero_tap_terms_accepted: true }),
      'AUTHENTICATION',
    ],
    [
      'code without expiry',
      () => [{ type: 'BODY' }, buttons({ type: 'OTP', otp_type: 'COPY_CODE' })],
      'AUTHENTICATION',
    ],
  ])('%s', async (_, components, category) => {
    expect((await create(components(), category)).body).toEqual({
      id: expect.any(String),
      status: 'PENDING',
      category: category ?? 'MARKETING',
    });
  });
});

describe('the demo data passes its own rules', () => {
  const templates = demoSeed().wabas.flatMap((waba) => waba.templates.slice(0, 20));
  test.each(templates.map((template) => [`${template.name} ${template.language}`, template] as const))(
    '%s',
    async (_, template) => {
      const handles: Readonly<Record<string, string>> = { IMAGE: image, VIDEO: video, DOCUMENT: document };
      const components = JSON.parse(
        JSON.stringify(template.components).replaceAll(
          /("format":"(\w+)","example":\{"header_handle":\[)"4::[^"]+"/g,
          (_whole, before: string, format: string) => `${before}"${handles[format]}"`,
        ),
      );
      const { status } = await create(components, template.category, { parameter_format: template.parameter_format });
      expect(status).toBe(200);
    },
  );
});

describe('refused with a subcode', () => {
  test.each<[number, string, () => Components, string?]>([
    [2388299, 'leading variable', () => [bodyOf('{{1}}, come and see.')]],
    [2388299, 'trailing variable', () => [bodyOf('Come and see {{1}}')]],
    [2388299, 'trailing variable and blanks', () => [bodyOf('Come and see {{1}} \n')]],
    [2388293, 'no word beside the variables', () => [bodyOf('- {{1}} : {{2}} -')]],
    [2388047, 'unknown header format', () => [{ type: 'HEADER', format: 'SOUND' }, plainBody]],
    [2388047, 'no header format', () => [{ type: 'HEADER', text: 'Hi' }, plainBody]],
    [2388047, 'gif for UTILITY', () => [mediaHeader('GIF', video), plainBody], 'UTILITY'],
    [2388047, 'empty text header', () => [textHeader(' '), plainBody]],
    [
      2388047,
      'two variables in a header',
      () => [{ ...textHeader('A {{1}} and {{2}} b'), example: { header_text: ['x'] } }, plainBody],
    ],
    [2388047, 'line break in a header', () => [textHeader('New\nitems'), plainBody]],
    [2388047, 'emoji in a header', () => [textHeader(`New ${emoji(1)}`), plainBody]],
    [2388047, 'bold in a header', () => [textHeader('*New* items'), plainBody]],
    [2388047, 'handle that no upload gave', () => [mediaHeader('IMAGE', '4::aW1hZ2UvanBlZw==:ARwelcome'), plainBody]],
    [2388047, 'address instead of a handle', () => [mediaHeader('IMAGE', 'https://a.example/x.png'), plainBody]],
    [2388047, 'image handle in a video header', () => [mediaHeader('VIDEO', image), plainBody]],
    [2388047, 'older video as gif', () => [mediaHeader('GIF', oldVideo), plainBody]],
    [2388047, 'gif above 3.5 MB', () => [mediaHeader('GIF', longVideo), plainBody]],
    [
      2388047,
      'gif in a card',
      () => [plainBody, carousel(...[1, 2].map(() => card(mediaHeader('GIF', video), buttons(urlButton))))],
    ],
    [2388072, 'empty body', () => [{ type: 'BODY', text: '' }]],
    [2388072, 'body without text', () => [{ type: 'BODY' }]],
    [2388072, 'gap in the numbers', () => [bodyOf('Hello {{1}} and {{3}} there.')]],
    [2388072, 'numbers from 0', () => [bodyOf('Hello {{0}} there.')]],
    [2388072, 'name where numbers stand', () => [bodyOf('Hello {{name}} there.')]],
    [2388072, 'special characters', () => [bodyOf('Hello {{#1}} there.')]],
    [2388072, 'brackets left open', () => [bodyOf('Hello {{1 there.')]],
    [2388072, 'text for a code', () => [bodyOf('Your code is {{1}}.'), ...otp().slice(1)], 'AUTHENTICATION'],
    [2388073, 'empty footer', () => [plainBody, { type: 'FOOTER', text: '' }]],
    [2388073, 'variable in a footer', () => [plainBody, { type: 'FOOTER', text: 'Bye {{1}} now' }]],
    [
      2388073,
      'text under a code',
      () => [{ type: 'BODY' }, { type: 'FOOTER', text: 'Bye' }, ...otp().slice(2)],
      'AUTHENTICATION',
    ],
    [
      2388073,
      '0 minutes',
      () => [{ type: 'BODY' }, { type: 'FOOTER', code_expiration_minutes: 0 }, ...otp().slice(2)],
      'AUTHENTICATION',
    ],
    [
      2388073,
      '91 minutes',
      () => [{ type: 'BODY' }, { type: 'FOOTER', code_expiration_minutes: 91 }, ...otp().slice(2)],
      'AUTHENTICATION',
    ],
    [
      2388073,
      'half a minute',
      () => [{ type: 'BODY' }, { type: 'FOOTER', code_expiration_minutes: 0.5 }, ...otp().slice(2)],
      'AUTHENTICATION',
    ],
    [2388040, 'header of 61', () => [textHeader('a'.repeat(61)), plainBody]],
    [2388040, 'body of 1,025', () => [bodyOf('a'.repeat(1_025))]],
    [2388040, 'body of 601 beside an offer', () => [offer(), bodyOf('a'.repeat(601)), buttons(codeButton, urlButton)]],
    [2388040, 'body of 161 with one product', () => [product, bodyOf('a'.repeat(161)), view]],
    [
      2388040,
      'body of 161 in a card',
      () => [plainBody, carousel(...[1, 2].map(() => imageCard(bodyOf('a'.repeat(161)), buttons(urlButton))))],
    ],
    [2388040, 'footer of 61', () => [plainBody, { type: 'FOOTER', text: 'a'.repeat(61) }]],
    [2388040, 'button of 26', () => [plainBody, buttons(quickReply('a'.repeat(26)))]],
    [
      2388040,
      'url of 2,001',
      () => [plainBody, buttons({ ...urlButton, url: `https://a.example/${'a'.repeat(1_983)}` })],
    ],
    [2388040, 'phone number of 21', () => [plainBody, buttons({ ...phoneButton, phone_number: '1'.repeat(21) })]],
    [2388040, 'code of 21', () => [plainBody, buttons({ ...codeButton, example: 'A'.repeat(21) })]],
    [
      2388040,
      'code of 16 beside an offer',
      () => [offer(), plainBody, buttons({ ...codeButton, example: 'A'.repeat(16) }, urlButton)],
    ],
    [2388060, 'label with a variable', () => [plainBody, buttons({ ...urlButton, text: 'Open {{1}}' })]],
    [2388060, 'label with a line break', () => [plainBody, buttons({ ...phoneButton, text: 'Call\nus' })]],
    [2388060, 'label with an emoji', () => [plainBody, buttons({ type: 'QUICK_REPLY', text: 'Yes 👍' })]],
    [2388060, 'label in bold', () => [plainBody, buttons({ type: 'FLOW', text: '*Go*', flow_id: '1' })]],
    [
      2388060,
      'label of a card',
      () => [plainBody, carousel(...Array(2).fill(imageCard(buttons({ ...urlButton, text: 'Go 👉' }))))],
    ],
    [2388060, 'label of a code', () => otp({ text: 'Copy_code' }), 'AUTHENTICATION'],
    [
      2388060,
      'label of autofill',
      () => otp({ otp_type: 'ONE_TAP', autofill_text: '~Fill~', supported_apps: [app] }),
      'AUTHENTICATION',
    ],
    [2388040, 'offer of 17', () => [offer('a'.repeat(17)), plainBody, buttons(codeButton, urlButton)]],
    [2388040, 'OTP text of 26', () => otp({ text: 'a'.repeat(26) }), 'AUTHENTICATION'],
    [2388043, 'no example of a body', () => [{ type: 'BODY', text: 'Hello {{1}} there.' }]],
    [2388043, 'one example for two', () => [bodyOf('Hello {{1}} and {{2}} there.', 'Ana')]],
    [2388043, 'two examples for one', () => [bodyOf('Hello {{1}} there.', 'Ana', 'Bea')]],
    [2388043, 'empty example', () => [bodyOf('Hello {{1}} there.', ' ')]],
    [2388043, 'no example of a header', () => [textHeader('Order {{1}} is here'), plainBody]],
    [2388043, 'no handle', () => [{ type: 'HEADER', format: 'IMAGE' }, plainBody]],
    [2388043, 'two handles', () => [mediaHeader('IMAGE', image, image), plainBody]],
    [2388043, 'no example of a url', () => [plainBody, buttons({ ...urlButton, url: 'https://a.example/{{1}}' })]],
    [2388043, 'no example of a code', () => [plainBody, buttons({ type: 'COPY_CODE' })]],
  ])('%i: %s', async (subcode, _, components, category) => {
    expectManagementError(await create(components(), category), subcode, /./);
  });

  test.each<[number, string, string]>([
    [2388072, 'number where names stand', 'Hello {{1}} there.'],
    [2388072, 'capitals', 'Hello {{Name}} there.'],
    [2388072, 'a name twice', 'Hello {{name}} and {{name}} there.'],
    [2388043, 'no example under that name', 'Hello {{other}} there.'],
  ])('%i: named, %s', async (subcode, _, text) => {
    const example = { body_text_named_params: [{ param_name: 'name', example: 'Ana' }] };
    const answer = await create([{ type: 'BODY', text, example }], 'UTILITY', { parameter_format: 'named' });
    expectManagementError(answer, subcode, /body/);
  });
});

describe('refused without one, saying what', () => {
  test.each<[RegExp, () => Components, string?]>([
    [/variables only/, () => [bodyOf('{{1}} {{2}}')]],
    [/line breaks/, () => [bodyOf('Hello\n\n\nthere')]],
    [/emoji/, () => [bodyOf(`Hi ${emoji(11)}`)]],
    [/BODY is required/, () => [{ type: 'FOOTER', text: 'Bye' }]],
    [/most one component of each type/, () => [plainBody, plainBody]],
    [/HEADER is not for AUTHENTICATION/, () => [textHeader('Hi'), ...otp()], 'AUTHENTICATION'],
    [/CAROUSEL is not for UTILITY/, () => [plainBody, carousel()], 'UTILITY'],
    [/LIMITED_TIME_OFFER is not for UTILITY/, () => [plainBody, offer()], 'UTILITY'],
    [/text does not belong/, () => [{ type: 'HEADER', format: 'LOCATION', text: 'Here' }, plainBody]],
    [
      /code_expiration_minutes does not belong/,
      () => [plainBody, { type: 'FOOTER', text: 'x', code_expiration_minutes: 1 }],
    ],
    [/at least one button/, () => [plainBody, buttons()]],
    [/most 10 buttons/, () => [plainBody, buttons(...Array.from({ length: 11 }, () => quickReply()))]],
    [/most 2 of type URL/, () => [plainBody, buttons(urlButton, urlButton, urlButton)]],
    [/most 1 of type PHONE_NUMBER/, () => [plainBody, buttons(phoneButton, phoneButton)]],
    [/quick replies must stand together/, () => [plainBody, buttons(quickReply(), urlButton, quickReply())]],
    [/quick replies must stand together/, () => [plainBody, buttons(urlButton, quickReply(), phoneButton)]],
    [/a text is required/, () => [plainBody, buttons({ type: 'QUICK_REPLY' })]],
    [/url does not belong/, () => [plainBody, buttons({ ...quickReply(), url: 'https://a.example' })]],
    [/not a valid url/, () => [plainBody, buttons({ type: 'URL', text: 'Go' })]],
    [/not a valid url/, () => [plainBody, buttons({ ...urlButton, url: 'ftp://a.example' })]],
    [/very end/, () => [plainBody, buttons({ ...urlButton, url: 'https://a.example/{{1}}/x', example: ['x'] })]],
    [/very end/, () => [plainBody, buttons({ ...urlButton, url: 'https://a.example/{{2}}', example: ['x'] })]],
    [/phone number/, () => [plainBody, buttons({ ...phoneButton, phone_number: 'none' })]],
    [/letters and digits/, () => [plainBody, buttons({ ...codeButton, example: ['SAVE-20'] })]],
    [/exactly one of flow_id/, () => [plainBody, buttons({ type: 'FLOW', text: 'Go', flow_id: '1', flow_name: 'x' })]],
    [/must be "View catalog"/, () => [plainBody, buttons({ type: 'CATALOG', text: 'Look' })]],
    [
      /CATALOG must be the only button/,
      () => [plainBody, buttons({ type: 'CATALOG', text: 'View catalog' }, quickReply())],
    ],
    [
      /No HEADER beside a CATALOG/,
      () => [textHeader('Hi'), plainBody, buttons({ type: 'CATALOG', text: 'View catalog' })],
    ],
    [/MPM button needs a HEADER/, () => [plainBody, buttons({ type: 'MPM', text: 'View items' })]],
    [/SPM button and a HEADER/, () => [plainBody, view]],
    [/SPM button and a HEADER/, () => [product, plainBody]],
    [/OTP is for AUTHENTICATION/, () => [plainBody, buttons({ type: 'OTP', otp_type: 'COPY_CODE' })]],
    [/No FOOTER beside/, () => [offer(), plainBody, { type: 'FOOTER', text: 'x' }, buttons(codeButton, urlButton)]],
    [/IMAGE or VIDEO/, () => [textHeader('Hi'), offer(), plainBody, buttons(codeButton, urlButton)]],
    [/COPY_CODE and URL/, () => [offer(), plainBody, buttons(urlButton)]],
    [/COPY_CODE and URL/, () => [offer(), plainBody, buttons(urlButton, codeButton)]],
    [/COPY_CODE and URL/, () => [offer('Now', false), plainBody]],
    [/offer: a text/, () => [offer(''), plainBody, buttons(codeButton, urlButton)]],
    [/only a BODY/, () => [textHeader('Hi'), plainBody, carousel()]],
    [/2 to 10 cards/, () => [plainBody, carousel(imageCard(buttons(urlButton)))]],
    [/2 to 10 cards/, () => [plainBody, carousel(...Array.from({ length: 11 }, () => imageCard(buttons(urlButton))))]],
    [/exactly 2 cards/, () => [plainBody, carousel(card(product, view), card(product, view), card(product, view))]],
    [
      /card 1 is not built like/,
      () => [plainBody, carousel(imageCard(buttons(urlButton)), imageCard(buttons(quickReply())))],
    ],
    [
      /card 1 is not built like/,
      () => [plainBody, carousel(imageCard(buttons(urlButton)), card(mediaHeader('VIDEO', video), buttons(urlButton)))],
    ],
    [
      /card 1 is not built like/,
      () => [plainBody, carousel(imageCard(plainBody, buttons(urlButton)), imageCard(buttons(urlButton)))],
    ],
    [/HEADER, BUTTONS/, () => [plainBody, carousel(imageCard(), imageCard())]],
    [
      /1 or 2 buttons/,
      () => [plainBody, carousel(...[1, 2].map(() => imageCard(buttons(quickReply(), quickReply(), quickReply()))))],
    ],
    [/one button of SPM, URL/, () => [plainBody, carousel(...[1, 2].map(() => card(product, buttons(quickReply()))))]],
    [/exactly one button, of type OTP/, () => [{ type: 'BODY' }], 'AUTHENTICATION'],
    [/exactly one button, of type OTP/, () => [{ type: 'BODY' }, buttons(quickReply())], 'AUTHENTICATION'],
    [/otp_type is required/, () => otp({ otp_type: undefined }), 'AUTHENTICATION'],
    [/supported_apps does not belong/, () => otp({ supported_apps: [app] }), 'AUTHENTICATION'],
    [/1 to 5 apps/, () => otp({ otp_type: 'ONE_TAP' }), 'AUTHENTICATION'],
    [/1 to 5 apps/, () => otp({ otp_type: 'ONE_TAP', supported_apps: Array(6).fill(app) }), 'AUTHENTICATION'],
    [
      /package_name/,
      () => otp({ otp_type: 'ONE_TAP', supported_apps: [{ ...app, package_name: 'app' }] }),
      'AUTHENTICATION',
    ],
    [
      /signature_hash/,
      () => otp({ otp_type: 'ONE_TAP', supported_apps: [{ ...app, signature_hash: 'short' }] }),
      'AUTHENTICATION',
    ],
    [/zero_tap_terms_accepted/, () => otp({ otp_type: 'ZERO_TAP', supported_apps: [app] }), 'AUTHENTICATION'],
  ])('%s', async (message, components, category) => {
    expectManagementError(await create(components(), category), undefined, message);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Category } from '../../../../lib/templates/rules/draft.ts';
import { undocumented } from '../../../support/openapi.ts';
import { type Given, type Verdicts, verdictsOn } from '../../../support/rule-verdicts.ts';
import { thorough } from '../../../support/thorough.ts';

/**
 * The service and the simulator implement the template rules independently. Generated components go through both; where
 * the verdicts differ, the table of differences gives the reason.
 */

interface Difference extends Verdicts {
  readonly why: string;
  readonly category: Category;
  readonly applies: (components: readonly Given[]) => boolean;
  /** This case still shows the difference. */
  readonly specimen: readonly Given[];
}

const body = { type: 'BODY', text: 'Hello there, good news.' };
const authenticationBody = { type: 'BODY' };
const url = { type: 'URL', text: 'Open', url: 'https://a.example.com' };
const buttons = (...list: readonly Given[]) => ({ type: 'BUTTONS', buttons: list });
const copyCode = (more: Given = {}) => ({ type: 'OTP', otp_type: 'COPY_CODE', ...more });

/** Returns all objects inside a value, at any depth. */
function partsIn(value: unknown): Given[] {
  if (Array.isArray(value)) return value.flatMap(partsIn);
  if (typeof value !== 'object' || value === null) return [];
  return [value as Given, ...Object.values(value).flatMap(partsIn)];
}
const somePart = (holds: (part: Given) => boolean) => (components: readonly Given[]) => partsIn(components).some(holds);

const differences: readonly Difference[] = [
  {
    why: 'the contract lets a code live 15 minutes, the platform 90',
    category: 'AUTHENTICATION',
    service: false,
    simulator: true,
    applies: somePart(({ code_expiration_minutes: minutes }) => Number(minutes) > 15),
    specimen: [authenticationBody, { type: 'FOOTER', code_expiration_minutes: 16 }, buttons(copyCode())],
  },
  {
    why: 'a blank label is refused here, where the platform takes its own',
    category: 'AUTHENTICATION',
    service: false,
    simulator: true,
    applies: somePart(({ type, text, autofill_text }) => type === 'OTP' && (text === '' || autofill_text === '')),
    specimen: [authenticationBody, buttons(copyCode({ text: '' }))],
  },
  {
    why: 'what a COPY_CODE button has no use for is left to the platform to judge',
    category: 'AUTHENTICATION',
    service: true,
    simulator: false,
    applies: somePart(
      (part) => part['otp_type'] === 'COPY_CODE' && ('autofill_text' in part || 'zero_tap_terms_accepted' in part),
    ),
    specimen: [authenticationBody, buttons(copyCode({ autofill_text: 'Fill in' }))],
  },
  {
    why: 'an example that would never be shown is a mistake to tell, which the platform lets pass',
    category: 'MARKETING',
    service: false,
    simulator: true,
    applies: somePart(({ url: address, example }) => address === url.url && example !== undefined),
    specimen: [body, buttons({ ...url, example: ['x'] })],
  },
  {
    why: 'the same of the example of another part',
    category: 'MARKETING',
    service: false,
    simulator: true,
    applies: somePart(({ type, example }) => type === 'HEADER' && partsIn(example).some((each) => 'body_text' in each)),
    specimen: [{ type: 'HEADER', format: 'TEXT', text: 'Picks', example: { body_text: [['x']] } }, body],
  },
  {
    why: 'how many words a header needs for its variable, only a review can tell',
    category: 'MARKETING',
    service: true,
    simulator: false,
    applies: somePart(({ format, text }) => format === 'TEXT' && (text === '- {{1}} -' || text === '{{1}}')),
    specimen: [{ type: 'HEADER', format: 'TEXT', text: '- {{1}} -', example: { header_text: ['x'] } }, body],
  },
];

/** Selects any keys, each with one of its values; undefined omits the key. */
function partOf(values: Readonly<Record<string, readonly unknown[]>>): fc.Arbitrary<Given> {
  return fc
    .record(Object.fromEntries(Object.entries(values).map(([key, some]) => [key, fc.constantFrom(...some)])))
    .map((part) => Object.fromEntries(Object.entries(part).filter(([, value]) => value !== undefined)));
}

/** The part is there three times in four. */
const maybe = (part: fc.Arbitrary<Given>) => fc.option(part, { freq: 3, nil: undefined });
const listOf = (...parts: readonly fc.Arbitrary<Given | undefined>[]) =>
  fc.tuple(...parts).map((list) => list.filter((part) => part !== undefined));

const medium = fc.constantFrom('IMAGE', 'VIDEO', 'DOCUMENT', 'GIF').chain((format) =>
  partOf({
    type: ['HEADER'],
    format: [format, format, format.toLowerCase()],
    text: [undefined, undefined, undefined, 'Picks'],
    example: [{ header_handle: [format] }, { header_handle: [format] }, { header_handle: [format, format] }, undefined],
  }),
);
const headerText = partOf({
  type: ['HEADER'],
  format: ['TEXT'],
  text: [
    'Picks',
    'P'.repeat(60),
    'P'.repeat(61),
    'For {{1}} only',
    '{{1}} only',
    'Only {{1}}',
    '{{1}}',
    '*Bold*',
    'Two\nlines',
    'Hi 👋',
    '- {{1}} -',
    undefined,
  ],
  example: [
    undefined,
    { header_text: ['x'] },
    { header_text: ['x', 'y'] },
    { header_text: [''] },
    { body_text: [['x']] },
  ],
});
const plainHeader = partOf({
  type: ['HEADER'],
  format: ['LOCATION', 'PRODUCT', 'AUDIO', undefined],
  text: [undefined, undefined, 'Picks'],
});
const header = fc.oneof(medium, headerText, plainHeader);

const bodyPart = (longest: number) =>
  partOf({
    type: ['BODY'],
    text: ['Hello there.', 'Hello {{1}} there.', 'x'.repeat(longest), 'x'.repeat(longest + 1), '{{1}}', undefined],
    example: [undefined, undefined, { body_text: [['x']] }, { body_text: [['x', 'y']] }],
  });
const button = fc.constantFrom<Given>(
  { type: 'QUICK_REPLY', text: 'Yes' },
  url,
  { ...url, url: 'https://a.example.com/{{1}}', example: ['x'] },
  { ...url, example: ['x'] },
  { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+5491100000001' },
  { type: 'COPY_CODE', example: 'SAVE20' },
  { type: 'SPM', text: 'View' },
  { type: 'OTP', otp_type: 'COPY_CODE' },
);
const buttonsPart = (most: number) =>
  fc.array(button, { maxLength: most }).map((list): Given => ({ type: 'BUTTONS', buttons: list }));
const footer = partOf({ type: ['FOOTER'], text: ['Bye', 'x'.repeat(61)] });

const card = listOf(maybe(fc.oneof(medium, plainHeader)), maybe(bodyPart(160)), maybe(buttonsPart(3))).map(
  (components): Given => ({ components }),
);
const goodCard = fc.constantFrom<readonly Given[]>(
  [{ type: 'HEADER', format: 'IMAGE', example: { header_handle: ['IMAGE'] } }, body, buttons(url)],
  [
    { type: 'HEADER', format: 'VIDEO', example: { header_handle: ['VIDEO'] } },
    buttons({ type: 'QUICK_REPLY', text: 'Yes' }, url),
  ],
  [{ type: 'HEADER', format: 'PRODUCT' }, buttons({ type: 'SPM', text: 'View' })],
);
/** The cards are alike, or one differs. */
const cards = fc
  .tuple(
    fc.oneof(
      card,
      goodCard.map((components): Given => ({ components })),
    ),
    fc.integer({ min: 0, max: 11 }),
    maybe(card),
    fc.boolean(),
  )
  .map(([each, count, other, mixed]) => {
    const alike = Array.from({ length: count }, () => each);
    return mixed && other !== undefined ? [...alike.slice(1), other] : alike;
  });
const carousel = cards.map((list): Given => ({ type: 'CAROUSEL', cards: list }));

const offer = partOf({
  type: ['LIMITED_TIME_OFFER'],
  limited_time_offer: [
    { text: 'Ends soon' },
    { text: 'Ends soon', has_expiration: true },
    { text: 'Ends soon', has_expiration: false },
    { text: 'x'.repeat(16), has_expiration: true },
    { text: 'x'.repeat(17) },
    { text: '' },
    undefined,
  ],
  text: [undefined, undefined, undefined, 'Ends soon'],
});
const offerButtons = fc.oneof(
  buttonsPart(3),
  fc.constantFrom(
    buttons({ type: 'COPY_CODE', example: 'SAVE20' }, url),
    buttons(url),
    buttons(url, { type: 'COPY_CODE', example: 'SAVE20' }),
  ),
);

const app = { package_name: 'com.example.app', signature_hash: 'K8a/AINcGX7' };
const otp = partOf({
  type: ['OTP', 'OTP', 'OTP', 'URL'],
  otp_type: ['COPY_CODE', 'ONE_TAP', 'ZERO_TAP', 'one_tap', 'OTHER', undefined],
  text: [undefined, 'Copy code', '', 'x'.repeat(26)],
  autofill_text: [undefined, undefined, 'Fill in', 'x'.repeat(26)],
  supported_apps: [
    undefined,
    [app],
    [app],
    [],
    Array(6).fill(app),
    [{ ...app, package_name: 'app' }],
    [{ ...app, signature_hash: 'short' }],
  ],
  zero_tap_terms_accepted: [undefined, true, true, false],
});
const authentication = listOf(
  maybe(
    partOf({
      type: ['BODY'],
      text: [undefined, undefined, undefined, 'Your code'],
      add_security_recommendation: [undefined, true, false],
    }),
  ),
  maybe(
    partOf({
      type: ['FOOTER'],
      code_expiration_minutes: [undefined, 0, 0.4, 0.5, 1, 7.5, 15, 16, 90, 91],
      text: [undefined, undefined, undefined, 'Bye'],
    }),
  ),
  maybe(fc.array(otp, { minLength: 1, maxLength: 2 }).map((list): Given => ({ type: 'BUTTONS', buttons: list }))),
);

/** Labels have any characters, including those that labels must not have. */
const label = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 27 }),
  fc
    .array(fc.constantFrom('Yes', ' ', '/', "'", '™', 'é', '1️⃣', '👍', '{{1}}', '{{', '\n', '\r', '*', '_', '~', '`'), {
      minLength: 1,
      maxLength: 4,
    })
    .map((parts) => parts.join('')),
);
const labelled = fc
  .tuple(
    label,
    fc.constantFrom<Given>({ type: 'QUICK_REPLY' }, url, { type: 'VOICE_CALL' }, { type: 'FLOW', flow_id: '1' }),
  )
  .map(([text, kind]): Given => buttons({ ...kind, text }));

const families: readonly (readonly [string, Category, fc.Arbitrary<readonly Given[]>])[] = [
  [
    'headers',
    'MARKETING',
    listOf(header, maybe(bodyPart(1_024)), fc.option(buttonsPart(2), { freq: 1, nil: undefined })),
  ],
  ['headers of a utility template', 'UTILITY', listOf(header, fc.constant(body))],
  ['carousels', 'MARKETING', listOf(maybe(bodyPart(1_024)), carousel)],
  [
    'what stands beside a carousel',
    'MARKETING',
    listOf(fc.constant(body), carousel, maybe(header), maybe(offer), maybe(footer)),
  ],
  ['limited-time offers', 'MARKETING', listOf(maybe(header), bodyPart(600), offer, maybe(offerButtons))],
  ['a footer beside an offer', 'MARKETING', listOf(fc.constant(body), offer, footer, offerButtons)],
  ['labels of buttons', 'UTILITY', listOf(fc.constant(body), labelled)],
  ['authentication', 'AUTHENTICATION', authentication],
];

const numRuns = thorough ? 1_000 : 200;

describe('service and simulator agree on, and the document of the interface has what the service takes', () => {
  test.each(families)('%s, or a listed difference says why', (_, category, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, (components) => {
        const { service, simulator } = verdictsOn(category, components);
        if (service) expect(undocumented(category, components)).toEqual([]);
        const listed = differences.filter(
          (each) => each.service === service && each.simulator === simulator && each.applies(components),
        );
        expect(service === simulator || listed.length > 0, `service ${service}, simulator ${simulator}`).toBe(true);
      }),
      { numRuns },
    );
  });
});

const imageHeader = { type: 'HEADER', format: 'image', header_handle: 'IMAGE' };
const imageCard = { components: [imageHeader, body, buttons(url)] };
const codeAndUrl = buttons({ type: 'COPY_CODE', example: 'SAVE20' }, url);

test.each<[string, Category, readonly Given[]]>([
  ['header', 'MARKETING', [imageHeader, body]],
  ['carousel', 'MARKETING', [body, { type: 'carousel', cards: [imageCard, imageCard] }]],
  [
    'offer',
    'MARKETING',
    [imageHeader, body, { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Now' } }, codeAndUrl],
  ],
  [
    'code',
    'AUTHENTICATION',
    [authenticationBody, { type: 'FOOTER', code_expiration_minutes: 7.5 }, buttons(copyCode())],
  ],
])('both take it as clients write it: %s', (_, category, components) => {
  expect(verdictsOn(category, components)).toEqual({ service: true, simulator: true });
});

test.each(differences)('they part: $why', ({ category, specimen, service, simulator, applies }) => {
  expect(verdictsOn(category, specimen)).toEqual({ service, simulator });
  expect(applies(specimen)).toBe(true);
});

import { describe, expect, test } from 'vitest';
import {
  checkAddressee,
  checkName,
  checkSentComponents,
  checkTimeToLive,
  parseMessageBody,
  type Template,
  userIdForm,
} from '#simulator/contract';
import { FaultList } from '../../../../lib/http/fault-list.ts';
import type { Recipient } from '../../../../lib/messages/dispatch/head.ts';
import { composeMessage, compositionPlan } from '../../../../lib/messages/request/compose.ts';
import { parameterContract } from '../../../../lib/messages/request/parameter-contract.ts';
import { checkRecipients } from '../../../../lib/messages/request/recipient-rules.ts';
import { parseSendRequest } from '../../../../lib/messages/request/send-request.ts';
import { isUserId } from '../../../../lib/platform/user-id.ts';
import { parseCreateRequest } from '../../../../lib/templates/create/create-request.ts';
import type { PlatformTemplate } from '../../../../lib/templates/model/template.ts';
import type { Category } from '../../../../lib/templates/rules/draft.ts';
import { checkSettings } from '../../../../lib/templates/rules/settings.ts';
import { body, buttons, copyCode, makeTemplate, sendable } from '../../../support/platform-templates.ts';
import { both, type Given, isFaultless, passes, type Verdicts, verdictsOn } from '../../../support/rule-verdicts.ts';

/**
 * The service and the simulator implement each limit independently. Both must accept the value at the limit and refuse
 * the next one, so that a one-sided change shows here.
 */

const texts = (length: number) => 'x'.repeat(length);
const times = (count: number, part: Given) => Array.from({ length: count }, () => part);
const list = (...parts: readonly Given[]): Given => ({ type: 'BUTTONS', buttons: parts });
const bodyOf = (length: number): Given => ({ type: 'BODY', text: texts(length) });
const hello = bodyOf(20);
const url = { type: 'URL', text: 'Open', url: 'https://a.example.com' };
const quick = { type: 'QUICK_REPLY', text: 'Yes' };
const phone = { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+5491100000001' };
const image = { type: 'HEADER', format: 'IMAGE', example: { header_handle: ['IMAGE'] } };
const offer = (length: number): Given => ({ type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: texts(length) } });
const mediaCard = (...parts: readonly Given[]) => ({ components: [image, ...parts] });
const productCard = (...shown: readonly Given[]) => ({
  components: [{ type: 'HEADER', format: 'PRODUCT' }, list(...shown)],
});
const cards = (count: number, card: Given): Given[] => [hello, { type: 'CAROUSEL', cards: times(count, card) }];
const view = { type: 'SPM', text: 'View' };
const app = { package_name: 'com.example.app', signature_hash: 'K8a/AINcGX7' };
const otp = (more: Given): Given[] => [
  { type: 'BODY' },
  list({ type: 'OTP', otp_type: 'ONE_TAP', supported_apps: [app], ...more }),
];
const labelled = (button: Given) => (length: number) => [hello, list({ ...button, text: texts(length) })];

/**
 * A limit has a subject, the last accepted number, whether that is the largest or smallest, and a template with a
 * number.
 */
const ofTemplates: readonly (readonly [
  string,
  number,
  'most' | 'least',
  Category,
  (size: number) => readonly Given[],
])[] = [
  ['header text', 60, 'most', 'MARKETING', (size) => [{ type: 'HEADER', format: 'TEXT', text: texts(size) }, hello]],
  ['body', 1_024, 'most', 'MARKETING', (size) => [bodyOf(size)]],
  ['body beside an offer', 600, 'most', 'MARKETING', (size) => [bodyOf(size), offer(5), list(url)]],
  [
    'body of one product',
    160,
    'most',
    'MARKETING',
    (size) => [{ type: 'HEADER', format: 'PRODUCT' }, bodyOf(size), list(view)],
  ],
  ['body of a card', 160, 'most', 'MARKETING', (size) => cards(2, mediaCard(bodyOf(size), list(url)))],
  ['emoji of a body', 10, 'most', 'MARKETING', (size) => [{ type: 'BODY', text: `Hello ${'👋'.repeat(size)} you` }]],
  ['line breaks in a row', 2, 'most', 'MARKETING', (size) => [{ type: 'BODY', text: `Hello${'\n'.repeat(size)}you` }]],
  ['footer', 60, 'most', 'UTILITY', (size) => [hello, { type: 'FOOTER', text: texts(size) }]],
  ['text of an offer', 16, 'most', 'MARKETING', (size) => [hello, offer(size), list(url)]],
  [
    'code of an offer',
    15,
    'most',
    'MARKETING',
    (size) => [hello, offer(5), list({ type: 'COPY_CODE', example: texts(size) }, url)],
  ],
  ['coupon', 20, 'most', 'MARKETING', (size) => [hello, list({ type: 'COPY_CODE', example: texts(size) })]],
  [
    'coupon of a utility template',
    20,
    'most',
    'UTILITY',
    (size) => [hello, list({ type: 'COPY_CODE', example: texts(size) })],
  ],
  ['label of a quick reply', 25, 'most', 'MARKETING', labelled(quick)],
  ['label of a link', 25, 'most', 'MARKETING', labelled(url)],
  ['label of a number', 25, 'most', 'MARKETING', labelled(phone)],
  ['label of a call', 25, 'most', 'UTILITY', labelled({ type: 'VOICE_CALL' })],
  ['label of a flow', 25, 'most', 'MARKETING', labelled({ type: 'FLOW', flow_id: '1' })],
  ['label of a code', 25, 'most', 'AUTHENTICATION', (size) => otp({ text: texts(size) })],
  ['label of autofill', 25, 'most', 'AUTHENTICATION', (size) => otp({ autofill_text: texts(size) })],
  [
    'URL',
    2_000,
    'most',
    'MARKETING',
    (size) => [hello, list({ ...url, url: `https://a.example.com/${texts(size - 22)}` })],
  ],
  ['phone number', 20, 'most', 'MARKETING', (size) => [hello, list({ ...phone, phone_number: '1'.repeat(size) })]],
  ['buttons', 10, 'most', 'MARKETING', (size) => [hello, list(...times(size - 1, quick), url)]],
  ['quick replies', 10, 'most', 'MARKETING', (size) => [hello, list(...times(size, quick))]],
  ['links', 2, 'most', 'MARKETING', (size) => [hello, list(...times(size, url))]],
  ['numbers', 1, 'most', 'MARKETING', (size) => [hello, list(...times(size, phone))]],
  ['coupons', 1, 'most', 'MARKETING', (size) => [hello, list(...times(size, { type: 'COPY_CODE', example: 'SAVE' }))]],
  ['calls', 1, 'most', 'MARKETING', (size) => [hello, list(...times(size, { type: 'VOICE_CALL', text: 'Call' }))]],
  [
    'flows',
    1,
    'most',
    'MARKETING',
    (size) => [hello, list(...times(size, { type: 'FLOW', text: 'Go', flow_id: '1' }))],
  ],
  [
    'catalogs',
    1,
    'most',
    'MARKETING',
    (size) => [hello, list(...times(size, { type: 'CATALOG', text: 'View catalog' }))],
  ],
  [
    'one-time codes',
    1,
    'most',
    'AUTHENTICATION',
    (size) => [{ type: 'BODY' }, list(...times(size, { type: 'OTP', otp_type: 'COPY_CODE' }))],
  ],
  ['media cards', 10, 'most', 'MARKETING', (size) => cards(size, mediaCard(list(url)))],
  ['media cards', 2, 'least', 'MARKETING', (size) => cards(size, mediaCard(list(url)))],
  ['product cards', 2, 'most', 'MARKETING', (size) => cards(size, productCard(view))],
  ['product cards', 2, 'least', 'MARKETING', (size) => cards(size, productCard(view))],
  ['buttons of a card', 2, 'most', 'MARKETING', (size) => cards(2, mediaCard(list(...times(size, quick))))],
  ['buttons of a card', 1, 'least', 'MARKETING', (size) => cards(2, mediaCard(list(...times(size, quick))))],
  ['buttons of a product card', 1, 'most', 'MARKETING', (size) => cards(2, productCard(...times(size, url)))],
  ['apps', 5, 'most', 'AUTHENTICATION', (size) => otp({ supported_apps: times(size, app) })],
  ['apps', 1, 'least', 'AUTHENTICATION', (size) => otp({ supported_apps: times(size, app) })],
  [
    'package name',
    224,
    'most',
    'AUTHENTICATION',
    (size) => otp({ supported_apps: [{ ...app, package_name: `com.${texts(size - 4)}` }] }),
  ],
  [
    'signature',
    11,
    'most',
    'AUTHENTICATION',
    (size) => otp({ supported_apps: [{ ...app, signature_hash: texts(size) }] }),
  ],
  [
    'signature',
    11,
    'least',
    'AUTHENTICATION',
    (size) => otp({ supported_apps: [{ ...app, signature_hash: texts(size) }] }),
  ],
];

const beyond = (last: number, bound: 'most' | 'least') => (bound === 'most' ? last + 1 : last - 1);

describe('a template', () => {
  test.each(ofTemplates)('%s: %i at %s (%s)', (_, last, bound, category, made) => {
    expect([verdictsOn(category, made(last)), verdictsOn(category, made(beyond(last, bound)))]).toEqual([
      both(true),
      both(false),
    ]);
  });

  test.each<[string, number, number, Verdicts]>([
    // The contract allows a code lifetime of 30 seconds to 15 minutes, the platform 1 to 90 minutes.
    ['longest that the contract takes', 15, 16, { service: false, simulator: true }],
    ['longest that the platform takes', 90, 91, { service: false, simulator: false }],
  ])('%s: a code of %i minutes', (_, last, next, then) => {
    const expiring = (minutes: number) =>
      verdictsOn('AUTHENTICATION', [
        { type: 'BODY' },
        { type: 'FOOTER', code_expiration_minutes: minutes },
        list({ type: 'OTP', otp_type: 'COPY_CODE' }),
      ]);
    expect([expiring(last).simulator, expiring(next)]).toEqual([true, then]);
    expect([expiring(0.5).service, expiring(0.4).service, expiring(15).service]).toEqual([true, false, true]);
  });

  test.each(['{{1}}', 'a\nb', 'a\rb', 'Yes 👍', '*Yes*', 'a_b', '~no~', '`code`'])(
    'no label of a button is %j (100/2388060)',
    (text) => {
      for (const button of [quick, url, phone, { type: 'VOICE_CALL' }, { type: 'FLOW', flow_id: '1' }]) {
        expect(verdictsOn('MARKETING', [hello, list({ ...button, text })])).toEqual(both(false));
      }
      for (const button of [quick, url, phone]) {
        expect(verdictsOn('MARKETING', cards(2, mediaCard(list({ ...button, text }))))).toEqual(both(false));
      }
      expect(verdictsOn('AUTHENTICATION', otp({ text }))).toEqual(both(false));
      expect(verdictsOn('AUTHENTICATION', otp({ autofill_text: text }))).toEqual(both(false));
    },
  );

  test.each(['Yes / no', 'Sí, ¡claro!', '50 % - 1', "What's new?"])('a label may be %j', (text) => {
    expect(verdictsOn('MARKETING', [hello, list({ ...quick, text })])).toEqual(both(true));
  });

  test.each(['Refunded for {{1}}', '{{1}}, hello'])('whether a header may be %j is left to the platform', (text) => {
    const header = { type: 'HEADER', format: 'TEXT', text, example: { header_text: ['x'] } };
    expect(verdictsOn('MARKETING', [header, hello])).toEqual(both(true));
    const example = { body_text: [['x']] };
    expect(verdictsOn('MARKETING', [{ type: 'BODY', text, example }])).toEqual(both(false));
  });
});

const nameOf = (name: string): Verdicts => ({
  service: passes(() => parseCreateRequest({ name, language: 'en', category: 'UTILITY', components: [hello] }, {})),
  simulator: passes(() => checkName({ name })),
});

test('a name has 1 to 512 characters', () => {
  expect([0, 1, 512, 513].map((length) => nameOf(texts(length)))).toEqual([
    both(false),
    both(true),
    both(true),
    both(false),
  ]);
});

test.each<[Category, number, number, boolean]>([
  ['AUTHENTICATION', 30, 900, true],
  ['UTILITY', 30, 43_200, true],
  ['MARKETING', 43_200, 2_592_000, false],
])('messages of %s live %i to %i seconds, or 30 days: %s', (category, least, most, thirtyDays) => {
  const verdicts = [least - 1, least, most, most + 1, -1, -2].map((seconds) => ({
    service: isFaultless((root) => checkSettings({ category }, seconds, root)),
    simulator: passes(() => checkTimeToLive(category, seconds)),
  }));
  expect(verdicts).toEqual([false, true, true, false, thirtyDays, false].map(both));
});

/** Returns the verdicts on a send: the service refuses it, or the simulator gets it as the service composes it. */
function sendingVerdicts(template: PlatformTemplate, recipient: Omit<Recipient, 'to'>, refused: Given): Verdicts {
  const contract = parameterContract(template);
  const to = '5491100000001';
  const faults = new FaultList();
  checkRecipients(contract, [{ to, ...recipient }], faults);
  const plan = compositionPlan(template, contract, {});
  const composed = faults.count === 0 ? composeMessage(plan, { to, ...recipient }, 'D-0') : refused;
  return { service: faults.count === 0, simulator: platformTakes(template, composed) };
}

function platformTakes(template: PlatformTemplate, body: unknown): boolean {
  return passes(() => {
    const { template: sent } = parseMessageBody('messages', body);
    const context = { template: templateShown(template), catalogIds: ['9'], nowMs: 0 };
    checkSentComponents(context, sent?.components ?? []);
  });
}

/** Gives the template the simulator's form. */
function templateShown(template: PlatformTemplate): Template {
  const fields = { ...template, parameter_format: 'POSITIONAL' } as unknown as Template['fields'];
  return { id: '1', wabaId: '2', place: 1, fields, components: fields.components };
}

type Params = NonNullable<Recipient['params']>;
const products = (sections: number, items: number, title: number): Params => ({
  header: ['x'],
  body: ['x'],
  products: [
    {
      type: 'action',
      action: {
        thumbnailProductRetailerId: 'p',
        sections: Array.from({ length: sections }, (_, at) => ({
          title: texts(title),
          product_items: times(at === 0 ? items - sections + 1 : 1, { product_retailer_id: 'p' }) as {
            product_retailer_id: string;
          }[],
        })),
      },
    },
  ],
});
const offered = makeTemplate(
  [
    body('Only today.'),
    { type: 'LIMITED_TIME_OFFER', limited_time_offer: { has_expiration: false } },
    buttons(copyCode),
  ],
  { category: 'MARKETING' },
);
const track = 'https://shop.example.com/orders/'.length;

const ofSends: readonly (readonly [string, number, 'most' | 'least', PlatformTemplate, (size: number) => Params])[] = [
  [
    'header once filled',
    60,
    'most',
    sendable.textHeader,
    (size) => ({ header: [texts(size - 'Order  of today'.length)], body: ['x'] }),
  ],
  [
    'body once filled',
    1_024,
    'most',
    sendable.location,
    (size) => ({ body: [texts(size - 'We wait for you, .'.length)] }),
  ],
  ['body beside an offer', 600, 'most', sendable.offer, (size) => ({ body: [texts(size - 'Only today, .'.length)] })],
  ['URL once filled', 2_000, 'most', sendable.order, (size) => ({ body: ['x', 'x'], buttons: [texts(size - track)] })],
  ['one-time code', 15, 'most', sendable.code, (size) => ({ body: [texts(size)] })],
  ['coupon', 20, 'most', sendable.coupon, (size) => ({ buttons: [texts(size)] })],
  ['coupon', 1, 'least', sendable.coupon, (size) => ({ buttons: [texts(size)] })],
  ['code of an offer', 15, 'most', offered, (size) => ({ buttons: [texts(size)] })],
  ['sections', 10, 'most', sendable.products, (size) => products(size, size, 5)],
  ['sections', 1, 'least', sendable.products, (size) => products(size, size, 5)],
  ['products', 30, 'most', sendable.products, (size) => products(2, size, 5)],
  ['title of a section', 24, 'most', sendable.products, (size) => products(1, 1, size)],
  ['spaces in a row', 4, 'most', sendable.bid, (size) => ({ body: [`a${' '.repeat(size)}b`] })],
];

describe('a send', () => {
  test.each(ofSends)('%s: %i at %s', (_, last, bound, template, made) => {
    const raw = (params: Params): Given => {
      const contract = parameterContract(template);
      return composeMessage(
        compositionPlan(template, contract, {}),
        { to: '5491100000001', params },
        'D-0',
      ) as unknown as Given;
    };
    const at = (size: number) => sendingVerdicts(withoutLocation(template), { params: made(size) }, raw(made(size)));
    expect([at(last), at(beyond(last, bound))]).toEqual([both(true), both(false)]);
  });

  test.each(['a:b', 'a|b', 'a b', 'a\u00f1o', 'fa\u00e7ade'])(
    'the value %j of a URL button is encoded here, and refused there as it came (D37)',
    (value) => {
      const params = { body: ['x', 'x'], buttons: [value] };
      expect(sendingVerdicts(sendable.order, { params }, {})).toEqual(both(true));
      const part = { type: 'button', sub_type: 'url', index: 0, parameters: [{ type: 'text', text: value }] };
      const texts = { type: 'body', parameters: times(2, { type: 'text', text: 'x' }) };
      const template = { name: 'a', language: { code: 'en' }, components: [texts, part] };
      expect(platformTakes(sendable.order, { messaging_product: 'whatsapp', to: '5491100000001', template })).toBe(
        false,
      );
    },
  );

  test.each<[string, PlatformTemplate, boolean]>([
    ['AUTHENTICATION', sendable.code, false],
    ['a bid', sendable.bid, false],
    ['MARKETING', sendable.coupon, true],
    ['UTILITY', sendable.order, true],
  ])('%s: to a number, and to a business-scoped user id: %s (131062)', (_, template, reaches) => {
    const verdictsTo = (to: string): Verdicts => {
      const faults = new FaultList();
      checkRecipients(parameterContract(template), [{ to }], faults);
      const service = !faults.listed().some(({ path }) => path.endsWith('.to'));
      const person = { input: to, key: to, userId: to, scopedUser: /^[A-Z]/.test(to) };
      return { service, simulator: passes(() => checkAddressee(templateShown(template), person)) };
    };
    expect([verdictsTo('5491100000001'), verdictsTo('US.1'), verdictsTo('US.ENT.1')]).toEqual([
      both(true),
      both(reaches),
      both(reaches),
    ]);
  });

  test('a business-scoped user id has 128 characters behind the country, or the parent id', () => {
    const send = (to: string) => ({
      ...{ did: '5491100000001', type: 'template', channel: 'MESSAGING' },
      ...{ template: { name: 'a', language: 'en' }, recipients: [{ to }] },
    });
    const ids = ['US.', 'US.ENT.'].flatMap((start) => [0, 1, 128, 129].map((length) => `${start}${texts(length)}`));
    const verdicts = ids.map((id) => ({
      service: passes(() => parseSendRequest(send(id))),
      simulator: userIdForm.test(id),
    }));
    expect(verdicts).toEqual([false, true, true, false, false, true, true, false].map(both));
    // The ids in webhooks have a rule of their own.
    expect(ids.map(isUserId)).toEqual(verdicts.map(({ service }) => service));
  });
});

/** A location's place is not part of the limit, so it is left out. */
function withoutLocation(template: PlatformTemplate): PlatformTemplate {
  return { ...template, components: template.components.filter(({ format }) => format !== 'LOCATION') };
}

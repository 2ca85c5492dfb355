import { describe, expect, test } from 'vitest';
import { FaultList } from '../../../../lib/http/fault-list.ts';
import type { Recipient } from '../../../../lib/messages/dispatch/head.ts';
import { composeMessage, compositionPlan } from '../../../../lib/messages/request/compose.ts';
import { parameterContract } from '../../../../lib/messages/request/parameter-contract.ts';
import { checkRecipients } from '../../../../lib/messages/request/recipient-rules.ts';
import { withRedirects } from '../../../../lib/redirects/rewriting.ts';
import type { PlatformTemplate } from '../../../../lib/templates/model/template.ts';
import { platformComplaints, type SentMessage } from '../../../support/platform-checker.ts';
import { makeTemplate } from '../../../support/templates.ts';

const to = '5491155550001';
const body = { type: 'BODY', text: 'Hello there, good news.' };
const link = { type: 'URL', text: 'Open', url: 'https://shop.example.com/sale' };
const tracking = { type: 'URL', text: 'Track', url: 'https://shop.example.com/orders/{{1}}', example: ['7'] };
const image = { type: 'HEADER', format: 'IMAGE', example: { header_handle: ['https://cdn.example.com/card.jpg'] } };
const card = (...buttons: readonly object[]) => ({ components: [image, body, { type: 'BUTTONS', buttons }] });

/** Returns the template as the platform does after its creation with redirects, and their codes. */
function redirected(components: readonly object[], baseUrl = 'https://go.example.com/r') {
  const made = withRedirects(components, { baseUrl, templateKey: 'abcdefghijklmnop' });
  const template = makeTemplate({
    category: 'MARKETING',
    components: made.components as PlatformTemplate['components'],
  });
  return { template, codes: made.redirects.map(({ code }) => code) };
}

function faultsOf(template: PlatformTemplate, params: Recipient['params']) {
  const faults = new FaultList();
  checkRecipients(parameterContract(template), [params === undefined ? { to } : { to, params }], faults);
  return faults.listed().map(({ path, message }) => `${path}: ${message}`);
}

function sent(template: PlatformTemplate, params: Recipient['params']) {
  expect(faultsOf(template, params)).toEqual([]);
  const plan = compositionPlan(template, parameterContract(template), {});
  const request = composeMessage(plan, params === undefined ? { to } : { to, params }, 'J-0') as unknown as SentMessage;
  expect(platformComplaints(template, request)).toEqual([]);
  return request.template.components;
}

const url = (index: number, suffix: string | undefined) => ({
  type: 'button',
  sub_type: 'url',
  index,
  parameters: [{ type: 'text', text: suffix }],
});

test('no client declares a redirect: the service fills in its code', () => {
  const { template, codes } = redirected([body, { type: 'BUTTONS', buttons: [link] }]);
  expect(sent(template, undefined)).toEqual([url(0, codes[0])]);
});

test('beside it, the other buttons are filled in order, each at its place', () => {
  const { template, codes } = redirected([body, { type: 'BUTTONS', buttons: [link, tracking] }]);
  expect(sent(template, { buttons: ['A-1'] })).toEqual([url(1, 'A-1'), url(0, codes[0])]);
});

test('in cards, each has its own', () => {
  const { template, codes } = redirected([
    body,
    { type: 'CAROUSEL', cards: [card(link, tracking), card(tracking, link)] },
  ]);
  const cards = [{ buttons: ['A-1'] }, { buttons: ['A-2'] }];
  expect(sent(template, { cards })).toMatchObject([
    {
      cards: [
        { components: [{ type: 'header' }, url(1, 'A-1'), url(0, codes[0])] },
        { components: [{ type: 'header' }, url(0, 'A-2'), url(1, codes[1])] },
      ],
    },
  ]);
});

test('templates of an earlier base URL are filled as before', () => {
  const { template, codes } = redirected([body, { type: 'BUTTONS', buttons: [link] }], 'https://old.example.com');
  expect(sent(template, undefined)).toEqual([url(0, codes[0])]);
});

describe('who declares a redirect is told', () => {
  const { template } = redirected([body, { type: 'BUTTONS', buttons: [link, tracking] }]);
  test.each([
    ['one value too many', ['x', 'A-1'], 'expected 1 value, received 2'],
    ['none for the other', [], 'expected 1 value, received 0'],
  ])('%s', (_, buttons, message) => {
    expect(faultsOf(template, { buttons })).toEqual([`recipients[0].params.buttons: ${message}`]);
  });
});

test('a template without redirects has a plan without them', () => {
  const plain = makeTemplate({ components: [body, { type: 'BUTTONS', buttons: [tracking] }] });
  expect(parameterContract(plain)).not.toMatchObject({ redirects: expect.anything() });
  expect(compositionPlan(plain, parameterContract(plain), {})).not.toMatchObject({ redirects: expect.anything() });
});

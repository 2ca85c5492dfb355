import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FaultList } from '../../../../lib/http/fault-list.ts';
import type { Recipient } from '../../../../lib/messages/dispatch/head.ts';
import { composeMessage, compositionPlan } from '../../../../lib/messages/request/compose.ts';
import { parameterContract } from '../../../../lib/messages/request/parameter-contract.ts';
import { checkRecipients } from '../../../../lib/messages/request/recipient-rules.ts';
import type { PlatformTemplate } from '../../../../lib/templates/model/template.ts';
import { platformComplaints, type SentMessage } from '../../../support/platform-checker.ts';
import { sendable } from '../../../support/platform-templates.ts';
import { headerInputFor, recipientFor } from '../../../support/recipients.ts';

const to = '5491155550001';

function planOf(template: PlatformTemplate) {
  const contract = parameterContract(template);
  const header = headerInputFor(contract);
  return compositionPlan(template, contract, {
    header,
    ...(contract.header.kind === 'product' ? { catalogId: '700' } : {}),
  });
}

function componentsOf(template: PlatformTemplate, params: Recipient['params']) {
  const request = composeMessage(planOf(template), params === undefined ? { to } : { to, params }, 'J-0');
  return (request as unknown as SentMessage).template.components;
}

test('a whole request, without components when nothing is variable', () => {
  expect(composeMessage(planOf(sendable.plain), { to: '+5491155550001' }, '01J-7')).toEqual({
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: '5491155550001',
    type: 'template',
    template: { name: 'order_update', language: { code: 'en_US' } },
    biz_opaque_callback_data: '01J-7',
  });
});

test('the account that a number sends for is named, where the operator names one', () => {
  const plan = compositionPlan(sendable.plain, parameterContract(sendable.plain), { messagingAccountId: '200' });
  expect(composeMessage(plan, { to }, 'J-0')).toMatchObject({ messaging_account_id: '200' });
  expect(composeMessage(planOf(sendable.plain), { to }, 'J-0')).not.toMatchObject({
    messaging_account_id: expect.anything(),
  });
});

test.each(['US.1aB', 'US.ENT.1aB', `US.ENT.${'9'.repeat(128)}`])('the user id %s goes into recipient, whole', (to) => {
  const { recipient, ...request } = composeMessage(planOf(sendable.plain), { to }, 'J-0');
  expect(recipient).toBe(to);
  expect(request).not.toMatchObject({ to: expect.anything() });
});

const text = (value: string) => ({ type: 'text', text: value });
const url = (index: number, suffix: string) => ({ type: 'button', sub_type: 'url', index, parameters: [text(suffix)] });
const reply = (index: number, place = `${index}`) => ({
  type: 'button',
  sub_type: 'quick_reply',
  index,
  parameters: [{ type: 'payload', payload: `tm1:J-0:${place}` }],
});
const sections = [{ title: 'Shoes', product_items: [{ product_retailer_id: 'p1' }, { product_retailer_id: 'p2' }] }];
const cardHeader = {
  type: 'header',
  parameters: [{ type: 'image', image: { link: 'https://cdn.example.com/card.jpg' } }],
};
const place = { latitude: '-34.6', longitude: '-58.4', name: 'Shop', address: 'Street 1' };

test.each<[string, PlatformTemplate, Recipient['params'], object[]]>([
  [
    'body, and a URL suffix as given but for what a URL cannot contain (D37)',
    sendable.order,
    { body: ['Ana', '17'], buttons: ['orders/A-1?x=1&y=ñ %2F#100%'] },
    [{ type: 'body', parameters: [text('Ana'), text('17')] }, url(0, 'orders/A-1?x=1&y=%C3%B1%20%2F#100%25')],
  ],
  [
    'a text header',
    sendable.textHeader,
    { header: ['17'], body: ['Ana'] },
    [
      { type: 'header', parameters: [text('17')] },
      { type: 'body', parameters: [text('Ana')] },
    ],
  ],
  [
    'an image, and quick replies that name the message and their place',
    sendable.image,
    { body: ['Ana'] },
    [
      { type: 'header', parameters: [{ type: 'image', image: { link: 'https://cdn.example.com/file' } }] },
      { type: 'body', parameters: [text('Ana')] },
      reply(0),
      reply(1),
    ],
  ],
  [
    'a video',
    sendable.video,
    {},
    [{ type: 'header', parameters: [{ type: 'video', video: { link: 'https://cdn.example.com/file' } }] }],
  ],
  [
    'a document with its name',
    sendable.document,
    {},
    [
      {
        type: 'header',
        parameters: [{ type: 'document', document: { link: 'https://cdn.example.com/file', filename: 'invoice.pdf' } }],
      },
    ],
  ],
  [
    'a location',
    sendable.location,
    { body: ['Ana'] },
    [
      { type: 'header', parameters: [{ type: 'location', location: place }] },
      { type: 'body', parameters: [text('Ana')] },
    ],
  ],
  [
    'a code, in body and button',
    sendable.code,
    { body: ['123456'] },
    [{ type: 'body', parameters: [text('123456')] }, url(0, '123456')],
  ],
  [
    'values at the absolute place of their buttons',
    sendable.mixedButtons,
    { buttons: ['17', 'SAVE'] },
    [
      url(2, '17'),
      { type: 'button', sub_type: 'copy_code', index: 3, parameters: [{ type: 'coupon_code', coupon_code: 'SAVE' }] },
      reply(0),
    ],
  ],
  [
    'several products',
    sendable.products,
    {
      header: ['Ana'],
      body: ['Ana'],
      products: [{ type: 'action', action: { thumbnailProductRetailerId: 'p1', sections } }],
    },
    [
      { type: 'header', parameters: [text('Ana')] },
      { type: 'body', parameters: [text('Ana')] },
      {
        type: 'button',
        sub_type: 'mpm',
        index: 0,
        parameters: [{ type: 'action', action: { thumbnail_product_retailer_id: 'p1', sections } }],
      },
    ],
  ],
  [
    'one product: only the header',
    sendable.product,
    { products: [{ type: 'action', action: { thumbnailProductRetailerId: 'p1' } }] },
    [{ type: 'header', parameters: [{ type: 'product', product: { product_retailer_id: 'p1', catalog_id: '700' } }] }],
  ],
  [
    'a flow button: named, without parameters',
    sendable.flow,
    {},
    [reply(0), { type: 'button', sub_type: 'flow', index: 1 }],
  ],
  ['a catalog button: nothing', sendable.catalog, { body: ['Ana'] }, [{ type: 'body', parameters: [text('Ana')] }]],
  [
    'cards with the media of the template, and quick replies that name their card',
    sendable.carousel,
    {
      body: ['Ana'],
      cards: [
        { body: ['A'], buttons: ['a'] },
        { body: ['B'], buttons: ['b'] },
      ],
    },
    [
      { type: 'body', parameters: [text('Ana')] },
      {
        type: 'carousel',
        cards: [
          {
            card_index: 0,
            components: [cardHeader, { type: 'body', parameters: [text('A')] }, url(1, 'a'), reply(0, '0.0')],
          },
          {
            card_index: 1,
            components: [cardHeader, { type: 'body', parameters: [text('B')] }, url(1, 'b'), reply(0, '1.0')],
          },
        ],
      },
    ],
  ],
])('%s', (_what, template, params, expected) => {
  expect(componentsOf(template, params)).toEqual(expected);
});

describe('whatever passes the rules, the platform accepts', () => {
  test.each(Object.entries(sendable))('%s', (_name, template) => {
    const contract = parameterContract(template);
    const plan = planOf(template);
    let passed = 0;
    fc.assert(
      fc.property(recipientFor(contract), (recipient) => {
        const faults = new FaultList();
        checkRecipients(contract, [recipient], faults);
        if (faults.count > 0) return;
        passed += 1;
        const request = composeMessage(plan, recipient, 'J-0');
        expect(platformComplaints(template, request as unknown as SentMessage)).toEqual([]);
        expect(composeMessage(plan, recipient, 'J-0')).toEqual(request);
      }),
    );
    expect(passed).toBeGreaterThan(0);
  });
});

test('what the checker accepts is not everything', () => {
  const plan = planOf(sendable.order);
  const missing = composeMessage({ ...plan, buttons: [] }, { to, params: { body: ['a'] } }, 'J-0');
  expect(platformComplaints(sendable.order, missing as unknown as SentMessage)).toHaveLength(2);
});

test.each([
  ['https://cdn.example.com/a/Invoice%20F-17.pdf?token=x#p', 'Invoice F-17.pdf'],
  ['https://cdn.example.com/o/bills%2F2026%2Ffactura%20n%C2%BA%2017.pdf', 'factura nº 17.pdf'],
  ['https://cdn.example.com/100%.pdf', '100%.pdf'],
  ['https://cdn.example.com/a%0Ab.pdf', 'ab.pdf'],
  [`https://cdn.example.com/${'x'.repeat(300)}.pdf`, `${'x'.repeat(251)}.pdf`],
  ['https://cdn.example.com/', undefined],
  ['https://cdn.example.com', undefined],
  ['https://cdn.example.com/a/%20', undefined],
])('the document %s without a name is shown as %s (D26)', (value, filename) => {
  const header = { type: 'document_url', value } as const;
  const { header: planned } = compositionPlan(sendable.document, parameterContract(sendable.document), { header });
  expect(planned).toEqual(filename === undefined ? header : { ...header, filename });
});

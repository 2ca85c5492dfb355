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
const url = (index: number, suffix: string) => button(index, 'url', 'text', suffix);
const reply = (index: number, place = `${index}`) => button(index, 'quick_reply', 'payload', `tm1:J-0:${place}`);
const sections = [{ title: 'Shoes', product_items: [{ product_retailer_id: 'p1' }, { product_retailer_id: 'p2' }] }];
const place = { latitude: '-34.6', longitude: '-58.4', name: 'Shop', address: 'Street 1' };
const body = (...values: string[]) => ({ type: 'body', parameters: values.map(text) });
const header = (type: string, value: unknown) => ({ type: 'header', parameters: [{ type, [type]: value }] });
const button = (index: number, sub_type: string, type: string, value: unknown) => ({
  type: 'button',
  sub_type,
  index,
  parameters: [{ type, [type]: value }],
});
const link = 'https://cdn.example.com/file';
const card = (card_index: number, value: string, suffix: string) => ({
  card_index,
  components: [
    header('image', { link: 'https://cdn.example.com/card.jpg' }),
    body(value),
    url(1, suffix),
    reply(0, `${card_index}.0`),
  ],
});

test.each<[string, PlatformTemplate, Recipient['params'], object[]]>([
  [
    'body, and a URL suffix as given but for what a URL cannot contain (D37)',
    sendable.order,
    { body: ['Ana', '17'], buttons: ['orders/A-1?x=1&y=ñ %2F#100%'] },
    [body('Ana', '17'), url(0, 'orders/A-1?x=1&y=%C3%B1%20%2F#100%25')],
  ],
  ['a text header', sendable.textHeader, { header: ['17'], body: ['Ana'] }, [header('text', '17'), body('Ana')]],
  [
    'an image, and quick replies that name the message and their place',
    sendable.image,
    { body: ['Ana'] },
    [header('image', { link }), body('Ana'), reply(0), reply(1)],
  ],
  ['a video', sendable.video, {}, [header('video', { link })]],
  ['a document with its name', sendable.document, {}, [header('document', { link, filename: 'invoice.pdf' })]],
  ['a location', sendable.location, { body: ['Ana'] }, [header('location', place), body('Ana')]],
  ['a code, in body and button', sendable.code, { body: ['123456'] }, [body('123456'), url(0, '123456')]],
  [
    'values at the absolute place of their buttons',
    sendable.mixedButtons,
    { buttons: ['17', 'SAVE'] },
    [url(2, '17'), button(3, 'copy_code', 'coupon_code', 'SAVE'), reply(0)],
  ],
  [
    'several products',
    sendable.products,
    {
      header: ['Ana'],
      body: ['Ana'],
      products: [{ type: 'action', action: { thumbnailProductRetailerId: 'p1', sections } }],
    },
    [header('text', 'Ana'), body('Ana'), button(0, 'mpm', 'action', { thumbnail_product_retailer_id: 'p1', sections })],
  ],
  [
    'one product: only the header',
    sendable.product,
    { products: [{ type: 'action', action: { thumbnailProductRetailerId: 'p1' } }] },
    [header('product', { product_retailer_id: 'p1', catalog_id: '700' })],
  ],
  [
    'a flow button: named, without parameters',
    sendable.flow,
    {},
    [reply(0), { type: 'button', sub_type: 'flow', index: 1 }],
  ],
  ['a catalog button: nothing', sendable.catalog, { body: ['Ana'] }, [body('Ana')]],
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
    [body('Ana'), { type: 'carousel', cards: [card(0, 'A', 'a'), card(1, 'B', 'b')] }],
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

import { beforeAll, describe, expect, test } from 'vitest';
import { synchronize } from '../support/api.ts';
import { orderParams } from '../support/order-updates.ts';
import { delivered, newRecipient, platformTemplatesOfFile, quickReply, send } from '../support/template-sends.ts';

const addTemplate = platformTemplatesOfFile();
beforeAll(() => synchronize('supervisor1001'));

describe('every kind of approved template reaches the platform as it must', () => {
  test.each([
    {
      name: 'order_update',
      language: 'en_US',
      params: orderParams,
      components: [
        {
          type: 'body',
          parameters: [
            { type: 'text', text: 'Ana' },
            { type: 'text', text: 'A-1' },
          ],
        },
        { type: 'button', sub_type: 'url', index: 0, parameters: [{ type: 'text', text: 'A-1' }] },
      ],
    },
    {
      name: 'welcome_offer',
      language: 'es',
      params: { body: ['Ana'] },
      component: { header: { type: 'image_url', value: 'https://cdn.example.com/a.png', filename: 'a.png' } },
      components: [
        { type: 'header', parameters: [{ type: 'image', image: { link: 'https://cdn.example.com/a.png' } }] },
        { type: 'body', parameters: [{ type: 'text', text: 'Ana' }] },
        quickReply(0),
        quickReply(1),
      ],
    },
    {
      name: 'store_visit',
      language: 'en_US',
      params: { body: ['Ana'] },
      component: {
        header: {
          type: 'location',
          location: { latitude: '-34.6', longitude: '-58.4', name: 'Shop', address: 'Main 1' },
        },
      },
      components: [
        {
          type: 'header',
          parameters: [
            { type: 'location', location: { latitude: '-34.6', longitude: '-58.4', name: 'Shop', address: 'Main 1' } },
          ],
        },
        { type: 'body', parameters: [{ type: 'text', text: 'Ana' }] },
      ],
    },
    {
      name: 'coupon_drop',
      language: 'en_US',
      params: { buttons: ['SAVE20SAVE20SAVE20SA'] },
      components: [
        {
          type: 'button',
          sub_type: 'copy_code',
          index: 0,
          parameters: [{ type: 'coupon_code', coupon_code: 'SAVE20SAVE20SAVE20SA' }],
        },
      ],
    },
    {
      name: 'spring_picks',
      language: 'en_US',
      params: {
        header: ['Spring'],
        body: ['Ana'],
        products: [
          {
            type: 'action',
            action: {
              thumbnailProductRetailerId: 'sku-1',
              sections: [
                { title: 'New', product_items: [{ product_retailer_id: 'sku-1' }, { product_retailer_id: 'sku-2' }] },
              ],
            },
          },
        ],
      },
      components: [
        { type: 'header', parameters: [{ type: 'text', text: 'Spring' }] },
        { type: 'body', parameters: [{ type: 'text', text: 'Ana' }] },
        {
          type: 'button',
          sub_type: 'mpm',
          index: 0,
          parameters: [
            {
              type: 'action',
              action: {
                thumbnail_product_retailer_id: 'sku-1',
                sections: [
                  { title: 'New', product_items: [{ product_retailer_id: 'sku-1' }, { product_retailer_id: 'sku-2' }] },
                ],
              },
            },
          ],
        },
      ],
    },
  ])('$name', async ({ name, language, params, component, components }) => {
    const to = newRecipient();
    const reply = await send({
      template: { name, language },
      recipients: [{ to, params }],
      extra: component === undefined ? {} : { component },
    });
    expect(reply).toMatchObject({ status: 200, body: { success: true } });
    const message = await delivered(to);
    expect(message).toMatchObject({ to, phone_number_id: '300000000000001' });
    expect(message.request).toMatchObject({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to,
      type: 'template',
      template: { name, language: { code: language }, components },
    });
    expect(message.request.biz_opaque_callback_data).toBe(`${reply.headers.get('dispatch-id')}-0`);
  });

  test('login_code: the code fills body and button', async () => {
    const to = newRecipient();
    await send({
      template: { name: 'login_code', language: 'en_US' },
      recipients: [{ to, params: { body: ['123456'] } }],
    }).then((reply) => expect(reply.status).toBe(200));
    expect((await delivered(to)).request.template.components).toEqual([
      { type: 'body', parameters: [{ type: 'text', text: '123456' }] },
      { type: 'button', sub_type: 'url', index: 0, parameters: [{ type: 'text', text: '123456' }] },
    ]);
  });

  test('single_pick: the product header carries the catalog of the WABA', async () => {
    const to = newRecipient();
    const products = [{ type: 'action', action: { thumbnailProductRetailerId: 'sku-9' } }];
    expect(
      await send({ template: { name: 'single_pick', language: 'en_US' }, recipients: [{ to, params: { products } }] }),
    ).toMatchObject({ status: 200 });
    const header = (await delivered(to)).request.template.components[0];
    expect(header).toMatchObject({
      type: 'header',
      parameters: [
        { type: 'product', product: { product_retailer_id: 'sku-9', catalog_id: expect.stringMatching(/^\d+$/) } },
      ],
    });
  });

  test('bid_offer goes to the marketing edge, the others do not (D30)', async () => {
    const [bid, plain] = [newRecipient(), newRecipient()];
    expect(await send({ template: { name: 'bid_offer', language: 'en_US' }, recipients: [{ to: bid }] })).toMatchObject(
      { status: 200 },
    );
    expect(await send({ recipients: [{ to: plain, params: orderParams }] })).toMatchObject({ status: 200 });
    expect((await delivered(bid)).path).toContain('/marketing_messages');
    expect((await delivered(plain)).path).not.toContain('marketing');
  });
});

test('flow buttons and quick replies are named in the message, what needs no part is not; an unknown kind is refused by name (D23)', async () => {
  const buttons = (...list: unknown[]) => [
    { type: 'BODY', text: 'x' },
    { type: 'BUTTONS', buttons: list },
  ];
  const flow = await addTemplate({
    components: buttons({ type: 'QUICK_REPLY', text: 'Stop' }, { type: 'FLOW', text: 'Book', flow_id: '1' }),
  });
  const to = newRecipient();
  const sent = await send({ template: flow.template, recipients: [{ to }] });
  expect((await delivered(to)).request.template.components).toEqual([
    quickReply(0, String(sent.headers.get('dispatch-id'))),
    { type: 'button', sub_type: 'flow', index: 1 },
  ]);
  const asking = { components: [...buttons({ type: 'REQUEST_CONTACT_INFO' }), { type: 'CALL_PERMISSION_REQUEST' }] };
  const { template } = await addTemplate({ category: 'UTILITY', ...asking });
  const asked = newRecipient();
  expect(await send({ template, recipients: [{ to: asked }] })).toMatchObject({ status: 200 });
  expect((await delivered(asked)).request.template.components ?? []).toEqual([]);
  const unknown = await addTemplate({ components: buttons({ type: 'APP', text: 'Open' }) });
  expect(await send({ template: unknown.template, recipients: [{ to: newRecipient() }] })).toMatchObject({
    status: 422,
    body: { code: 'template_not_sendable', message: expect.stringContaining('button of type APP (buttons[0])') },
  });
});

test('URL button values arrive as given, but for what the platform wants encoded (D37)', async () => {
  const to = newRecipient();
  const params = { body: ['Ana', 'A-1'], buttons: ['orders/A-1?x=1&n=Ñ%20:|#top'] };
  expect(await send({ recipients: [{ to, params }] })).toMatchObject({ status: 200 });
  const [, button] = (await delivered(to)).request.template.components;
  expect(button.parameters).toEqual([{ type: 'text', text: 'orders/A-1?x=1&n=%C3%91%20%3A%7C#top' }]);
});

test('a template with a time to live of its own goes to /marketing_messages (D30)', async () => {
  const { template } = await addTemplate({ message_send_ttl_seconds: 43_200 });
  const to = newRecipient();
  expect(await send({ template, recipients: [{ to }] })).toMatchObject({ status: 200 });
  expect((await delivered(to)).path).toContain('/marketing_messages');
});

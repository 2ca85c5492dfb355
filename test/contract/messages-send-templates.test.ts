import { beforeAll, describe, expect, test } from 'vitest';
import { synchronize } from '../support/api.ts';
import { orderParams } from '../support/sends.ts';
import { delivered, newRecipient, platformTemplatesOfFile, quickReply, send } from '../support/template-sends.ts';

const addTemplate = platformTemplatesOfFile();
beforeAll(() => synchronize('supervisor1001'));

// Each kind of component is in test/lib/messages/request/compose.test.ts, a whole request in contract/end-to-end.test.ts.
describe('what only the platform or the WABA knows of a template', () => {
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

test('a template with a time to live of its own goes to /marketing_messages (D30)', async () => {
  const { template } = await addTemplate({ message_send_ttl_seconds: 43_200 });
  const to = newRecipient();
  expect(await send({ template, recipients: [{ to }] })).toMatchObject({ status: 200 });
  expect((await delivered(to)).path).toContain('/marketing_messages');
});

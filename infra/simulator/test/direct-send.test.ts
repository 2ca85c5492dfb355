import { describe, expect, test } from 'vitest';
import { expectManagementError } from './support/definitions.ts';
import { hearing } from './support/heard.ts';
import { expectMessagingError } from './support/refusals.ts';
import { firstNumber, firstWaba, recipient, simulatorOfFile, templateMessage } from './support/simulator.ts';

/* A direct send is a text with a category, from which the platform makes a template itself. */

const simulator = simulatorOfFile({ afresh: true });
const heard = hearing(simulator);
const text = 'Your order is on its way.';
const direct = (changes: object = {}) =>
  simulator.post(`${firstNumber}/messages`, {
    ...{ messaging_product: 'whatsapp', to: recipient, type: 'text', text: { body: text }, category: 'utility' },
    ...changes,
  });
const allow = (word: string | null = 'ENABLED') =>
  simulator.control('POST', `wabas/${firstWaba}`, { direct_send: word });
const portfolioOf = (tier: string) =>
  simulator.control('POST', 'businesses/400000000000001', { whatsapp_business_manager_messaging_limit: tier });
const listed = async () =>
  (
    await simulator.get(`${firstWaba}/message_templates`, {
      source: 'AUTO_GENERATED',
      fields: 'name,source,status,category',
    })
  ).body.data;

describe('refused', () => {
  const notEnabled =
    /^Parameter Invalid: The 'category' value requires Direct Send, which isn't enabled for this account\. Use an approved message template instead\.$/;

  test('where it is not enabled, or was blocked, or the portfolio is too small', async () => {
    expectMessagingError(await direct(), 400, 100, notEnabled);
    await allow('BLOCKED');
    expectMessagingError(await direct(), 400, 139200, /^Direct Send is blocked for this account$/);
    await allow();
    await portfolioOf('TIER_10K');
    expectMessagingError(await direct(), 400, 100, notEnabled);
    await portfolioOf('TIER_100K');
    expect((await direct()).status).toBe(200);
    await allow(null);
    expectMessagingError(await direct(), 400, 100, notEnabled);
  });

  test.each<[object, string | RegExp]>([
    [{ ttl_seconds: 60, category: undefined }, /'ttl_seconds' requires 'category'/],
    [{ direct_send_config: { template_name: 'x' }, category: undefined }, /requires 'category'/],
    [{ ttl_seconds: 29 }, /must be 30 to 43200/],
    [{ ttl_seconds: 43_201 }, /must be 30 to 43200/],
    [{ ttl_seconds: 901, category: 'authentication' }, /must be 30 to 900/],
    [templateMessage('order_update', []), /does not go with a template/],
  ])('%j: 100', async (changes, details) => {
    await allow();
    expectMessagingError(await direct(changes), 400, 100, details);
    expect(await listed()).toEqual([]);
  });

  test('ttl_seconds of a template; a category that is none; a code to a user id; the name of a template', async () => {
    await allow();
    expectMessagingError(await simulator.send(recipient, { ttl_seconds: 60 }), 400, 100, /'ttl_seconds' requires/);
    expect((await direct({ category: 'marketing' })).body.error.message).toContain('Param category must be one of');
    const code = { to: undefined, recipient: 'AR.1', category: 'authentication' };
    expectMessagingError(await direct(code), 400, 131062, undefined);
    const named = await direct({ direct_send_config: { template_name: 'order_update' } });
    expect([named.status, named.body.error.code]).toEqual([400, 100]);
  });

  test('UTILITY alone, while classification has limited the WABA', async () => {
    await allow();
    await simulator.control('POST', `wabas/${firstWaba}/holds`, { code: 131064 });
    expectMessagingError(await direct(), 400, 131064, /direct send messages/);
    expect((await direct({ category: 'authentication' })).status).toBe(200);
  });
});

test('accepted: the text is a template from then on, one for each text, which its statuses name', async () => {
  await allow();
  const { body } = await direct({ ttl_seconds: 43_200 });
  expect(body.messages).toEqual([{ id: expect.any(String), message_status: 'accepted' }]);
  await direct();
  await direct({ text: { body: 'Another.' }, direct_send_config: { template_name: 'order_delivery' } });
  const [first, second] = await listed();
  const common = { source: 'AUTO_GENERATED', status: 'APPROVED', category: 'UTILITY' };
  expect(await listed()).toEqual([
    { ...common, id: first.id, name: expect.stringMatching(/^auto_generated_text_\w+$/) },
    { ...common, id: second.id, name: 'order_delivery' },
  ]);
  await heard.wait(4);
  const pricing = { billable: true, pricing_model: 'PMP', type: 'regular', category: 'utility' };
  const told = await heard.statuses();
  expect(told[0]).toMatchObject({ status: 'sent', template_id: first.id, pricing });
  expect(told.map((status) => status.template_id).sort()).toEqual(
    [first.id, first.id, first.id, first.id, first.id, first.id, second.id, second.id, second.id].sort(),
  );
  expectManagementError(await simulator.post(first.id, { components: [{ type: 'BODY', text: 'x' }] }), 2388318, /./);
  const removed = await simulator.call('DELETE', `/v25.0/${firstWaba}/message_templates?name=order_delivery`);
  expectManagementError(removed, 2388330, /./);
  const inbox = await simulator.control('GET', 'inbox');
  expect(inbox.body.data[1]).toMatchObject({ category: 'UTILITY', preview: text });
});

import { describe, expect, test } from 'vitest';
import {
  bodyOf,
  demoTemplates,
  expectGraphError,
  expectManagementError,
  templateWords,
} from './support/definitions.ts';
import { simulatorOfFile } from './support/simulator.ts';

const simulator = simulatorOfFile({ afresh: true });

const day = 86_400;
const { create, wait, read, statusOf, edit } = templateWords(simulator);
const { orderUpdate, pending, disabled, rejected, paused } = demoTemplates;
const other = { components: [bodyOf('Hello {{1}}, look again.')] };

describe('edit', () => {
  test('replaces the components, goes through review and keeps id, name and language', async () => {
    const edited = await edit(orderUpdate, other);
    const told = { success: true, id: orderUpdate, name: 'order_update', category: 'UTILITY' };
    expect([edited.status, edited.body]).toEqual([200, told]);
    const fields = 'name,language,category,status,components';
    const same = { name: 'order_update', language: 'en_US', category: 'UTILITY', components: other.components };
    expect(await read(orderUpdate, fields)).toEqual({ ...same, status: 'PENDING' });
    await wait(60);
    expect(await read(orderUpdate, fields)).toEqual({ ...same, status: 'APPROVED' });
  });

  test('a rejected one may change its category; the reason is gone', async () => {
    expect((await edit(rejected, { category: 'utility', ...other })).status).toBe(200);
    expect(await read(rejected, 'status,category,rejected_reason')).toEqual({
      status: 'PENDING',
      category: 'UTILITY',
      rejected_reason: 'NONE',
    });
  });

  test('REVIEW_NEVER stays PENDING, REJECT_... is rejected after an edit too', async () => {
    await edit(orderUpdate, { components: [bodyOf('REVIEW_NEVER please.')] });
    await edit(paused, { components: [bodyOf('REJECT_SCAM please.')] });
    await wait(60);
    expect([await statusOf(orderUpdate), await statusOf(paused)]).toEqual(['PENDING', 'REJECTED']);
  });

  test.each([
    ['PENDING', pending],
    ['DISABLED', disabled],
  ])('2388039: %s', async (status, id) => {
    expectManagementError(await edit(id, other), 2388039, new RegExp(status));
    expect(await statusOf(id)).toBe(status);
  });

  test.each(['IN_APPEAL', 'ARCHIVED', 'LIMIT_EXCEEDED', 'PENDING_DELETION'])('2388039: %s', async (status) => {
    await simulator.control('POST', `templates/${orderUpdate}`, { status });
    expectManagementError(await edit(orderUpdate, other), 2388039, new RegExp(status));
  });

  test('the rules for components are those of a creation', async () => {
    expectManagementError(await edit(orderUpdate, { components: [bodyOf('{{1}} is here.')] }), 2388299, /body/);
    expectManagementError(await edit(orderUpdate, { components: [] }), undefined, /BODY is required/);
    expect(await statusOf(orderUpdate)).toBe('APPROVED');
  });

  test.each<[RegExp, string, unknown]>([
    [/Unexpected key "name"/, orderUpdate, { name: 'other', ...other }],
    [/Unexpected key "language"/, orderUpdate, { language: 'es', ...other }],
    [/Nothing to change/, orderUpdate, {}],
    [/message_send_ttl_seconds/, orderUpdate, { message_send_ttl_seconds: 29 }],
    [/Param components must be an array/, orderUpdate, { components: 'none' }],
  ])('%s', async (message, id, change) => {
    expectGraphError(await edit(id, change), message);
  });

  test('the category of an approved one is frozen; naming it unchanged is no change', async () => {
    expectManagementError(await edit(orderUpdate, { category: 'MARKETING', ...other }), undefined, /approved/);
    expect((await edit(orderUpdate, { category: 'UTILITY', ...other })).status).toBe(200);
  });

  test('all languages of a name share one category', async () => {
    await create({ name: 'spring_rejected', language: 'en_US' });
    expectManagementError(await edit(rejected, { category: 'UTILITY', ...other }), undefined, /languages/);
  });

  test('a maximum price is changed where there is one, and added to a marketing template that has none', async () => {
    const optimization_spec = { bid_amount: 9_000, bid_strategy: 'LOWEST_COST_WITH_BID_CAP' };
    for (const id of ['1100000000000009', rejected]) {
      expect((await edit(id, { optimization_spec })).status).toBe(200);
      expect(await read(id, 'optimization_spec')).toEqual({ optimization_spec });
    }
    expectManagementError(await edit(orderUpdate, { optimization_spec }), undefined, /optimization_spec/);
  });

  test('the maximum price of an approved one: a hundred times in an hour, and none of it is an edit of the rest', async () => {
    const bidding = '1100000000000009';
    const price = (bid_amount: number) => ({
      optimization_spec: { bid_amount, bid_strategy: 'LOWEST_COST_WITH_BID_CAP' },
    });
    const approve = () => simulator.control('POST', `templates/${bidding}`, { status: 'APPROVED' });
    for (let count = 1; count <= 100; count += 1) {
      expect((await edit(bidding, price(count))).status).toBe(200);
      await approve();
    }
    expectManagementError(await edit(bidding, price(101)), 2388039, /100 times in an hour/);
    expect((await edit(bidding, other)).status).toBe(200);
    await approve();
    await wait(day / 24);
    expect((await edit(bidding, price(101))).status).toBe(200);
  });

  test('an approved one: once in 24 hours', async () => {
    await edit(orderUpdate, other);
    await wait(day - 1);
    expectManagementError(await edit(orderUpdate, other), 2388039, /24 hours/);
    await wait(1);
    expect((await edit(orderUpdate, other)).status).toBe(200);
  });

  test('an approved one: ten times in 30 days', async () => {
    for (let count = 0; count < 10; count += 1) {
      expect((await edit(orderUpdate, other)).status).toBe(200);
      await wait(day);
    }
    expectManagementError(await edit(orderUpdate, other), 2388039, /30 days/);
    await wait(20 * day - 1);
    expectManagementError(await edit(orderUpdate, other), 2388039, /30 days/);
    await wait(1);
    expect((await edit(orderUpdate, other)).status).toBe(200);
  });

  test('a rejected one: as often as one likes, and none of it counts later', async () => {
    for (let count = 0; count < 12; count += 1) {
      expect((await edit(rejected, { components: [bodyOf('REVIEW_NOW and REJECT_SCAM.')] })).status).toBe(200);
    }
    await edit(rejected, other);
    await wait(60);
    expect((await edit(rejected, other)).status).toBe(200);
  });
});

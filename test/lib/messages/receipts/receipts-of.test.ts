import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { ReceiptSchema } from '../../../../lib/messages/receipts/receipt.ts';
import { receiptsOf } from '../../../../lib/messages/receipts/receipts-of.ts';
import type { PlatformUpdate } from '../../../../lib/platform/webhook/envelope.ts';
import { statusChange, statusOf } from '../../../support/platform-webhook.ts';

const dispatchId = '01JD0000000000000000000000';
const arrivedAtMs = 1_800_000_000_123;
const toldOf = (...statuses: readonly unknown[]) =>
  receiptsOf([{ wabaId: '11', ...statusChange('31', ...statuses) }], arrivedAtMs);
const receiptOf = (more: Readonly<Record<string, unknown>>) =>
  toldOf(statusOf(`${dispatchId}-7`, more)).numbers[0]?.receipts[0];

test('a status of one of our messages is a receipt', () => {
  const pricing = { billable: true, pricing_model: 'PMP', type: 'regular', category: 'marketing' };
  expect(toldOf(statusOf(`${dispatchId}-7`, { pricing: { ...pricing, tier: 3 } }))).toEqual({
    numbers: [
      {
        wabaId: '11',
        phoneNumberId: '31',
        receipts: [
          {
            dispatchId,
            index: 7,
            status: 'delivered',
            atMs: 1_750_030_073_000,
            platformMessageId: `wamid.${dispatchId}-7`,
            pricing,
            waId: '16505551234',
          },
        ],
      },
    ],
    total: 1,
    foreign: 0,
    unreadable: 0,
  });
});

test('a failure has the code of its first error as text, and the clearest of its texts', () => {
  const error = { code: 131049, title: 'title', message: 'message', error_data: { details: 'details' } };
  const failed = (...errors: readonly unknown[]) => receiptOf({ status: 'failed', errors });
  expect(failed(error, { code: 1 })).toMatchObject({ status: 'failed', code: '131049', reason: 'details' });
  expect(failed({ ...error, error_data: { details: 7 } })).toMatchObject({ reason: 'message' });
  expect(failed({ ...error, error_data: null, message: '' })).toMatchObject({ reason: 'title' });
  expect(failed({ code: '131026' })).toMatchObject({ code: '131026' });
  for (const none of [failed(), failed(null), failed({}), receiptOf({ status: 'failed', errors: 'x' })]) {
    expect(none).not.toMatchObject({ code: expect.anything() });
    expect(none).not.toMatchObject({ reason: expect.anything() });
  }
});

describe('the recipient of a message (platform reference, 10.2)', () => {
  const userId = 'US.13491208655302741918';
  const waId = '16505551234';
  const contact = { profile: { username: 'sheena' }, wa_id: waId, user_id: userId };
  const named = (more: object, contacts?: unknown, ...others: readonly unknown[]) => {
    const { field, value } = statusChange(
      '31',
      statusOf(`${dispatchId}-7`, { recipient_id: undefined, ...more }),
      ...others,
    );
    const [receipt] =
      receiptsOf([{ wabaId: '11', field, value: { ...value, contacts } }], 0).numbers[0]?.receipts ?? [];
    return { userId: receipt?.userId, waId: receipt?.waId };
  };

  test.each<readonly [string, object, unknown, object]>([
    ['both ids', { recipient_id: waId, recipient_user_id: userId }, [contact], { userId, waId }],
    ['a number before 2026', { recipient_id: waId }, undefined, { waId }],
    [
      'the user id alone: the number may not be shown',
      { recipient_user_id: userId },
      [{ user_id: userId }],
      { userId },
    ],
    ['a failure, without contacts', { status: 'failed', recipient_user_id: userId }, undefined, { userId }],
    ['the user id by the contact of the number', { recipient_id: waId }, [{ wa_id: '1' }, contact], { userId, waId }],
    ['the number by the contact of the user id', { recipient_user_id: userId }, [contact], { userId, waId }],
    ['the only contact of the only status', {}, [contact], { userId, waId }],
    ['one of two contacts, which is not said', {}, [contact, contact], {}],
    ['a contact of another person', { recipient_id: waId }, [{ wa_id: '19995550000', user_id: 'US.2' }], { waId }],
    [
      'the person and the parent id',
      { recipient_user_id: userId, recipient_parent_user_id: 'US.ENT.1' },
      [],
      { userId },
    ],
    ['a group', { recipient_type: 'group', recipient_id: waId, recipient_user_id: userId }, [contact], {}],
    ['ids that are none', { recipient_id: 7, recipient_user_id: 'us.1' }, { 0: contact }, {}],
    ['an id that is too long', { recipient_user_id: `US.${'1'.repeat(129)}` }, undefined, {}],
  ])('%s', (_, more, contacts, person) => {
    expect(named(more, contacts)).toEqual({ userId: undefined, waId: undefined, ...person });
  });

  test('the only contact of two statuses is of neither', () => {
    expect(named({}, [contact], statusOf(`${dispatchId}-8`))).toEqual({ userId: undefined, waId: undefined });
  });
});

test.each<readonly [unknown, number]>([
  ['1750030073', 1_750_030_073_000],
  [1_750_030_073, 1_750_030_073_000],
  ['1750030073.987', 1_750_030_073_000],
  [1_750_030_073.987, 1_750_030_073_000],
  ['', arrivedAtMs],
  ['soon', arrivedAtMs],
  ['1750030073abc', arrivedAtMs],
  ['-1750030073', arrivedAtMs],
  ['0', arrivedAtMs],
  [Number.MAX_VALUE, arrivedAtMs],
  ['1750030073000', arrivedAtMs],
  ['9'.repeat(400), arrivedAtMs],
  [null, arrivedAtMs],
  [undefined, arrivedAtMs],
  [{ seconds: 1 }, arrivedAtMs],
  [['1750030073'], arrivedAtMs],
])('the timestamp %j is told as %d', (timestamp, atMs) => {
  expect(receiptOf({ timestamp })?.atMs).toBe(atMs);
});

test.each(['accepted', 'warning', 'DELIVERED', 'played'])('the status %j is kept as told', (status) => {
  expect(receiptOf({ status })?.status).toBe(status);
});

test.each<readonly [string, unknown]>([
  ['none', undefined],
  ["somebody else's", 'order-1234'],
  ['a number', 7],
  ['empty', ''],
  ['one of ours with more behind it', `${dispatchId}-7-1`],
  ['one of ours with something before it', ` ${dispatchId}-7`],
  ['a line more', `${dispatchId}-7\n`],
  ['an index that we never write', `${dispatchId}-07`],
  ['an index that no dispatch has', `${dispatchId}-100000`],
  ['a message id in small letters', `${dispatchId.toLowerCase()}x-7`],
])('a status with callback data that are not ours is foreign: %s', (_, biz_opaque_callback_data) => {
  const { numbers, foreign, unreadable } = toldOf(
    statusOf(undefined, { biz_opaque_callback_data }),
    statusOf(`${dispatchId}-1`),
  );
  expect([numbers[0]?.receipts.map(({ index }) => index), foreign, unreadable]).toEqual([[1], 1, 0]);
});

test.each<readonly [string, unknown]>([
  ['no object', 7],
  ['null', null],
  ['a list', [statusOf(`${dispatchId}-7`)]],
  ['without id', statusOf(`${dispatchId}-7`, { id: undefined })],
  ['with an id that is no text', statusOf(`${dispatchId}-7`, { id: 7 })],
  ['without status', statusOf(`${dispatchId}-7`, { status: undefined })],
  ['with an empty status', statusOf(`${dispatchId}-7`, { status: '' })],
])('a status that cannot be read is counted, and the others count: %s', (_, status) => {
  const { numbers, foreign, unreadable } = toldOf(status, statusOf(`${dispatchId}-1`));
  expect([numbers[0]?.receipts.map(({ index }) => index), foreign, unreadable]).toEqual([[1], 0, 1]);
});

test.each<readonly [string, unknown]>([
  ['no metadata', undefined],
  ['no number', {}],
  ['a number that is none', { phone_number_id: 'x' }],
])('statuses of %s are unreadable', (_, metadata) => {
  const value = { metadata, statuses: [statusOf(`${dispatchId}-1`), statusOf(`${dispatchId}-2`)] };
  expect(receiptsOf([{ wabaId: '11', field: 'messages', value }], 0)).toMatchObject({ numbers: [], unreadable: 2 });
});

test('other fields, and messages of people, tell of no receipts', () => {
  const statuses = [statusOf(`${dispatchId}-1`)];
  const updates = [
    { wabaId: '11', field: 'message_template_status_update', value: { metadata: { phone_number_id: '31' }, statuses } },
    { wabaId: '11', field: 'messages', value: { metadata: { phone_number_id: '31' }, messages: [{ id: 'wamid.1' }] } },
  ];
  expect(receiptsOf(updates, 0)).toEqual({ numbers: [], total: 0, foreign: 0, unreadable: 0 });
});

test('receipts of a number stand together, and WABAs apart, also when their numbers are called alike', () => {
  const updates = [
    { wabaId: '11', ...statusChange('31', statusOf(`${dispatchId}-1`)) },
    { wabaId: '12', ...statusChange('31', statusOf(`${dispatchId}-2`)) },
    { wabaId: '11', ...statusChange('32', statusOf(`${dispatchId}-3`)) },
    { wabaId: '11', ...statusChange('31', statusOf(`${dispatchId}-4`), statusOf(`${dispatchId}-5`)) },
  ];
  expect(
    receiptsOf(updates, 0).numbers.map(({ wabaId, phoneNumberId, receipts }) => [
      wabaId,
      phoneNumberId,
      receipts.map(({ index }) => index),
    ]),
  ).toEqual([
    ['11', '31', [1, 4, 5]],
    ['12', '31', [2]],
    ['11', '32', [3]],
  ]);
});

test('long texts are cut, whole characters only', () => {
  const long = (unit: string) => unit.repeat(3_000);
  const receipt = receiptOf({
    id: long('i'),
    status: long('s'),
    errors: [{ code: long('9'), error_data: { details: `x${long('\u{1f355}')}` } }],
    pricing: { category: long('c') },
  });
  expect(receipt?.platformMessageId).toHaveLength(256);
  expect(receipt?.status).toHaveLength(32);
  expect(receipt?.code).toHaveLength(32);
  expect(receipt?.pricing?.category).toHaveLength(32);
  expect(receipt?.reason).toHaveLength(1_000);
  expect(receipt?.reason?.isWellFormed()).toBe(true);
});

test('whatever an update says: no error, nothing lost without a count, and receipts as the queue has them', () => {
  const anything = fc.oneof({ maxDepth: 2 }, fc.jsonValue(), fc.string());
  const mostly = <T>(good: T) =>
    fc.oneof({ weight: 3, arbitrary: fc.constant(good) }, { weight: 1, arbitrary: anything });
  const status = fc.oneof(
    anything,
    fc.record({
      id: mostly('wamid.1'),
      status: mostly('failed'),
      timestamp: anything,
      biz_opaque_callback_data: mostly(`${dispatchId}-7`),
      recipient_id: mostly('16505551234'),
      recipient_user_id: mostly('US.1'),
      errors: fc.oneof(
        anything,
        fc.array(fc.oneof(anything, fc.record({ code: anything, message: anything, error_data: anything }))),
      ),
      pricing: fc.oneof(anything, fc.record({ billable: anything, category: anything, type: anything })),
    }),
  );
  const update = fc.record({
    field: mostly('messages'),
    metadata: mostly({ phone_number_id: '31' }),
    contacts: mostly([{ wa_id: '16505551234', user_id: 'US.1' }]),
    statuses: fc.array(status, { maxLength: 5 }),
  });
  fc.assert(
    fc.property(fc.array(update, { maxLength: 4 }), (drawn) => {
      const updates = drawn.map(({ field, ...value }): PlatformUpdate => {
        return { wabaId: '11', field: typeof field === 'string' ? field : 'another', value };
      });
      const { numbers, total, foreign, unreadable } = receiptsOf(updates, arrivedAtMs);
      const receipts = numbers.flatMap((number) => number.receipts);
      const statuses = drawn.filter(({ field }) => field === 'messages').flatMap((each) => each.statuses);
      expect(total).toBe(receipts.length);
      expect(total + foreign + unreadable).toBe(statuses.length);
      for (const receipt of receipts) expect(v.parse(v.strictObject(ReceiptSchema.entries), receipt)).toEqual(receipt);
    }),
    { numRuns: 500 },
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { idOf, updatesIn } from '../../../../lib/platform/webhook/envelope.ts';
import { platformJson, statusChange, statusOf, webhookOf } from '../../../support/platform-webhook.ts';

const ours = new Set(['11', '12']);
const change = { field: 'messages', value: { statuses: [] } };
const read = (value: unknown) => updatesIn(platformJson(value), ours);

test('each change of each entry is an update of its WABA, of the time of the entry', () => {
  const body = { entry: [...webhookOf('11', change, change).entry, ...webhookOf('12', change).entry] };
  expect(read(body)).toEqual({
    updates: ['11', '11', '12'].map((wabaId) => ({ wabaId, atMs: 1_750_030_073_000, ...change })),
    foreign: 0,
    unreadable: 0,
  });
});

test.each<
  readonly [string, unknown, { readonly updates?: number; readonly foreign?: number; readonly unreadable?: number }]
>([
  ['nothing', {}, { unreadable: 1 }],
  ['no object', [webhookOf('11', change)], { unreadable: 1 }],
  ['null', null, { unreadable: 1 }],
  ['entries that are none', { entry: {} }, { unreadable: 1 }],
  ['no entry', { entry: [] }, {}],
  [
    'an entry that is none, beside one',
    { entry: [7, ...webhookOf('11', change).entry] },
    { updates: 1, unreadable: 1 },
  ],
  ['a WABA of somebody else', webhookOf('13', change, change), { foreign: 2 }],
  ['a WABA id that is a number', { entry: [{ id: 11, changes: [change] }] }, { updates: 1 }],
  ['a WABA id called as what every object has', webhookOf('constructor', change), { unreadable: 1 }],
  ['changes that are none', { entry: [{ id: '11', changes: 'x' }] }, { unreadable: 1 }],
  ['a change without field', webhookOf('11', { field: 7 as never, value: {} }, change), { updates: 1, unreadable: 1 }],
  ['a value that is a list', webhookOf('11', { field: 'messages', value: [] }, change), { updates: 1, unreadable: 1 }],
  ['an unknown field', webhookOf('11', { field: 'flows', value: { a: 1 } }), { updates: 1 }],
])('%s', (_, body, { updates = 0, foreign = 0, unreadable = 0 }) => {
  const told = read(body);
  expect([told.updates.length, told.foreign, told.unreadable]).toEqual([updates, foreign, unreadable]);
  expect(told.foreignWabaId).toBe(foreign === 0 ? undefined : '13');
});

test.each([
  [1_750_030_073, 1_750_030_073_000],
  ['1750030073', 1_750_030_073_000],
  [1_750_030_073.9, 1_750_030_073_000],
  [1_750_030_073_000, undefined],
  ['soon', undefined],
  [0, undefined],
  [null, undefined],
  [undefined, undefined],
])('an entry of the time %j is of %j', (time, atMs) => {
  const [update] = read({ entry: [{ id: '11', time, changes: [change] }] }).updates;
  expect(update).toEqual(atMs === undefined ? { wabaId: '11', ...change } : { wabaId: '11', atMs, ...change });
});

test('no JSON at all is unreadable, base64 or text', () => {
  for (const body of ['', '{"entry":', Buffer.from([0xff, 0xfe]), '['.repeat(100_000)]) {
    expect(updatesIn(body, ours)).toEqual({ updates: [], foreign: 0, unreadable: 1 });
  }
});

test('3 MB of one entry are read whole', () => {
  const statuses = Array.from({ length: 11_000 }, (_, index) =>
    statusOf(`01JD0000000000000000000000-${index % 10_000}`),
  );
  const body = platformJson(webhookOf('11', statusChange('31', ...statuses)));
  expect(body.length).toBeGreaterThan(2_000_000);
  const [update] = updatesIn(Buffer.from(body), ours).updates;
  expect(update?.value['statuses']).toHaveLength(11_000);
});

test('whatever comes, it is read without an error, and only of our WABAs (D38)', () => {
  const anything = fc.oneof({ maxDepth: 3 }, fc.jsonValue(), fc.constantFrom('11', '12', '13', 'messages'));
  const changes = fc.oneof(
    anything,
    fc.array(fc.oneof(anything, fc.record({ field: anything, value: anything }, { requiredKeys: [] }))),
  );
  const entries = fc.oneof(
    anything,
    fc.array(fc.oneof(anything, fc.record({ id: anything, changes }, { requiredKeys: [] }))),
  );
  fc.assert(
    fc.property(fc.oneof(anything, fc.record({ entry: entries })), (value) => {
      const { updates, foreign, unreadable } = read(value);
      expect(updates.every(({ wabaId }) => ours.has(wabaId))).toBe(true);
      expect(Math.min(foreign, unreadable)).toBeGreaterThanOrEqual(0);
    }),
    { numRuns: 500 },
  );
});

test.each([
  [0, '0'],
  [9_007_199_254_740_991, '9007199254740991'],
  [9_007_199_254_740_992, undefined],
  [1.5, undefined],
  [-1, undefined],
  ['00123', '00123'],
  ['9007199254740993', '9007199254740993'],
  ['1'.repeat(33), undefined],
  ['12x', undefined],
  ['', undefined],
  [null, undefined],
  [true, undefined],
])('the id %j is %j', (value, id) => {
  expect(idOf(value)).toBe(id);
});

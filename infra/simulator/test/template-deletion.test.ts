import { describe, expect, test } from 'vitest';
import { creation, demoTemplates, expectGraphError, expectManagementError } from './support/definitions.ts';
import { firstWaba, secondWaba, simulatorOfFile } from './support/simulator.ts';

const simulator = simulatorOfFile({ afresh: true });

const day = 86_400;
const { orderUpdate, pending, disabled } = demoTemplates;
const path = `${firstWaba}/message_templates`;
const create = (changes: Readonly<Record<string, unknown>> = {}) => simulator.post(path, creation(changes));
const wait = (seconds: number) => simulator.control('POST', 'clock', { advance_seconds: seconds });
const remove = (query: Readonly<Record<string, string>>, waba = firstWaba) =>
  simulator.call('DELETE', `/v25.0/${waba}/message_templates?${new URLSearchParams(query)}`);
const idsOf = async (name: string) =>
  (await simulator.get(path, { name })).body.data.map((template: { id: string }) => template.id);
const left = async () => (await simulator.get(path, { limit: '500' })).body.data.length;

describe('removes', () => {
  test('all languages of a name, and nothing else', async () => {
    await create();
    await create({ language: 'es' });
    await create({ name: 'order_ready_too' });
    const answer = await remove({ name: 'order_ready' });
    expect([answer.status, answer.body]).toEqual([200, { success: true }]);
    expect(await idsOf('order_ready')).toHaveLength(1);
    expect(await left()).toBe(22);
  });

  test('one language by id and name', async () => {
    const [one, two] = [(await create()).body.id, (await create({ language: 'es' })).body.id];
    expect((await remove({ hsm_id: one, name: 'order_ready' })).body).toEqual({ success: true });
    expect(await idsOf('order_ready')).toEqual([two]);
    expect((await simulator.get(one)).body.error).toMatchObject({ code: 100, error_subcode: 33 });
  });

  test.each([
    ['texts', JSON.stringify([orderUpdate, pending])],
    ['numbers', `[${orderUpdate}, ${pending}]`],
    ['one twice', JSON.stringify([orderUpdate, pending, orderUpdate])],
  ])('many by id, as %s', async (_, ids) => {
    expect((await remove({ hsm_ids: ids })).body).toEqual({ success: true });
    expect(await left()).toBe(19);
  });

  test('a template in review, which is then reviewed no more', async () => {
    const { id } = (await create()).body;
    await remove({ hsm_id: id, name: 'order_ready' });
    await wait(60);
    expect(await idsOf('order_ready')).toEqual([]);
  });
});

describe('refuses, and removes nothing', () => {
  test('2388330 and 2388318: one that the platform has generated is neither deleted nor edited', async () => {
    await simulator.control('POST', `templates/${orderUpdate}`, { source: 'AUTO_GENERATED' });
    const queries: readonly Record<string, string>[] = [{ hsm_ids: `["${orderUpdate}"]` }, { name: 'order_update' }];
    for (const query of queries) {
      expectManagementError(await remove(query), 2388330, /[Gg]enerated/);
    }
    expectManagementError(await simulator.post(orderUpdate, { category: 'UTILITY' }), 2388318, /[Gg]enerated/);
    const listed = async (source: string) =>
      (await simulator.get(path, { source, fields: 'id,source', limit: '500' })).body.data;
    expect(await listed('AUTO_GENERATED')).toEqual([{ id: orderUpdate, source: 'AUTO_GENERATED' }]);
    expect(await listed('MANUAL')).toHaveLength(20);
  });

  test.each([
    [{ name: 'old_notice' }],
    [{ name: 'old_notice', hsm_id: disabled }],
    [{ hsm_ids: `["${orderUpdate}","${disabled}"]` }],
  ])('2388039, DISABLED: %o', async (query) => {
    expectManagementError(await remove(query as Record<string, string>), 2388039, /disabled/);
    expect(await left()).toBe(21);
  });

  test.each([
    [{ name: 'no_such' }],
    [{ name: 'no_such', hsm_id: orderUpdate }],
    [{ name: 'order_update', hsm_id: '5' }],
    [{ hsm_ids: `["${orderUpdate}","5"]` }],
  ])('404, not there: %o', async (query) => {
    const { status, body } = await remove(query as Record<string, string>);
    expect([status, body.error.code]).toEqual([404, 100]);
    expect(await left()).toBe(21);
  });

  test('a template of another WABA', async () => {
    expect((await remove({ name: 'order_update', hsm_id: orderUpdate }, secondWaba)).status).toBe(404);
    expect(await left()).toBe(21);
  });

  test.each<[RegExp, Record<string, string>]>([
    [/name is required/, {}],
    [/name is required/, { hsm_id: orderUpdate }],
    [/hsm_ids excludes/, { hsm_ids: `["${orderUpdate}"]`, name: 'order_update' }],
    [/hsm_ids excludes/, { hsm_ids: `["${orderUpdate}"]`, hsm_id: orderUpdate }],
    [/hsm_ids must be an array/, { hsm_ids: orderUpdate }],
    [/hsm_ids must be an array/, { hsm_ids: '[]' }],
    [/hsm_ids must be an array/, { hsm_ids: '["x"]' }],
    [/at most 100/, { hsm_ids: JSON.stringify(Array.from({ length: 101 }, (_, index) => index + 1)) }],
  ])('%s: %o', async (message, query) => {
    expectGraphError(await remove(query), message);
    expect(await left()).toBe(21);
  });
});

describe('the name of an approved one', () => {
  const again = (changes: Readonly<Record<string, unknown>> = {}) =>
    create({ name: 'order_update', category: 'UTILITY', ...changes });

  test('2388023 for 30 days of the simulator, then free', async () => {
    await remove({ name: 'order_update' });
    expectManagementError(await again(), 2388023, /in 5 weeks/);
    await wait(9 * day);
    expectManagementError(await again(), 2388023, /in 3 weeks/);
    await wait(21 * day - 1);
    expectManagementError(await again(), 2388023, /in 1 weeks/);
    await wait(1);
    expect((await again()).status).toBe(200);
  });

  test('other languages and other names are free', async () => {
    await remove({ name: 'order_update' });
    expect((await again({ language: 'es' })).status).toBe(200);
    expect((await again({ name: 'order_update_2' })).status).toBe(200);
  });

  test('the control interface locks nothing', async () => {
    await simulator.control('DELETE', `templates/${orderUpdate}`);
    expect((await again()).status).toBe(200);
  });
});

test('a name that was never approved is free at once', async () => {
  await create();
  await remove({ name: 'order_ready' });
  expect((await create()).status).toBe(200);
  await remove({ name: 'spring_rejected' });
  expect((await create({ name: 'spring_rejected', language: 'es' })).status).toBe(200);
});

import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { templatesDelete } from '../../functions/templates-delete.ts';
import { documentId, templateKey } from '../../lib/templates/model/template-key.ts';
import { templateStore } from '../../lib/templates/model/template-store.ts';
import { type CallOptions, call } from '../support/calls.ts';
import { makeChannel, makeWaba, memoryDirectory } from '../support/directory.ts';
import { failures, type RecordedPlatform, recordedPlatform } from '../support/management.ts';
import { MemoryEvents } from '../support/memory-events.ts';
import { freshTable, localDocumentClient } from '../support/stores.ts';
import { makeTemplate } from '../support/templates.ts';

const supervisor = { userId: 'u-1', clientId: 1001 };
const operator = { userId: 'u-0', clientId: 1, permissions: ['BSP_CN'] };
const waba = makeWaba();
const foreign = makeWaba({ wabaId: '200000000000002', clientIds: [1002] });
const directory = memoryDirectory({
  wabas: [waba, foreign],
  channels: [
    makeChannel(),
    makeChannel({ channelId: 503, did: '5511900000003', clientId: 1002, wabaId: foreign.wabaId }),
  ],
});
const nowMs = 1_800_000_000_000;
const client = localDocumentClient();

let clockMs = nowMs;
let table: string;
let platform: RecordedPlatform;
beforeAll(async () => {
  table = await freshTable('templates');
});
beforeEach(() => {
  platform = recordedPlatform();
  clockMs = nowMs;
});

let count = 0;
async function stored(overrides: Parameters<typeof makeTemplate>[0] = {}, of = waba) {
  count += 1;
  const template = makeTemplate({ name: `template_${count}`, id: `9${count}`, ...overrides });
  const { wabaId, clientIds } = of;
  await templateStore(client, table).refresh({ wabaId, clientIds }, template, nowMs - 1_000);
  const key = templateKey({ wabaId, ...template });
  return { template, key, idFor: (clientId: number) => documentId({ templateKey: key, clientId, sequence: 0 }) };
}

const stateOf = (key: string) => templateStore(client, table).stateOf(key, [1001, 1002]);

function remove(
  id: string,
  options: Partial<CallOptions> & { did?: string } = {},
  caller: typeof supervisor = supervisor,
) {
  const deps = {
    directory,
    templates: templateStore(client, table),
    management: platform.management,
    events: new MemoryEvents(),
    platformTemplates: platform.platformTemplates,
    nowMs: () => clockMs,
  };
  const { did = '5491100000001', ...rest } = options;
  return call(templatesDelete(deps), caller, { path: { did, messageTemplateId: id }, ...rest });
}

test('goes upstream by id and name, and is marked deleted for every client, never erased', async () => {
  const { template, key, idFor } = await stored();
  expect(await remove(idFor(1001))).toMatchObject({ status: 200, body: { success: true } });
  expect(platform.calls).toEqual([['remove', waba.wabaId, template.id, template.name]]);
  const { fact, rows } = await stateOf(key);
  expect(fact).toMatchObject({ deleted: true, template, nameHeldUntilMs: nowMs + 30 * 86_400_000 });
  expect(rows.map(({ clientId, deleted }) => [clientId, deleted])).toEqual(
    expect.arrayContaining([
      [1001, true],
      [1002, true],
    ]),
  );
  expect(rows.every((row) => row.documents.length === 1)).toBe(true);
});

test('the document of another client of the WABA names the template too (D12)', async () => {
  const { key, idFor } = await stored();
  expect(await remove(idFor(1002))).toMatchObject({ status: 200 });
  expect((await stateOf(key)).fact?.deleted).toBe(true);
});

test('the name of a template that was never approved is free at once', async () => {
  const { key, idFor } = await stored({ status: 'REJECTED' });
  await remove(idFor(1001));
  expect((await stateOf(key)).fact).toMatchObject({ deleted: true });
  expect((await stateOf(key)).fact?.nameHeldUntilMs).toBeUndefined();
});

test('DISABLED: 409, and nothing happens', async () => {
  const { template, key, idFor } = await stored({ status: 'DISABLED' });
  platform.found = template;
  expect(await remove(idFor(1001))).toMatchObject({ status: 409, body: { code: 'template_disabled' } });
  expect(platform.calls).toEqual([]);
  expect((await stateOf(key)).fact?.deleted).toBe(false);
});

test('a template deleted before is not there any more', async () => {
  const { idFor } = await stored();
  await remove(idFor(1001));
  expect(await remove(idFor(1001))).toMatchObject({ status: 404, body: { code: 'template_not_found' } });
});

test('a template that the platform no longer has is marked all the same', async () => {
  const { key, idFor } = await stored();
  platform.failure = failures.content;
  expect(await remove(idFor(1001))).toMatchObject({ status: 200 });
  expect((await stateOf(key)).fact?.deleted).toBe(true);
});

test('one that was made anew elsewhere under its name is not hidden, and its name is not held', async () => {
  const { template, key, idFor } = await stored();
  platform.failure = failures.content;
  platform.found = { ...template, id: 'another' };
  expect(await remove(idFor(1001))).toMatchObject({ status: 200 });
  const { fact, rows } = await stateOf(key);
  expect(fact).toMatchObject({ deleted: false, template: { id: 'another' } });
  expect(fact?.nameHeldUntilMs).toBeUndefined();
  expect(rows.map(({ platformId, deleted }) => [platformId, deleted])).toEqual([
    ['another', false],
    ['another', false],
  ]);
});

test('what it read before the deletion gives way to whoever has read since', async () => {
  const { template, key, idFor } = await stored();
  const before = { ...template, id: 'another', status: 'PENDING' };
  platform.found = before;
  platform.removing = async () => {
    clockMs += 1_000;
    const { wabaId, clientIds } = waba;
    await templateStore(client, table).refresh({ wabaId, clientIds }, { ...before, status: 'APPROVED' }, clockMs);
    clockMs += 1_000;
  };
  expect(await remove(idFor(1001))).toMatchObject({ status: 200 });
  expect((await stateOf(key)).fact).toMatchObject({ readAtMs: nowMs + 1_000, template: { status: 'APPROVED' } });
});

test('what it read is stored under the time at which the platform was asked', async () => {
  const { template, key, idFor } = await stored();
  platform.found = { ...template, id: 'another' };
  platform.removing = async () => {
    clockMs += 2_000;
  };
  await remove(idFor(1001));
  expect((await stateOf(key)).fact).toMatchObject({ readAtMs: nowMs, template: { id: 'another' } });
});

test('what is deleted is gone for whoever read before it was', async () => {
  const { template, key, idFor } = await stored();
  platform.found = template;
  platform.removing = async () => {
    clockMs += 2_000;
  };
  await remove(idFor(1001));
  await templateStore(client, table).refresh(
    { wabaId: waba.wabaId, clientIds: waba.clientIds },
    template,
    nowMs + 1_000,
  );
  expect((await stateOf(key)).fact).toMatchObject({ deleted: true, readAtMs: nowMs + 2_000 });
});

describe('the status upstream counts, not the stored one', () => {
  test('approved meanwhile: the name is held', async () => {
    const { template, key, idFor } = await stored({ status: 'PENDING' });
    platform.found = { ...template, status: 'APPROVED' };
    expect(await remove(idFor(1001))).toMatchObject({ status: 200 });
    expect((await stateOf(key)).fact?.nameHeldUntilMs).toBe(nowMs + 30 * 86_400_000);
  });

  test('rejected meanwhile: the name is free at once', async () => {
    const { template, key, idFor } = await stored();
    platform.found = { ...template, status: 'REJECTED' };
    expect(await remove(idFor(1001))).toMatchObject({ status: 200 });
    expect((await stateOf(key)).fact).toMatchObject({ deleted: true });
    expect((await stateOf(key)).fact?.nameHeldUntilMs).toBeUndefined();
  });

  test('disabled meanwhile: 409, and nothing happens', async () => {
    const { template, key, idFor } = await stored();
    platform.found = { ...template, status: 'DISABLED' };
    expect(await remove(idFor(1001))).toMatchObject({ status: 409, body: { code: 'template_disabled' } });
    expect(platform.calls).toEqual([]);
    expect((await stateOf(key)).fact?.deleted).toBe(false);
  });

  test('enabled meanwhile: it is deleted', async () => {
    const { template, key, idFor } = await stored({ status: 'DISABLED' });
    platform.found = { ...template, status: 'PAUSED' };
    expect(await remove(idFor(1001))).toMatchObject({ status: 200 });
    expect((await stateOf(key)).fact?.deleted).toBe(true);
  });

  test('the stored one when the platform does not tell', async () => {
    const { idFor } = await stored({ status: 'DISABLED' });
    platform.readFailure = failures.unreachable;
    expect(await remove(idFor(1001))).toMatchObject({ status: 409 });
  });
});

test('an answer that was lost is told as such', async () => {
  const { idFor } = await stored();
  platform.failure = failures.brokenOff;
  expect(await remove(idFor(1001))).toMatchObject({
    status: 502,
    body: { message: expect.stringContaining('may have done what was asked') },
  });
});

test.each([
  ['unreachable', 502, 'platform_unreachable'],
  ['brokenOff', 502, 'platform_unreachable'],
  ['ours', 502, 'platform_unreachable'],
  ['throttled', 429, 'platform_rate_limited'],
  ['content', 400, 'platform_refused'],
] as const)('platform %s: nothing is marked', async (failure, status, code) => {
  const { template, key, idFor } = await stored();
  platform.failure = failures[failure];
  platform.found = template;
  expect(await remove(idFor(1001))).toMatchObject({ status, body: { code } });
  expect((await stateOf(key)).fact?.deleted).toBe(false);
});

test('who may not', async () => {
  const { idFor } = await stored();
  const elsewhere = await stored({}, foreign);
  const own = idFor(1001);
  const results = await Promise.all([
    remove(own, { query: { client_id: '1002' } }),
    remove(own, { did: '5511900000003' }),
    remove(own, { did: 'nobody' }),
    remove(own, {}, operator),
    remove(elsewhere.idFor(1002)),
    remove(idFor(1003)),
    remove('status'),
    remove(own, { query: { client_id: 'x' } }),
    remove(own.replace(/0$/, '7')),
  ]);
  expect(results.map(({ status, body }) => `${status} ${(body as { code: string }).code}`)).toEqual([
    '403 cross_client_forbidden',
    '403 did_forbidden',
    '403 did_forbidden',
    '403 did_forbidden',
    '404 template_not_found',
    '404 template_not_found',
    '404 template_not_found',
    '400 invalid_client_id',
    '404 template_not_found',
  ]);
  expect(platform.calls).toEqual([]);
  expect(await remove(own, { query: { client_id: '1001' } }, operator)).toMatchObject({ status: 200 });
});

import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { templatesDelete } from '../../functions/templates-delete.ts';
import { documentId, templateKey } from '../../lib/templates/model/template-key.ts';
import { templateStore } from '../../lib/templates/model/template-store.ts';
import { call } from '../support/calls.ts';
import { makeChannel, makeWaba, memoryDirectory } from '../support/directory.ts';
import { failures, type RecordedPlatform, recordedPlatform } from '../support/management.ts';
import { MemoryAudit } from '../support/memory-audit.ts';
import { MemoryEvents } from '../support/memory-events.ts';
import { freshTable, localDocumentClient } from '../support/stores.ts';
import { makeTemplate } from '../support/templates.ts';

const supervisor = { userId: 'u-1', clientId: 1001 };
const waba = makeWaba();
const directory = memoryDirectory({ wabas: [waba], channels: [makeChannel()] });
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
async function stored(overrides: Parameters<typeof makeTemplate>[0] = {}) {
  count += 1;
  const template = makeTemplate({ name: `template_${count}`, id: `9${count}`, ...overrides });
  const { wabaId, clientIds } = waba;
  await templateStore(client, table).refresh({ wabaId, clientIds }, template, nowMs - 1_000);
  const key = templateKey({ wabaId, ...template });
  return { template, key, idFor: (clientId: number) => documentId({ templateKey: key, clientId, sequence: 0 }) };
}

const stateOf = (key: string) => templateStore(client, table).stateOf(key, [1001, 1002]);

let audit = new MemoryAudit();

function remove(id: string) {
  audit = new MemoryAudit();
  const deps = {
    directory,
    templates: templateStore(client, table),
    management: platform.management,
    events: new MemoryEvents(),
    audit,
    platformTemplates: platform.platformTemplates,
    nowMs: () => clockMs,
  };
  return call(templatesDelete(deps), supervisor, { path: { did: '5491100000001', messageTemplateId: id } });
}

test('one that was created again elsewhere under its name is not hidden, and its name is not held', async () => {
  const { template, key, idFor } = await stored();
  platform.failure = failures.content;
  platform.found = { ...template, id: 'another' };
  expect(await remove(idFor(1001))).toMatchObject({ status: 200 });
  const on = { wabaId: waba.wabaId, documentIds: [idFor(1001)] };
  expect(audit.noted).toMatchObject([{ clientId: 1001, act: 'template.deleted', on, outcome: 'done' }]);
  const { fact, rows } = await stateOf(key);
  expect(fact).toMatchObject({ deleted: false, template: { id: 'another' } });
  expect(fact?.nameHeldUntilMs).toBeUndefined();
  expect(rows.map(({ platformId, deleted }) => [platformId, deleted])).toEqual([
    ['another', false],
    ['another', false],
  ]);
});

test('one of another WABA of a client that shares this one is not found: its name may be on this WABA too (D21)', async () => {
  const template = makeTemplate({ name: 'elsewhere', id: '900' });
  const wabaId = '200000000000002';
  await templateStore(client, table).refresh({ wabaId, clientIds: [1002] }, template, nowMs - 1_000);
  const key = templateKey({ wabaId, ...template });
  const reply = await remove(documentId({ templateKey: key, clientId: 1002, sequence: 0 }));
  expect(reply).toMatchObject({ status: 404, body: { code: 'template_not_found' } });
  expect((await stateOf(key)).fact?.deleted).toBe(false);
});

test('what it read before the deletion gives way to a later read', async () => {
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

test('what is deleted is gone for a reader that read before', async () => {
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

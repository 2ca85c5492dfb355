import { describe, expect, test } from 'vitest';
import { MemoryEvents } from '../support/memory-events.ts';
import { meterRequests } from '../support/request-meter.ts';
import { localDocumentClient } from '../support/stores.ts';
import { changedBody, editedAtMs, editedWaba, templateEdits } from '../support/template-edits.ts';

const { world, store, stored, stateOf, edit } = templateEdits();

test('nothing differs: no call, nothing written', async () => {
  const { template, key, id } = await stored();
  const { status, body } = await edit(id, { components: template.components, category: 'utility' });
  expect({ status, body }).toEqual({
    status: 200,
    body: { success: true, changed: false, message: 'nothing differs from the template as it is' },
  });
  expect(world.platform.calls).toEqual([]);
  expect(world.audit.noted).toEqual([]);
  expect((await stateOf(key)).fact).toMatchObject({ template, readAtMs: editedAtMs - 1_000 });
});

test('taken upstream and not stored: the answer says so all the same', async () => {
  const { id } = await stored();
  const templates = {
    ...store(),
    writeUpstream: async () => {
      throw new Error('the table is away');
    },
  };
  expect(await edit(id, { components: [changedBody] }, { templates })).toMatchObject({
    status: 200,
    body: { changed: true },
  });
  const on = { wabaId: editedWaba.wabaId, documentIds: [id] };
  expect(world.audit.noted).toMatchObject([{ clientId: 1001, act: 'template.edited', on, outcome: 'done' }]);
});

test('deleted while the platform took the edit: it stays deleted', async () => {
  const { template, key, id } = await stored();
  const real = store();
  const templates: typeof real = {
    ...real,
    writeUpstream: async (writes, options) => {
      await real.writeUpstream([
        { kind: 'gone', templateKey: key, clientIds: editedWaba.clientIds, readAtMs: editedAtMs },
      ]);
      return real.writeUpstream(writes, options);
    },
  };
  expect(await edit(id, { components: [changedBody] }, { templates })).toMatchObject({ status: 200 });
  const { fact, rows } = await stateOf(key);
  expect(fact).toMatchObject({ deleted: true, template });
  expect(rows.map(({ deleted }) => deleted)).toEqual([true, true]);
});

test('two DynamoDB requests', async () => {
  const { id } = await stored();
  const counting = localDocumentClient();
  const meter = meterRequests(counting);
  await edit(id, { components: [changedBody] }, { templates: store(counting) });
  expect(meter.taken().requests).toBe(2);
});

test('keys that only the platform writes are left out; unknown keys are faults (D6, D20)', async () => {
  const url = { type: 'URL', text: 'Open', url: 'https://a.example.com/x' };
  const shown = [changedBody, { type: 'BUTTONS', buttons: [{ ...url, click_tracking: true }] }];
  const { template, id } = await stored({ components: shown });
  const other = { ...url, url: 'https://a.example.com/y' };
  const sentBack = [changedBody, { type: 'BUTTONS', buttons: [{ ...other, click_tracking: true }] }];
  expect(await edit(id, { components: sentBack })).toMatchObject({ status: 200, body: { changed: true } });
  expect(world.platform.calls).toEqual([
    ['edit', template.id, { components: [changedBody, { type: 'BUTTONS', buttons: [other] }] }],
  ]);
  const typo = [
    { ...changedBody, foo: 1 },
    { type: 'BUTTONS', buttons: [{ ...other, exmaple: ['x'] }] },
  ];
  expect(await edit(id, { components: typo })).toMatchObject({
    status: 400,
    body: { errors: [{ path: 'components[1].buttons[0].exmaple' }, { path: 'components[0].foo' }] },
  });
});

describe('what is true now, and not what was stored (D20)', () => {
  test.each([undefined, 'PENDING_DELETION', 'DELETED'])('the platform has it no more (%s): 404', async (status) => {
    const { template, id } = await stored();
    world.platform.found = status === undefined ? undefined : { ...template, status };
    expect(await edit(id, { components: [changedBody] })).toMatchObject({
      status: 404,
      body: { code: 'template_not_found' },
    });
    expect(world.platform.calls).toEqual([]);
  });

  test('created again elsewhere under its name: the new one is edited, and stored as it is', async () => {
    const { template, key, id } = await stored();
    world.platform.found = { ...template, id: '4711' };
    expect(await edit(id, { components: [changedBody] })).toMatchObject({ body: { changed: true } });
    expect(world.platform.calls).toEqual([['edit', '4711', { components: [changedBody] }]]);
    expect((await stateOf(key)).fact?.template).toMatchObject({ id: '4711', components: [changedBody] });
  });

  test('an approval that was not read yet is told and stored before the edit is', async () => {
    const { template, key, id } = await stored({ status: 'PENDING' });
    world.platform.found = { ...template, status: 'APPROVED' };
    const events = new MemoryEvents();
    const reply = await edit(id, { components: template.components }, { events });
    expect(reply).toMatchObject({ body: { changed: false } });
    expect((await stateOf(key)).rows.map(({ status }) => status)).toEqual(['APPROVED', 'APPROVED']);
    const told = events.sent.map(({ type, clientId }) => `${type} ${clientId}`);
    expect(told.sort()).toEqual(['template.status_changed 1001', 'template.status_changed 1002']);
  });

  test('deleted and created again while the platform took the edit: the old text does not come back', async () => {
    const { template, key, id } = await stored();
    const real = store();
    const { wabaId, clientIds } = editedWaba;
    const recreated = { ...template, id: '4712', components: [{ type: 'BODY', text: 'Anew.' }] };
    const templates: typeof real = {
      ...real,
      writeUpstream: async (writes, options) => {
        await real.writeUpstream([{ kind: 'present', wabaId, clientIds, template: recreated, readAtMs: editedAtMs }]);
        return real.writeUpstream(writes, options);
      },
    };
    expect(await edit(id, { components: [changedBody] }, { templates })).toMatchObject({ status: 200 });
    expect((await stateOf(key)).fact?.template).toEqual(recreated);
  });
});

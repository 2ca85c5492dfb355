import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from 'vitest';
import demo from '../../../../infra/local/demo/provisioning.json' with { type: 'json' };
import { didKey } from '../../../../lib/access/directory-items.ts';
import { directoryStore } from '../../../../lib/access/directory-store.ts';
import { sendableStore } from '../../../../lib/messages/resolve/sendable-store.ts';
import { provisioningFile } from '../../../../lib/provisioning/provisioning-file.ts';
import { templateStore } from '../../../../lib/templates/model/template-store.ts';
import { injectFaults } from '../../../support/dynamo-faults.ts';
import { lagReads } from '../../../support/lagging-reads.ts';
import { loadClients } from '../../../support/scale-loading.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';
import { makeTemplate } from '../../../support/templates.ts';

const client = localDocumentClient();
const names = { directory: '', templates: '' };
const noPause = async () => undefined;
const did = '5491100000001';
const wabaId = '200000000000001';
const template = makeTemplate({ name: 'order', language: 'en_US' });
const asked = { did, clientId: 1001, name: 'order', language: 'en_US' };
const templates = () => templateStore(client, names.templates, noPause);
const directory = () => directoryStore(client, names.directory, noPause);

beforeAll(async () => {
  names.directory = await freshTable('directory');
  names.templates = await freshTable('templates');
  await loadClients({ documentClient: client, tableName: names.directory }, provisioningFile(demo, []));
  const present = { kind: 'present', wabaId, template, clientIds: [1001, 1002], readAtMs: 10 } as const;
  await templates().writeUpstream([present]);
});

/** Makes a store whose eventually consistent reads are as late as they may be, and counts its requests. */
function metered() {
  const late = localDocumentClient();
  lagReads(late);
  const requests = injectFaults(late, () => undefined);
  const tables: string[][] = [];
  late.middlewareStack.add(
    (next) => async (args) => {
      tables.push(Object.keys((args.input as { RequestItems: object }).RequestItems));
      return await next(args);
    },
    { step: 'initialize', name: 'tables' },
  );
  return { find: sendableStore({ client: late, pause: noPause }, names), requests, tables };
}

test('a DID is found as the directory has it, and from the second time on with its template, in one request', async () => {
  const { find, requests, tables } = metered();
  const found = await directory().findDid(did);
  expect(found?.waba.wabaId).toBe(wabaId);
  expect(await find(asked)).toEqual({ did: found });
  const stored = await templates().find({ ...asked, wabaId });
  expect([stored?.fact.template.name, stored?.client?.clientId]).toEqual(['order', 1001]);
  expect(await find(asked)).toEqual({ did: found, template: stored });
  expect([...requests]).toEqual([['BatchGetItemCommand', 2]]);
  expect(tables).toEqual([[names.directory], [names.directory, names.templates]]);
  const { client: _, ...factAlone } = stored ?? {};
  expect(await find({ ...asked, clientId: 1003 })).toEqual({ did: found, template: factAlone });
  expect(await find({ ...asked, name: 'none' })).toEqual({ did: found });
});

test('a DID that has moved to another WABA brings no template of the one that it has left', async () => {
  const { find } = metered();
  const found = await directory().findDid(did);
  const moved = { ...found, waba: { ...found?.waba, wabaId: '200000000000009' } };
  const put = (item: object) =>
    client.send(new PutCommand({ TableName: names.directory, Item: { ...didKey(did), ...item } }));
  await find(asked);
  await put(moved);
  expect(await find(asked)).toEqual({ did: moved });
  await put({ ...found });
  expect(await find(asked)).toEqual({ did: found });
  expect(await find(asked)).toHaveProperty('template.fact.template.name', 'order');
});

test.each(['', '9'.repeat(2_500), '5500000000000'])('%j is no DID, however often', async (unknown) => {
  const { find } = metered();
  for (const _ of [1, 2]) expect(await find({ ...asked, did: unknown })).toStrictEqual({ did: undefined });
});

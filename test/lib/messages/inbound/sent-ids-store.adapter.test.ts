import { QueryCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { sentIdKey } from '../../../../lib/messages/dispatch/items.ts';
import { sentIdReader, sentIdWriter } from '../../../../lib/messages/inbound/sent-ids-store.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const tableName = await freshTable('messages');
const table = { client: localDocumentClient(), name: tableName, pause: async () => undefined };
const keep = sentIdWriter(table);
const find = sentIdReader(table);
const number = { wabaId: '200000000000001', phoneNumberId: '300000000000001' };

test('each message of a callFacts is found by what the platform calls it, also after it was noted twice', async () => {
  const sent = Array.from({ length: 60 }, (_, index) => {
    return { ...number, dispatchId: 'J', index, platformMessageId: `wamid.${index}` };
  });
  await keep(sent, 1_000);
  await keep([...sent.slice(0, 3), ...sent.slice(0, 3)], 1_000);
  for (const { dispatchId, index, ...message } of sent) expect(await find(message)).toEqual({ dispatchId, index });
});

test('what is told of another WABA, of another number, or of a message of others finds nothing', async () => {
  const message = { ...number, platformMessageId: 'wamid.own' };
  await keep([{ ...message, dispatchId: 'J', index: 0 }], 1_000);
  expect(await find(message)).toEqual({ dispatchId: 'J', index: 0 });
  expect(await find({ ...message, wabaId: '200000000000002' })).toBeUndefined();
  expect(await find({ ...message, phoneNumberId: '300000000000002' })).toBeUndefined();
  expect(await find({ ...message, platformMessageId: 'wamid.ow' })).toBeUndefined();
});

test('an item goes with its dispatch, and names no person: the platform codes the number into its id (D60)', async () => {
  const message = { ...number, platformMessageId: `wamid.${Buffer.from('5491155550001').toString('base64')}` };
  await keep([{ ...message, dispatchId: 'J', index: 7 }], 1_802_592_001);
  const query = new QueryCommand({
    TableName: tableName,
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': sentIdKey(message).pk },
  });
  const { Items } = await table.client.send(query);
  const expiresAtSeconds = 1_802_592_001;
  expect(Items).toEqual([{ ...sentIdKey(message), dispatchId: 'J', index: 7, expiresAtSeconds }]);
  const all = await table.client.send(new ScanCommand({ TableName: tableName }));
  expect(JSON.stringify(all.Items)).not.toMatch(/wamid|5491155550001/);
});

import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { queryPartition, transactWrite } from '../../../lib/aws/dynamodb-batch.ts';
import { injectFaults } from '../../support/dynamo-faults.ts';
import { faultOf } from '../../support/model/race-faults.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';

test('a partition of several megabytes is read to its end', async () => {
  const documentClient = localDocumentClient();
  const tableName = await freshTable('templates');
  const filling = 'x'.repeat(300_000);
  const keys = Array.from({ length: 8 }, (_, index) => ({ pk: 'C#1#0', sk: `key ${index}` }));
  await Promise.all(
    [...keys, { pk: 'C#1#1', sk: 'of another partition' }].map((key) =>
      documentClient.send(new PutCommand({ TableName: tableName, Item: { ...key, filling } })),
    ),
  );
  const attempts = injectFaults(documentClient, () => undefined);
  const items = await queryPartition({ documentClient, tableName, pause: async () => undefined }, 'C#1#0');
  expect(items.map((item) => item['sk'])).toEqual(keys.map(({ sk }) => sk));
  expect(attempts.get('QueryCommand')).toBeGreaterThan(1);
});

test('a transaction that is repeated after its reply was lost is its own, also when the repetition met a conflict', async () => {
  const documentClient = localDocumentClient();
  const tableName = await freshTable('templates');
  const attempts = injectFaults(documentClient, (operation, attempt) =>
    faultOf(['reply lost', 'conflict'], operation, attempt),
  );
  const put = {
    TableName: tableName,
    Item: { pk: 'C#1#0', sk: 'key' },
    ConditionExpression: 'attribute_not_exists(pk)',
  };
  const refused = await transactWrite({ documentClient, tableName, pause: async () => undefined }, [{ Put: put }]);
  expect(refused).toBeUndefined();
  expect(attempts.get('TransactWriteItemsCommand')).toBe(3);
});

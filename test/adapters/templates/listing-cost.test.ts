import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from 'vitest';
import { listTemplates } from '../../../lib/templates/listing-page.ts';
import { encodeDocuments } from '../../../lib/templates/row.ts';
import { type TemplateStore, templateStore } from '../../../lib/templates/store.ts';
import { rowKey } from '../../../lib/templates/upstream-writes.ts';
import { makeChannel, makeWaba, memoryDirectory } from '../../support/directory.ts';
import { countReadUnits } from '../../support/dynamo-faults.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';
import { makeTemplate } from '../../support/templates.ts';

const clientId = 1001;
const waba = makeWaba({ clientIds: [clientId] });
const total = 6_000;
const directory = memoryDirectory({
  wabas: [waba],
  channels: [makeChannel()],
  campaigns: [{ campaignId: 10, clientId, name: 'Onboarding' }],
});

/** Text of the given length that does not compress better than prose does. */
function prose(length: number, seed: number): string {
  let state = seed + 1;
  let text = '';
  while (text.length < length) {
    state = (state * 48_271) % 2_147_483_647;
    text += `${(state % 3_000).toString(27)} `;
  }
  return text.slice(0, length);
}

let table: string;
beforeAll(async () => {
  table = await freshTable('templates');
  const store = templateStore(localDocumentClient(), table);
  const writes = Array.from({ length: total }, (_, index) => ({
    kind: 'present' as const,
    wabaId: waba.wabaId,
    template: makeTemplate({
      id: String(1_627_019_861_000_000 + index),
      name: `a_name_of_letters_${String(index).padStart(4, '0')}`.slice(-20).padStart(20, 'x'),
      status: index % 2 === 0 ? 'APPROVED' : 'PENDING',
      quality_score: { score: 'GREEN' },
      components: [{ type: 'BODY', text: prose(5_000, index) }],
    }),
    clientIds: [clientId],
    readAtMs: 1,
  }));
  await store.writeUpstream(writes);
  await assignAll(store);
}, 240_000);

/** Gives every row one pair, as it is in a client's daily life. */
async function assignAll(store: TemplateStore): Promise<void> {
  const client = localDocumentClient();
  const rows = await store.rowsOf(clientId);
  const documents = encodeDocuments([{ sequence: 0, pair: { channelId: 501, campaignId: 10 } }]);
  for (let start = 0; start < rows.length; start += 100) {
    await client.send(
      new TransactWriteCommand({
        TransactItems: rows.slice(start, start + 100).map((row) => ({
          Update: {
            TableName: table,
            Key: rowKey(clientId, row.templateKey),
            UpdateExpression: 'SET d = :documents',
            ExpressionAttributeValues: { ':documents': documents },
          },
        })),
      }),
    );
  }
}

// Measured on DynamoDB Local: 160 units for the rows, half a unit more for each body of the page.
test.each([
  ['first page', {}, { page: 1, size: 20 }, total, 20],
  ['last page of 100', {}, { page: 60, size: 100 }, total, 100],
  ['filtered', { state: ['PENDING'], search: 'LETTERS' }, { page: 3, size: 100 }, total / 2, 100],
  ['without bodies', { fields: ['id'] }, { page: 1, size: 100 }, total, 100],
])('6,000 templates of 5 KB, %s: at most 250 read units in 5 requests (R31)', async (_, query, page, found, shown) => {
  const client = localDocumentClient();
  const cost = countReadUnits(client);
  const templates = templateStore(client, table);
  const listing = await listTemplates({ directory, templates }, { clientId, scope: undefined }, query, page);
  expect(listing.total).toBe(found);
  expect(listing.data).toHaveLength(shown);
  expect(cost.units).toBeGreaterThan(100);
  expect(cost.units).toBeLessThanOrEqual(250);
  expect(cost.requests).toBeLessThanOrEqual(5);
});
